import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { t } from '../../../core/alltexts.ts'
import type { Loaded } from '../../../core/load.ts'
import { remove } from '../../../core/removal.ts'
import { go, href } from '../../../core/router.ts'
import { Button } from '../../../parts/button.tsx'
import { HistoryLink } from '../../../parts/historylink.tsx'
import { Head, NotFound } from '../../../parts/section.tsx'
import { Failed, Skeleton } from '../../../parts/states.tsx'
import { AddLinks } from './addlinks.tsx'

interface Group {
  readonly id: number
  readonly name: string
}

interface GroupScreenProps<D extends Group, A extends { readonly details: D }> {
  readonly of: 'campaign' | 'channel'
  readonly id: number
  readonly loaded: Loaded<A>
  readonly texts: { readonly title: string; readonly one: string; readonly notFound: string }
  /** Returns the content below the name. */
  readonly text: (details: D) => JSX.Element
  /** Returns the dialog that changes the group. */
  readonly form: (details: D, onClose: () => void) => JSX.Element
  readonly children: (answer: A) => ComponentChildren
}

/** A campaign or a channel: what can be done with it, and below that what belongs to it. */
export const GroupScreen = <D extends Group, A extends { readonly details: D }>({
  of,
  id,
  loaded: { data: answer, error, reload },
  texts,
  text,
  form,
  children,
}: GroupScreenProps<D, A>) => {
  const [open, setOpen] = useState<'edit' | 'add' | undefined>(undefined)
  const { link, resources } = t()
  const all = href(`/${of}s`)
  const close = () => setOpen(undefined)
  if (error?.status === 404)
    return <NotFound title={texts.notFound} text={link.notFoundText} href={all} name={texts.title} />
  if (!answer) return error ? <Failed error={error} reload={reload} /> : <Skeleton rows={10} label={texts.one} />
  const { details } = answer
  const onDelete = () =>
    remove(`/api/${of}`, details, () => {
      go(all)
      return () => {}
    })
  return (
    <>
      <Head title={details.name} text={text(details)}>
        <span class="chips">
          <Button icon="plus" onClick={() => setOpen('add')}>
            {resources.addLinks}
          </Button>
          <HistoryLink of={of} id={id} />
          <Button icon="edit" onClick={() => setOpen('edit')}>
            {resources.edit}
          </Button>
          <Button kind="danger" onClick={() => void onDelete()}>
            {resources.delete}
          </Button>
        </span>
      </Head>
      {children(answer)}
      {open === 'edit' && form(details, close)}
      {open === 'add' && <AddLinks to={{ field: of, id }} name={details.name} onClose={close} />}
    </>
  )
}
