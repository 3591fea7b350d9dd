import { useState } from 'preact/hooks'
import type { MemberList, Membership, MembershipList } from '../../../http/accounts/contract/member.ts'
import { baseOf, chosen } from '../../core/acting.ts'
import { t } from '../../core/alltexts.ts'
import { request } from '../../core/api.ts'
import { useDraft } from '../../core/draft.ts'
import { useLoad } from '../../core/load.ts'
import { account, readAccount } from '../../core/session.ts'
import { fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Problem, SelectField, TextField } from '../../parts/field.tsx'
import { Section } from '../../parts/section.tsx'
import { filled, When } from '../../parts/when.tsx'
import { nameOf } from './memberform.tsx'
import { Proven } from './proven.tsx'

interface OfAccount {
  readonly hasPassword: boolean
}

interface EraseProps extends OfAccount {
  readonly name: string
  /** the route that schedules the erasure, and cancels it */
  readonly path: string
  /** when it is erased; empty: it is not */
  readonly erases: string
  readonly onDone: () => unknown
}

/** Has an account erased, or keeps it. */
const Erase = ({ name, path, erases, hasPassword, onDone }: EraseProps) => {
  const [isAsking, setIsAsking] = useState(false)
  const texts = t().account
  const keep = async () => {
    say((await request<{ readonly message: string }>('DELETE', path)).message)
    await onDone()
  }
  const erase = async (proof: object) => {
    say((await request<{ readonly message: string }>('POST', path, proof)).message)
    setIsAsking(false)
    await onDone()
  }
  return (
    <>
      {erases === '' ? (
        <Button kind="danger" writes onClick={() => setIsAsking(true)}>
          {texts.erase}
        </Button>
      ) : (
        <>
          <span class="quiet">{filled(texts.erases, { when: <When at={moment(erases)} as="day" /> })}</span>
          <Button writes onClick={() => void keep().catch(sayProblem)}>
            {texts.keep}
          </Button>
        </>
      )}
      {isAsking && (
        <Proven
          title={fill(texts.eraseNamed, { name })}
          action={texts.erase}
          hasPassword={hasPassword}
          onSend={erase}
          onClose={() => setIsAsking(false)}
        >
          <p>{texts.eraseText}</p>
        </Proven>
      )}
    </>
  )
}

/** Makes the own account a team account, which a member owns from then on. */
const HandOver = ({ hasPassword, onClose }: OfAccount & { readonly onClose: () => void }) => {
  const { data } = useLoad<MemberList>('/api/members?limit=1000')
  const texts = t().account
  const owners = (data?.data.members ?? []).filter(
    ({ id, role, status }) => id !== 1 && role === 'owner' && status === 'active',
  )
  const [member, setMember] = useState('')
  const chosenOwner = member === '' ? owners[0]?.id : Number(member)
  const send = async (proof: object) => {
    await request('POST', '/api/account/handover', { member: chosenOwner, ...proof })
    location.assign(baseOf(undefined))
  }
  return (
    <Proven title={texts.handOver} action={texts.handOver} hasPassword={hasPassword} onSend={send} onClose={onClose}>
      <p>{texts.handOverText}</p>
      {data && owners.length === 0 ? (
        <Problem>{texts.noOwner}</Problem>
      ) : (
        <SelectField
          label={texts.newOwner}
          value={String(chosenOwner ?? '')}
          onValue={setMember}
          options={owners.map((one) => [String(one.id), nameOf(one)] as const)}
        />
      )}
    </Proven>
  )
}

const AddTeam = () => {
  const form = useDraft({ name: '' })
  const texts = t().account
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void form.run(async () => {
      const { id } = await request<{ readonly id: number }>('POST', '/api/account/add', form.draft)
      location.assign(baseOf(id))
    })
  }
  return (
    <form class="fields" onSubmit={submit}>
      <TextField label={texts.teamName} required {...form.field('name')} hint={texts.teamsText} />
      {form.problem() !== undefined && <Problem>{form.problem()}</Problem>}
      <div>
        <Button type="submit" busy={form.busy}>
          {texts.addTeam}
        </Button>
      </div>
    </form>
  )
}

/** The team accounts of an owner, and one more. */
export const Teams = ({ hasPassword }: OfAccount) => {
  const list = useLoad<MembershipList>('/api/memberships')
  const isOwned = ({ role, team }: Membership) => team && role === 'owner'
  return (
    <Section title={t().account.teams}>
      {(list.data?.data.memberships ?? []).filter(isOwned).map(({ account: id, erases, name }) => (
        <div class="row-between" key={id}>
          <a class="text-button" href={baseOf(id)}>
            {name}
          </a>
          <span class="chips">
            <Erase path={`/api/membership/${id}/erase`} onDone={list.reload} {...{ erases, hasPassword, name }} />
          </span>
        </div>
      ))}
      <AddTeam />
    </Section>
  )
}

/** What ends the own sign-in: it becomes a team account, or is erased. */
export const OwnAccount = ({ hasPassword }: OfAccount) => {
  const [isHandingOver, setIsHandingOver] = useState(false)
  const { erases = '', username = '' } = account.value ?? {}
  const texts = t().account
  return (
    <Section title={texts.own}>
      <div class="row-between">
        {chosen === undefined && (
          <Button writes onClick={() => setIsHandingOver(true)}>
            {texts.handOver}
          </Button>
        )}
        <span class="chips">
          <Erase name={username} path="/api/account/erase" onDone={readAccount} {...{ erases, hasPassword }} />
        </span>
      </div>
      {isHandingOver && <HandOver hasPassword={hasPassword} onClose={() => setIsHandingOver(false)} />}
    </Section>
  )
}
