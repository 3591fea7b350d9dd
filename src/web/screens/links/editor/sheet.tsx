import { useState } from 'preact/hooks'
import { withoutScheme } from '../../../core/address.ts'
import type { FoundLink, LinkDetails, LinkWritten } from '../../../../http/links/contract/link.ts'
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
import { blank, bodyOf, copyOf, type Draft, draftOf } from './draft.ts'
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

/** Says what a copy has by itself. */
const CopyHint = ({ shorturl, max_clicks, password }: LinkDetails) => {
  const texts = t().editor
  const name = withoutScheme(shorturl)
  return (
    <p class="hint">
      {fill(texts.copy, { name })} {max_clicks !== null && texts.twice}{' '}
      {password && fill(texts.passwordNotCopied, { name })}
    </p>
  )
}

/** Refuses a copy without a password of a link that has one. */
const requirePassword = (draft: Draft, like: LinkDetails | undefined) => {
  if (!like?.password || draft.password !== '') return
  const message = fill(t().editor.passwordNotCopied, { name: withoutScheme(like.shorturl) })
  throw new ApiError(400, { field: 'password', words: message, message })
}

const Form = ({ id, initial, like, hasPassword, onClose }: InitialProps) => {
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
      requirePassword(draft, like)
      await store({ id, draft, before: id === undefined ? blank : initial, onClose })
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem
      setError(problem)
      setBusy(false)
    }
  }
  return (
    <>
      <form class="body" id="link-form" noValidate onSubmit={(event) => void submit(event)}>
        {like && <CopyHint {...like} />}
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
  /** the link that a new one is a copy of */
  readonly like?: LinkDetails
  readonly hasPassword: boolean
  readonly onClose: () => void
}

/** Returns what the address that led here says of a new link. */
const asked = () => {
  const { query } = at.value
  return { custom: query.get('alias') ?? '', domain: query.get('on') ?? '' }
}

/** The form of a link that there is, or of a copy of it. */
const Loaded = ({
  id,
  isCopy,
  onClose,
}: {
  readonly id: number
  readonly isCopy: boolean
  readonly onClose: () => void
}) => {
  const link = useLoad<FoundLink>(`/api/url/${id}`)
  if (link.data) {
    const { details } = link.data
    const { baseUrl } = service
    return isCopy ? (
      <Form
        id={undefined}
        initial={copyOf(details, baseUrl, asked())}
        like={details}
        hasPassword={false}
        onClose={onClose}
      />
    ) : (
      <Form id={id} initial={draftOf(details, baseUrl)} hasPassword={details.password} onClose={onClose} />
    )
  }
  return (
    <div class="body">
      {link.error ? <Failed error={link.error} reload={link.reload} /> : <Skeleton rows={8} label={t().editor.edit} />}
    </div>
  )
}

/** The form of a link, at the side of the screen: its destination first, and the rest folded. */
export const LinkSheet = ({ id, onClose }: { readonly id: number | undefined; readonly onClose: () => void }) => {
  const like = Number(at.value.query.get('like'))
  const loaded = id ?? (like > 0 ? like : undefined)
  return (
    <Dialog title={id === undefined ? t().editor.create : t().editor.edit} as="sheet" onClose={onClose}>
      {loaded === undefined ? (
        <Form id={undefined} initial={{ ...blank, ...asked() }} hasPassword={false} onClose={onClose} />
      ) : (
        <Loaded id={loaded} isCopy={id === undefined} onClose={onClose} />
      )}
    </Dialog>
  )
}
