import { useState } from 'preact/hooks'
import { withoutScheme } from '../../../core/address.ts'
import { request } from '../../../core/api.ts'
import type { ChannelDetails, ChannelItem, FoundChannel } from '../../../../http/links/contract/channel.ts'
import { useLoad } from '../../../core/load.ts'
import { at, href, type ScreenProps } from '../../../core/router.ts'
import { t } from '../../../core/alltexts.ts'
import { fill } from '../../../core/texts.ts'
import { utcDay, zone } from '../../../core/time.ts'
import { attempt } from '../../../core/toasts.ts'
import { IconButton } from '../../../parts/button.tsx'
import { Listing, listQuery, Named } from '../../../parts/listing.tsx'
import { Section } from '../../../parts/section.tsx'
import { Swatch } from '../../../parts/swatch.tsx'
import { ChannelForm } from './list.tsx'
import { Figures } from '../group/figures.tsx'
import { GroupScreen } from '../group/group.tsx'

const keyOf = ({ type, id }: Pick<ChannelItem, 'type' | 'id'>) => `${type}/${id}`
const placeOf = ({ type, id }: ChannelItem) => href(`/${type}/${id}`)

/** What is in a channel: each leaves it at once, and is put back by Undo. */
const Items = ({
  id,
  answer,
  reload,
}: {
  readonly id: number
  readonly answer: FoundChannel
  readonly reload: () => void
}) => {
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set())
  const { channels: texts, resources } = t()
  const back = (key: string) => setGone((before) => new Set([...before].filter((one) => one !== key)))
  const takeOut = (item: ChannelItem) => {
    const key = keyOf(item)
    const path = `/api/channel/${id}/assign/${key}`
    return attempt({
      apply: () => {
        setGone((before) => new Set([...before, key]))
        return () => back(key)
      },
      send: () => request('DELETE', path),
      done: fill(resources.takenOut, { name: item.title }),
      what: item.title,
      undo: async () => {
        await request('POST', path)
        back(key)
      },
    })
  }
  return (
    <Listing
      title={texts.items}
      list={{ data: answer, error: undefined, loading: false, reload }}
      rows={answer.data.items.filter((item) => !gone.has(keyOf(item)))}
      keyOf={keyOf}
      searchFor={texts.searchItems}
      none={{ title: texts.noItems, text: texts.noItemsText }}
      columns={[
        {
          name: texts.item,
          cell: (item) => <Named name={item.title} to={placeOf(item)} note={withoutScheme(item.link)} />,
        },
        { name: texts.kind, kind: 'wide', cell: ({ type }) => texts.kinds[type] },
        { name: texts.added, kind: 'wide', cell: ({ date }) => utcDay(new Date(date)) },
      ]}
      tools={(item) => (
        <IconButton
          icon="close"
          writes
          label={fill(resources.takeOutNamed, { name: item.title })}
          onClick={() => void takeOut(item)}
        />
      )}
    />
  )
}

/** One channel: what is in it, and what became of its links. */
export const ChannelScreen = ({ params }: ScreenProps) => {
  const id = Number(params['id'])
  const loaded = useLoad<FoundChannel>(`/api/channel/${id}?${listQuery({ tz: zone.value }).toString()}`)
  const { channels: texts } = t()
  return (
    <GroupScreen<ChannelDetails, FoundChannel>
      of="channel"
      id={id}
      loaded={loaded}
      texts={texts}
      text={({ color, starred, description }) => (
        <span class="with-swatch">
          <Swatch color={color} starred={starred} />
          <span dir="auto">{description || texts.one}</span>
        </span>
      )}
      form={(channel, onClose) => <ChannelForm channel={channel} onClose={onClose} />}
    >
      {(answer) => (
        <div class="stack">
          {(answer.totals.links > 0 || answer.data.result > 0 || at.value.query.has('q')) && (
            <Figures by="channel" id={id} sums={answer.totals} loaded={loaded} />
          )}
          <Section title={texts.items}>
            <Items id={id} answer={answer} reload={loaded.reload} />
          </Section>
        </div>
      )}
    </GroupScreen>
  )
}
