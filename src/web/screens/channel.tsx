import { useState } from 'preact/hooks'
import { request } from '../core/api.ts'
import type { List } from '../core/answers.ts'
import { useLoad } from '../core/load.ts'
import { remove } from '../core/removal.ts'
import { at, go, href } from '../core/router.ts'
import { t } from '../core/alltexts.ts'
import { fill } from '../core/texts.ts'
import { dateOf } from '../core/time.ts'
import { attempt } from '../core/toasts.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { HistoryLink } from '../parts/historylink.tsx'
import { Listing, listQuery, Named } from '../parts/listing.tsx'
import { Head, Nowhere, Section } from '../parts/section.tsx'
import { Failed, Skeleton } from '../parts/states.tsx'
import { Swatch } from '../parts/swatch.tsx'
import type { ScreenProps } from '../routes.ts'
import { type Channel, ChannelForm } from './channels.tsx'
import { AddLinks } from './resources/addlinks.tsx'
import { Figures } from './resources/figures.tsx'

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
          cell: (item) => <Named name={item.title} to={placeOf(item)} note={item.link.replace(/^https?:\/\//, '')} />,
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
  const [open, setOpen] = useState<'edit' | 'add' | undefined>(undefined)
  const channel = useLoad<Answer>(`/api/channel/${id}?${listQuery().toString()}`)
  const { channels: texts, resources } = t()
  if (channel.error?.status === 404)
    return <Nowhere title={texts.notFound} text={t().link.notFoundText} href={href('/channels')} name={texts.title} />
  if (!channel.data)
    return channel.error ? (
      <Failed error={channel.error} reload={channel.reload} />
    ) : (
      <Skeleton rows={10} label={texts.one} />
    )
  const { details, totals } = channel.data
  return (
    <>
      <Head
        title={details.name}
        text={
          <span class="with-swatch">
            <Swatch color={details.color} starred={details.starred} />
            <span dir="auto">{details.description || texts.one}</span>
          </span>
        }
      >
        <span class="chips">
          <Button icon="plus" onClick={() => setOpen('add')}>
            {resources.addLinks}
          </Button>
          <HistoryLink of="channel" id={id} />
          <Button icon="edit" onClick={() => setOpen('edit')}>
            {resources.edit}
          </Button>
          <Button
            kind="danger"
            onClick={() =>
              void remove('/api/channel', details, () => {
                go(href('/channels'))
                return () => {}
              })
            }
          >
            {resources.delete}
          </Button>
        </span>
      </Head>
      <div class="stack">
        {(totals.links > 0 || channel.data.data.result > 0 || at.value.query.has('q')) && (
          <Figures by="channel" id={id} sums={totals} />
        )}
        <Section title={texts.items}>
          <Items id={id} answer={channel.data} reload={channel.reload} />
        </Section>
      </div>
      {open === 'edit' && <ChannelForm channel={details} onClose={() => setOpen(undefined)} />}
      {open === 'add' && <AddLinks to={{ channel: id }} name={details.name} onClose={() => setOpen(undefined)} />}
    </>
  )
}
