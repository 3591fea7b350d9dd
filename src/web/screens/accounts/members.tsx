import { useState } from 'preact/hooks'
import type { Invited, Member, MemberList } from '../../../http/accounts/contract/member.ts'
import { t } from '../../core/alltexts.ts'
import { request } from '../../core/api.ts'
import { useDraft } from '../../core/draft.ts'
import { useLoad } from '../../core/load.ts'
import { href } from '../../core/router.ts'
import { service } from '../../core/session.ts'
import { fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'
import { type Column, Listing, ListHead, Named, useList } from '../../parts/listing.tsx'
import { Mark } from '../../parts/mark.tsx'
import { Secret } from '../../parts/secret.tsx'
import { filled, When } from '../../parts/when.tsx'
import { roleName, roleTexts } from './role.ts'

const roles = ['owner', 'admin', 'editor', 'author', 'analyst', 'auditor'] as const

interface FormProps {
  readonly existing?: Member
  /** Gets the link of an invitation that was sent nowhere. */
  readonly onDone: (link: string) => void
  readonly onClose: () => void
}

/** Invites somebody, or gives a member another role. */
const MemberForm = ({ existing, onDone, onClose }: FormProps) => {
  const form = useDraft({ email: '', role: existing?.role ?? 'editor' })
  const texts = t().members
  const submit = async () => {
    const { email, role } = form.draft
    if (existing) {
      await request('PUT', `/api/member/${existing.id}/update`, { role })
      say(t().resources.stored)
      return onDone('')
    }
    const { link } = await request<Invited>('POST', '/api/member/invite', { role, ...(email !== '' && { email }) })
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
    </FormDialog>
  )
}

/** Removes a member, and asks who gets their keys and links; or takes an invitation back. */
const Removal = ({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) => {
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
          ['', texts.nobody],
          ...others
            .filter(({ id, status }) => status === 'active' && id !== member.id)
            .map((one) => [String(one.id), nameOf(one)] as const),
        ]}
      />
    </FormDialog>
  )
}

/** Somebody whose own account is erased has no name. */
const nameOf = ({ name, email, status }: Member) =>
  name || email || (status === 'active' ? t().history.someone.former : t().members.invitation)

const Status = ({ status, expires }: Member) => {
  const texts = t().members
  if (status === 'active') return <Mark kind="good">{texts.active}</Mark>
  const when = <When at={moment(expires)} as="day" />
  return status === 'expired' ? (
    <Mark kind="ended">{filled(texts.expired, { when })}</Mark>
  ) : (
    <Mark kind="wait">{filled(texts.invited, { when })}</Mark>
  )
}

const columns = (): readonly Column<Member>[] => {
  const { members: texts, resources } = t()
  return [
    {
      name: resources.name,
      cell: (member) => (
        <Named
          name={nameOf(member)}
          note={member.name === '' ? undefined : member.email}
          {...(member.status === 'active' && { to: href(`/members/${member.id}`) })}
        />
      ),
    },
    { name: texts.role, cell: ({ role }) => roleName(role) },
    { name: resources.state, kind: 'state', cell: (member) => <Status {...member} /> },
    {
      name: texts.lastActive,
      kind: 'wide',
      cell: ({ lastactive }) => lastactive !== '' && <When at={moment(lastactive)} />,
    },
  ]
}

type Asked = { readonly what: 'role' | 'remove'; readonly member: Member } | { readonly what: 'invite' }

/** What can be done about a member: the sign-in of the account stays. */
const Tools = ({ member, onAsk }: { readonly member: Member; readonly onAsk: (asked: Asked) => void }) => {
  const { roleOf, removeNamed } = t().members
  if (member.id === 1) return null
  const name = nameOf(member)
  return (
    <>
      {member.status === 'active' && (
        <IconButton icon="edit" label={fill(roleOf, { name })} onClick={() => onAsk({ what: 'role', member })} />
      )}
      <IconButton icon="trash" label={fill(removeNamed, { name })} onClick={() => onAsk({ what: 'remove', member })} />
    </>
  )
}

/** Who may act in the account, and who is invited to. */
export const Members = () => {
  const [asked, setAsked] = useState<Asked | undefined>(undefined)
  const [link, setLink] = useState('')
  const { list, rows } = useList<MemberList>('/api/members', 'members')
  const { members: texts, resources } = t()
  const close = () => setAsked(undefined)
  const done = (made: string) => {
    close()
    setLink(made)
  }
  const invite = (
    <Button kind="primary" icon="plus" onClick={() => setAsked({ what: 'invite' })}>
      {texts.invite}
    </Button>
  )
  return (
    <>
      <ListHead title={texts.title} text={texts.text} count={texts.count} list={list}>
        {invite}
      </ListHead>
      <Listing
        title={texts.title}
        list={list}
        rows={rows}
        keyOf={({ id }) => id}
        searchFor={resources.searchFor}
        none={{ title: texts.title, text: texts.text, action: invite }}
        columns={columns()}
        tools={(member) => <Tools member={member} onAsk={setAsked} />}
      />
      {asked?.what === 'invite' && <MemberForm onDone={done} onClose={close} />}
      {asked?.what === 'role' && <MemberForm existing={asked.member} onDone={done} onClose={close} />}
      {asked?.what === 'remove' && <Removal member={asked.member} onClose={close} />}
      {link !== '' && <Secret title={texts.link} secret={link} text={texts.linkText} onClose={() => setLink('')} />}
    </>
  )
}
