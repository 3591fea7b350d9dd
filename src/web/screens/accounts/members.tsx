import { useState } from 'preact/hooks'
import type { Member, MemberList } from '../../../http/accounts/contract/member.ts'
import { t } from '../../core/alltexts.ts'
import { href } from '../../core/router.ts'
import { fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { type Column, Listing, ListHead, Named, useList } from '../../parts/listing.tsx'
import { Mark } from '../../parts/mark.tsx'
import { Secret } from '../../parts/secret.tsx'
import { filled, When } from '../../parts/when.tsx'
import { ApprovalRules } from '../approvals/rules.tsx'
import { MemberForm, nameOf, Removal } from './memberform.tsx'
import { roleName } from './role.ts'

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
    { name: texts.role, cell: ({ managed, role }) => `${roleName(role)}${managed ? ` · ${texts.managed}` : ''}` },
    { name: resources.state, kind: 'state', cell: (member) => <Status {...member} /> },
    {
      name: texts.lastActive,
      kind: 'wide',
      cell: ({ lastactive }) => lastactive !== '' && <When at={moment(lastactive)} />,
    },
  ]
}

type Asked = { readonly what: 'role' | 'remove'; readonly member: Member } | { readonly what: 'invite' }

/** Actions on a member. The account's own sign-in cannot be removed, and only the issuer changes managed members. */
const Tools = ({ member, onAsk }: { readonly member: Member; readonly onAsk: (asked: Asked) => void }) => {
  const { roleOf, removeNamed } = t().members
  if (member.id === 1 || member.managed) return null
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
      <ApprovalRules />
      {asked?.what === 'invite' && <MemberForm onDone={done} onClose={close} />}
      {asked?.what === 'role' && <MemberForm existing={asked.member} onDone={done} onClose={close} />}
      {asked?.what === 'remove' && <Removal member={asked.member} onClose={close} />}
      {link !== '' && <Secret title={texts.link} secret={link} text={texts.linkText} onClose={() => setLink('')} />}
    </>
  )
}
