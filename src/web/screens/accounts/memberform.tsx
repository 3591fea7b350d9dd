import type { DomainList } from '../../../http/domains/contract.ts'
import type { Invited, Member, MemberList } from '../../../http/accounts/contract/member.ts'
import { withoutScheme } from '../../core/address.ts'
import { t } from '../../core/alltexts.ts'
import { request } from '../../core/api.ts'
import { useDraft } from '../../core/draft.ts'
import { useLoad } from '../../core/load.ts'
import { service } from '../../core/session.ts'
import { fill } from '../../core/texts.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { Confirm } from '../../parts/dialog.tsx'
import { SelectField, Switch, TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'
import { roleName, roleTexts } from './role.ts'

const roles = ['owner', 'admin', 'editor', 'author', 'analyst', 'auditor'] as const

/** Roles that have all domains of the account. */
const unlimited: readonly string[] = ['owner', 'admin']

/** A person whose own account is erased has no name. */
export const nameOf = ({ name, email, status }: Member) =>
  name || email || (status === 'active' ? t().history.someone.former : t().members.invitation)

interface DomainsProps {
  readonly value: readonly number[]
  readonly onValue: (ids: readonly number[]) => void
}

/** The domains that a member may use, 0 for the service's own host; without a choice: all. */
const Domains = ({ value, onValue }: DomainsProps) => {
  const own = useLoad<DomainList>('/api/domains?limit=1000').data?.data.domains ?? []
  if (own.length === 0) return null
  const all = [{ id: 0, domain: service.baseUrl }, ...own]
  const set = (id: number, isOn: boolean) => onValue(isOn ? [...value, id] : value.filter((one) => one !== id))
  return (
    <fieldset class="field">
      <legend>{t().members.domains}</legend>
      {all.map(({ id, domain }) => (
        <Switch key={id} label={withoutScheme(domain)} value={value.includes(id)} onValue={(isOn) => set(id, isOn)} />
      ))}
      <span class="hint">{t().members.domainsHint}</span>
    </fieldset>
  )
}

interface FormProps {
  readonly existing?: Member
  /** Called with the link of an invitation that was not mailed. */
  readonly onDone: (link: string) => void
  readonly onClose: () => void
}

/** Invites a person, or gives a member another role. */
export const MemberForm = ({ existing, onDone, onClose }: FormProps) => {
  const form = useDraft({ email: '', role: existing?.role ?? 'editor', domains: existing?.domains ?? [] })
  const isLimitable = !unlimited.includes(form.draft.role)
  const texts = t().members
  const submit = async () => {
    const { email, role, domains } = form.draft
    const given = { role, domains: isLimitable && domains.length > 0 ? domains : null }
    if (existing) {
      await request('PUT', `/api/member/${existing.id}/update`, given)
      say(t().resources.stored)
      return onDone('')
    }
    const { link } = await request<Invited>('POST', '/api/member/invite', { ...given, ...(email !== '' && { email }) })
    if (link === '') say(fill(texts.sent, { email }))
    onDone(link)
  }
  return (
    <FormDialog
      title={existing ? fill(texts.roleOf, { name: nameOf(existing) }) : texts.invite}
      action={existing ? t().actions.save : texts.invite}
      form={form}
      fields={Object.keys(form.draft)}
      onSubmit={submit}
      onClose={onClose}
    >
      {!existing && (
        <TextField
          label={t().signIn.email}
          {...form.field('email')}
          type="email"
          required={service.mail}
          autofocus
          hint={service.mail ? texts.emailHint : texts.noMailHint}
        />
      )}
      <SelectField
        label={texts.role}
        {...form.field('role')}
        hint={roleTexts(form.draft.role)[1]}
        options={roles.map((role) => [role, roleName(role)] as const)}
      />
      {isLimitable && <Domains {...form.field('domains')} />}
    </FormDialog>
  )
}

/** Removes a member, and asks who gets their keys and links; or withdraws an invitation. */
export const Removal = ({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) => {
  const form = useDraft({ to: '' })
  const isMember = member.status === 'active'
  const others = useLoad<MemberList>(isMember ? '/api/members?limit=1000' : undefined).data?.data.members ?? []
  const texts = t().members
  const title = `${fill(texts.removeNamed, { name: nameOf(member) })}?`
  const submit = async () => {
    const { to } = form.draft
    await request('DELETE', `/api/member/${member.id}/delete${to === '' ? '' : `?to=${to}`}`)
    say(fill(texts.removed, { name: nameOf(member) }))
    onClose()
  }
  if (!isMember)
    return (
      <Confirm
        title={title}
        text={texts.removeText}
        action={texts.remove}
        onClose={onClose}
        onConfirm={() => submit().catch(sayProblem)}
      />
    )
  return (
    <FormDialog title={title} action={texts.remove} form={form} fields={['to']} onSubmit={submit} onClose={onClose}>
      <p>{texts.removeText}</p>
      <SelectField
        label={texts.heir}
        {...form.field('to')}
        hint={texts.heirHint}
        options={[
          ['', texts.noHeir],
          ...others
            .filter(({ id, status }) => status === 'active' && id !== member.id)
            .map((one) => [String(one.id), nameOf(one)] as const),
        ]}
      />
    </FormDialog>
  )
}
