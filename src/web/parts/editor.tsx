import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { request } from '../core/api.ts'
import { useDraft } from '../core/draft.ts'
import type { FormState } from '../core/form.ts'
import { remove } from '../core/removal.ts'
import { go, href } from '../core/router.ts'
import { t } from '../core/alltexts.ts'
import { say } from '../core/toasts.ts'
import { Button, Writable } from './button.tsx'
import { Problem } from './field.tsx'
import { HistoryLink } from './historylink.tsx'
import { Head } from './section.tsx'

interface EditorProps {
  readonly title: string
  readonly text: ComponentChildren
  readonly form: FormState
  /** the names of its fields in the API: a problem with another one is shown at the top */
  readonly fields: readonly string[]
  /** whether something is not stored yet */
  readonly changed: boolean
  readonly onSave: () => Promise<unknown>
  readonly onDelete?: (() => void) | undefined
  /** whose history there is: none while it is being made */
  readonly of?: { readonly kind: string; readonly id: number } | undefined
  readonly preview: ComponentChildren
  readonly children: ComponentChildren
}

interface Stored<D> {
  /** as the API names it: `splash` */
  readonly kind: string
  /** of the resource that is changed; undefined: a new one is made */
  readonly id: number | undefined
  readonly initial: D
  readonly bodyOf: (draft: D) => object
  /** the list of these resources; the screen of each is below it */
  readonly screens: string
  /** Returns what is stored, where that is not just what was sent. */
  readonly read?: (id: number) => Promise<D>
}

/** Holds what is entered in an editor beside what is stored, and stores and deletes it. */
export const useEditor = <D extends { readonly name: string }>(options: Stored<D>) => {
  const { kind, id, initial, bodyOf, screens, read } = options
  const form = useDraft(initial)
  const [stored, setStored] = useState(initial)
  const { draft, set } = form
  const onSave = async () => {
    const body = bodyOf(draft)
    if (id === undefined) {
      const made = await request<{ readonly id: number }>('POST', `/api/${kind}/add`, body)
      setStored(draft)
      go(href(`${screens}/${made.id}`), { replace: true })
    } else {
      await request('PUT', `/api/${kind}/${id}/update`, body)
      const now = read ? await read(id) : draft
      if (read) set(now)
      setStored(now)
    }
    say(t().resources.stored)
  }
  const leave = () => {
    go(href(screens))
    return () => {}
  }
  const existing = id !== undefined && {
    of: { kind, id },
    onDelete: () => void remove(`/api/${kind}`, { id, name: stored.name }, leave),
  }
  const changed = JSON.stringify(draft) !== JSON.stringify(stored)
  return { ...form, stored, editor: { form, changed, onSave, ...existing } }
}

/** Asks before the window is closed while something is not stored. */
const useGuard = (changed: boolean) =>
  useEffect(() => {
    if (!changed) return undefined
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [changed])

/** A form beside what becomes of it. A phone shows one of the two. */
export const Editor = (props: EditorProps) => {
  const { title, text, form, fields, changed, onSave, onDelete, of, preview, children } = props
  const [shown, setShown] = useState<'form' | 'preview'>('form')
  const texts = t().editors
  useGuard(changed)
  const { error, busy, run } = form
  return (
    <>
      <Head title={title} text={text}>
        <span class="chips">
          {changed && <span class="quiet small">{texts.changed}</span>}
          {of && <HistoryLink of={of.kind} id={of.id} />}
          {onDelete && (
            <Button kind="danger" onClick={onDelete}>
              {t().resources.delete}
            </Button>
          )}
          <Button kind="primary" type="submit" form="editor" busy={busy}>
            {t().actions.save}
          </Button>
        </span>
      </Head>
      {error && !(error.field !== undefined && fields.includes(error.field)) && <Problem>{error.message}</Problem>}
      <div class="choice editor-switch" role="group" aria-label={texts.view}>
        {(['form', 'preview'] as const).map((one) => (
          <button key={one} type="button" aria-pressed={shown === one} onClick={() => setShown(one)}>
            {one === 'form' ? texts.form : texts.preview}
          </button>
        ))}
      </div>
      <div class="editor" data-shown={shown}>
        <form
          class="stack"
          id="editor"
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            setShown('form')
            void run(onSave)
          }}
        >
          <Writable>{children}</Writable>
          {/* a phone has come a long way from the one above */}
          <span class="on-phone">
            <Button kind="primary" type="submit" busy={busy}>
              {t().actions.save}
            </Button>
          </span>
        </form>
        <div class="editor-preview">{preview}</div>
      </div>
    </>
  )
}
