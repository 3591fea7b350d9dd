import { useState } from 'preact/hooks'
import type { FoundLink } from '../../../http/links/contract/link.ts'
import { get } from '../../core/api.ts'
import { changeLinks } from '../../core/bulk.ts'
import { at } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { counted } from '../../core/texts.ts'
import { attempt, sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'

/** Adds a tag to links, which keep those that they have. */
const addTag = async (ids: readonly number[], tag: string): Promise<void> => {
  const links = await Promise.all(ids.map((id) => get<FoundLink>(`/api/url/${id}`)))
  const added = links.filter(({ details }) => !details.tags.includes(tag))
  await changeLinks(
    'update',
    added.map(({ details: { id, tags } }) => ({ id, tags: [...tags, tag] })),
  )
}

interface BulkBarProps {
  readonly ids: readonly number[]
  /** Shows the list as if these were gone. */
  readonly onHide: (ids: readonly number[]) => void
  readonly onShow: (ids: readonly number[]) => void
  readonly onClear: () => void
}

const TagDialog = ({
  onClose,
  onTag,
}: {
  readonly onClose: () => void
  readonly onTag: (tag: string) => Promise<void>
}) => {
  const [tag, setTag] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    void onTag(tag.trim().toLowerCase()).finally(onClose)
  }
  return (
    <Dialog title={t().links.addTag} onClose={onClose}>
      <form onSubmit={submit}>
        <div class="body">
          <TextField label={t().links.tag} value={tag} onValue={setTag} required autofocus max={50} />
        </div>
        <footer>
          <Button onClick={onClose}>{t().actions.cancel}</Button>
          <Button kind="primary" type="submit" busy={busy}>
            {t().links.addTag}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

/** What can be done with all links that are selected. */
export const BulkBar = ({ ids, onHide, onShow, onClear }: BulkBarProps) => {
  const [asking, setAsking] = useState<'delete' | 'tag' | undefined>(undefined)
  const texts = t().links
  const what = counted(texts.count, ids.length)
  const archived = at.value.query.get('archived') === 'true'
  /** Links leave the list at once, and come back when they could not be changed. */
  const leave = (done: string, work: () => Promise<void>, undo?: () => Promise<void>) => {
    const gone = [...ids]
    onClear()
    return attempt({
      apply: () => {
        onHide(gone)
        return () => onShow(gone)
      },
      send: work,
      done,
      what,
      ...(undo && {
        undo: async () => {
          await undo()
          onShow(gone)
        },
      }),
    })
  }
  const setArchived = (to: boolean) => () =>
    changeLinks(
      'update',
      ids.map((id) => ({ id, archived: to })),
    )
  const archive = () =>
    leave(
      counted(archived ? texts.restored : texts.archived, ids.length),
      setArchived(!archived),
      setArchived(archived),
    )
  const remove = () =>
    leave(counted(texts.deleted, ids.length), () =>
      changeLinks(
        'delete',
        ids.map((id) => ({ id })),
      ),
    )
  return (
    <>
      <div class="bulk" role="toolbar" aria-label={what}>
        <strong>{counted(texts.selected, ids.length)}</strong>
        <Button writes onClick={() => setAsking('tag')}>
          {texts.addTag}
        </Button>
        <Button writes onClick={() => void archive()}>
          {archived ? texts.unarchive : texts.archive}
        </Button>
        <Button writes onClick={() => setAsking('delete')}>
          {texts.delete}
        </Button>
        <button class="button end" type="button" onClick={onClear}>
          {texts.clearSelection} <kbd aria-hidden="true">Esc</kbd>
        </button>
      </div>
      {asking === 'tag' && (
        <TagDialog
          onClose={() => setAsking(undefined)}
          onTag={async (tag) => {
            await addTag(ids, tag).then(onClear, sayProblem)
          }}
        />
      )}
      {asking === 'delete' && (
        <Confirm
          title={counted(texts.deleteTitle, ids.length)}
          text={texts.deleteText}
          action={texts.delete}
          onClose={() => setAsking(undefined)}
          onConfirm={remove}
        />
      )}
    </>
  )
}
