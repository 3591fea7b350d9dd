import { expect } from 'chai'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { team as teams } from '../../../src/commands/accounts/team.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { listMemberships } from '../../../src/queries/accounts/member.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { signIn } from '../../support/session.ts'

describe('an account whose own sign-in ends', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp({ SESSION_RATE_LIMIT_PER_MINUTE: '0' })
  })
  after(() => app.close())

  const password = { current_password: 'correct horse 1' }
  const person = async () => {
    const own = await app.register()
    return { ...own, session: await signIn(app, own.email) }
  }
  type Person = Awaited<ReturnType<typeof person>>
  const invite = async (by: Person, role: string, account = by.id) => {
    const ofAccount = { 'Linkledger-Account': String(account) }
    const { json } = await by.session.ask('POST', '/api/member/invite', { role, ...password }, ofAccount)
    return { token: new URL(String(json['link'])).searchParams.get('t'), member: Number(json['id']) }
  }
  const accept = (who: Person, token: string | null) => who.session.ask('POST', '/api/invitation/accept', { token })
  /** A person who can hand over their account to an owner. */
  const withOwner = async () => {
    const [ann, heir] = [await person(), await person()]
    const { token, member } = await invite(ann, 'owner')
    expect((await accept(heir, token)).status).to.equal(200)
    const handOver = () => ann.session.ask('POST', '/api/account/handover', { member, ...password })
    return { ann, heir, handOver }
  }
  const peopleIn = async (account: number) =>
    Object.values((await app.app.ledger.handler.load(teams, account)).state.members).map((one) => one.person)

  it('goes with its keys to the member who was named first, also where the first attempt did not end', async () => {
    const { ann, heir } = await withOwner()
    const other = await person()
    const { token, member: second } = await invite(ann, 'owner')
    await accept(other, token)
    const { handler } = app.app.ledger
    const { state } = await handler.load(teams, ann.id)
    const first = Number(Object.keys(state.members).find((one) => state.members[one]?.person === heir.id))
    await handler.handle(teams, { type: 'HandOver', id: ann.id, member: first }, systemMetadata(ann.id))
    const handOver = (member: number) => ann.session.ask('POST', '/api/account/handover', { member, ...password })
    const refused = await handOver(second)
    expect([refused.status, refused.json['params']]).to.deep.equal([409, { what: 'handover', member: first }])
    const done = await handOver(first)
    expect(done.status, done.text).to.equal(200)
    const { keys } = (await heir.session.ask('GET', '/api/keys', undefined, { 'Linkledger-Account': String(ann.id) }))
      .json['data']
    expect(keys.map((key: { member: { id: number } }) => key.member.id)).to.deep.equal([first])
  })

  it('goes to one member where two are named at the same moment', async () => {
    for (let round = 1; round <= 3; round++) {
      const { ann } = await withOwner()
      const other = await person()
      const { token, member: second } = await invite(ann, 'owner')
      await accept(other, token)
      const answers = await Promise.all(
        [second - 1, second].map((member) => ann.session.ask('POST', '/api/account/handover', { member, ...password })),
      )
      const done = answers.filter(({ status }) => status === 200)
      expect(done, answers.map(({ text }) => text).join(' ')).to.have.length(1)
      const { state } = await app.app.ledger.handler.load(teams, ann.id)
      const { state: own } = await app.app.ledger.handler.load(accounts, ann.id)
      expect(own.isTeam).to.equal(true)
      expect(state.heirs[1]).to.equal(answers[0]?.status === 200 ? second - 1 : second)
    }
  })

  it('is no member of an account whose invitation it accepts at that moment', async () => {
    const other = await person()
    for (let round = 1; round <= 4; round++) {
      const { ann, handOver } = await withOwner()
      const { token } = await invite(other, 'admin')
      const [handed, accepted] = await Promise.all([handOver(), accept(ann, token)])
      const isMember = (await peopleIn(other.id)).includes(ann.id)
      expect(handed.status === 200 && isMember, `both: ${handed.text} ${accepted.text}`).to.equal(false)
      if (handed.status !== 200) expect((await ann.session.ask('GET', '/api/account')).status).to.equal(200)
    }
  })

  it('is no owner of a team account that it adds at that moment', async () => {
    for (let round = 1; round <= 4; round++) {
      const { ann, handOver } = await withOwner()
      const name = `at-once-${round}`
      const [handed, added] = await Promise.all([handOver(), ann.session.ask('POST', '/api/account/add', { name })])
      expect([handed.status, added.status], `${handed.text} ${added.text}`).not.to.deep.equal([200, 200])
      if (handed.status !== 200) continue
      await until(
        () => listMemberships(app.app.ledger.reader, ann.id, 'all'),
        (left) => left.length === 0,
      )
    }
  })

  it('counts as no owner of a team account, which keeps one who can sign in', async () => {
    const { ann, heir, handOver } = await withOwner()
    const other = await person()
    const added = await other.session.ask('POST', '/api/account/add', { name: `kept-${other.id}` })
    const team = Number(added.json['id'])
    const { token } = await invite(other, 'owner', team)
    await accept(ann, token)
    const leave = () => other.session.ask('DELETE', `/api/membership/${team}/delete`)
    // as one that has ended its sign-in before that was looked for
    const { handler } = app.app.ledger
    const { members } = (await handler.load(teams, ann.id)).state
    const member = Number(Object.keys(members).find((one) => members[one]?.person === heir.id))
    expect((await handOver()).json['params']?.what).to.equal('has_memberships')
    await handler.handle(teams, { type: 'HandOver', id: ann.id, member }, systemMetadata(ann.id))
    await handler.handle(accounts, { type: 'EndSignIn', id: ann.id, member }, systemMetadata(ann.id))
    await until(
      async () =>
        (await heir.session.ask('GET', '/api/memberships')).json['data'].memberships as {
          account: number
          team: boolean
        }[],
      (all) => all.some((one) => one.account === ann.id && one.team),
    )
    const left = await leave()
    expect([left.status, left.json['params']?.what], left.text).to.deep.equal([403, 'last_owner'])
  })
})
