import { useState } from 'preact/hooks'
import { withoutScheme } from '../../../core/address.ts'
import { request } from '../../../core/api.ts'
import type { List } from '../../../core/answers.ts'
import { useLoad } from '../../../core/load.ts'
import { at, href, type ScreenProps } from '../../../core/router.ts'
import { t } from '../../../core/alltexts.ts'
import { fill } from '../../../core/texts.ts'
import { dateOf } from '../../../core/time.ts'
import { attempt } from '../../../core/toasts.ts'
import { IconButton } from '../../../parts/button.tsx'
import { Listing, listQuery, Named } from '../../../parts/listing.tsx'
import { Section } from '../../../parts/section.tsx'
import { Swatch } from '../../../parts/swatch.tsx'
import { type Channel, ChannelForm } from './list.tsx'
import { Figures } from '../group/figures.tsx'
import { GroupScreen } from '../group/group.tsx'

type Kind = 'links' | 'bio' | 'qr'
interface Item {
  readonly type: Kind
  readonly id: number
  readonly title: string
  readonly link: string
  readonly date: string
}
type Answer = List<'items', Item> & {
  readonly details: Channel
  readonly totals: { readonly links: number; readonly clicks: number; readonly uniqueClicks: number }
}

const keyOf = ({ type, id }: Pick<Item, 'type' | 'id'>) => `${type}/${id}`
const placeOf = ({ type, id }: Item) => href(`/${type}/${id}`)

/** What is in a channel: each leaves it at once, and is put back by Undo. */
const Items = ({
  id,
  answer,
  reload,
}: {
  readonly id: number
  readonly answer: Answer
  readonly reload: () => void
}) => {
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set())
  const { channels: texts, resources } = t()
  const back = (key: string) => setGone((before) => new Set([...before].filter((one) => one !== key)))
  const takeOut = (item: Item) => {
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
        { name: texts.added, kind: 'wide', cell: ({ date }) => dateOf(new Date(`${date}T00:00:00Z`)) },
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
  const loaded = useLoad<Answer>(`/api/channel/${id}?${listQuery().toString()}`)
  const { channels: texts } = t()
  return (
    <GroupScreen<Channel, Answer>
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
