import { useState } from 'preact/hooks'
import { withoutScheme } from '../../../core/address.ts'
import type { FoundLink, LinkWritten } from '../../../../http/links/contract/link.ts'
import { ApiError, request } from '../../../core/api.ts'
import { useLoad } from '../../../core/load.ts'
import { at, go, href } from '../../../core/router.ts'
import { service } from '../../../core/session.ts'
import { problemOf } from '../../../core/form.ts'
import { t } from '../../../core/alltexts.ts'
import { counted, fill } from '../../../core/texts.ts'
import { say } from '../../../core/toasts.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Problem, TextField } from '../../../parts/field.tsx'
import { Failed, Skeleton } from '../../../parts/states.tsx'
import { AliasField } from './alias.tsx'
import { blank, bodyOf, type Draft, draftOf } from './draft.ts'
import type { FormProps } from './form.tsx'
import { OrganizeForm, PasswordForm, PreviewForm, ScheduleForm, SplitForm } from './more.tsx'
import { RedirectForm } from './redirect.tsx'
import { TargetingForm } from './targeting.tsx'

interface FormState extends FormProps {
  readonly id: number | undefined
  readonly before: Draft
  readonly onClose: () => void
}

/** Stores a form. A new link is then shown, with its QR code. */
const store = async ({ id, draft, before, onClose }: Pick<FormState, 'id' | 'draft' | 'before' | 'onClose'>) => {
  const body = bodyOf(draft, before)
  const { shorturl, id: made } =
    id === undefined
      ? await request<LinkWritten>('POST', '/api/url/add', body)
      : await request<LinkWritten>('PUT', `/api/url/${id}/update`, body)
  const name = withoutScheme(shorturl)
  say(fill(id === undefined ? t().editor.created : t().editor.saved, { name }))
  if (id === undefined) go(href(`/links/${made}`, { made: '1' }), { replace: true })
  else onClose()
}

const Form = ({ id, initial, hasPassword, onClose }: InitialProps) => {
  const [draft, setDraft] = useState(initial)
  const [error, setError] = useState<ApiError | undefined>(undefined)
  const [busy, setBusy] = useState(false)
  const texts = t().editor
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))
  const props: FormProps = { draft, set, error, hasPassword }
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await store({ id, draft, before: initial, onClose })
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem
      setError(problem)
      setBusy(false)
    }
  }
  return (
    <>
      <form class="body" id="link-form" noValidate onSubmit={(event) => void submit(event)}>
        <TextField
          label={texts.url}
          big
          autofocus
          placeholder="https://"
          value={draft.url}
          onValue={(url) => set({ url })}
          hint={texts.urlHint}
          problem={problemOf(error, 'url')}
        />
        <AliasField {...props} own={id === undefined ? undefined : initial.custom} />
        <TargetingForm {...props} />
        <SplitForm {...props} />
        <ScheduleForm {...props} />
        <OrganizeForm {...props} />
        <PasswordForm {...props} />
        <PreviewForm {...props} />
        <RedirectForm {...props} />
      </form>
      <footer>
        {error && <Problem>{error.field === undefined ? error.message : counted(texts.problems, 1)}</Problem>}
        <span class="end">
          <Button onClick={onClose}>{t().actions.cancel}</Button>
          <Button kind="primary" type="submit" form="link-form" busy={busy}>
            {id === undefined ? texts.create : texts.save}
          </Button>
        </span>
      </footer>
    </>
  )
}
interface InitialProps {
  readonly id: number | undefined
  readonly initial: Draft
  readonly hasPassword: boolean
  readonly onClose: () => void
}

const Existing = ({ id, onClose }: { readonly id: number; readonly onClose: () => void }) => {
  const link = useLoad<FoundLink>(`/api/url/${id}`)
  if (link.data) {
    const { details } = link.data
    const initial = draftOf(details, service.baseUrl)
    return <Form id={id} initial={initial} hasPassword={details.password} onClose={onClose} />
  }
  return (
    <div class="body">
      {link.error ? <Failed error={link.error} reload={link.reload} /> : <Skeleton rows={8} label={t().editor.edit} />}
    </div>
  )
}

/** Returns the form of a new link, for the address that led here. */
const asked = (): Draft => {
  const { query } = at.value
  return { ...blank, custom: query.get('alias') ?? '', domain: query.get('on') ?? '' }
}

/** The form of a link, at the side of the screen: its destination first, and the rest folded. */
export const LinkSheet = ({ id, onClose }: { readonly id: number | undefined; readonly onClose: () => void }) => (
  <Dialog title={id === undefined ? t().editor.create : t().editor.edit} as="sheet" onClose={onClose}>
    {id === undefined ? (
      <Form id={undefined} initial={asked()} hasPassword={false} onClose={onClose} />
    ) : (
      <Existing id={id} onClose={onClose} />
    )}
  </Dialog>
)
