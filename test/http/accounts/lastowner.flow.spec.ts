import { expect } from 'chai'
import { openSync } from '../../../src/app/accounts/groupsync.ts'
import { account } from '../../../src/commands/accounts/account.ts'
import { team as teams } from '../../../src/commands/accounts/team.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { dueErasures } from '../../../src/queries/accounts/erasure.ts'
import { teamsOwnedAlone } from '../../../src/queries/accounts/owner.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'
import { signIn } from '../../support/session.ts'

type Session = Awaited<ReturnType<typeof signIn>>

describe('the last owner of a team account', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp({ SESSION_RATE_LIMIT_PER_MINUTE: '0' })
  })
  after(() => app.close())

  const password = { current_password: 'correct horse 1' }
  const refused = ({ status, json }: Answer) => [status, json['code'], json['params']?.what]
  const person = async () => {
    const { id, email } = await app.register()
    return { ...(await signIn(app, email)), account: id }
  }
  const addTeam = async (who: Session, name: string) =>
    Number((await who.ask('POST', '/api/account/add', { name })).json['id'])
  const invite = async (who: Session, to: Session, id: number, role: string) => {
    const inAccount = { 'Linkledger-Account': String(id) }
    const { json } = await who.ask('POST', '/api/member/invite', { role }, inAccount)
    await to.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
    return Number(json['id'])
  }

  it('is the one who stays when the others are about to be erased, and can neither leave nor be erased', async () => {
    const [ann, ben] = [await person(), await person()]
    const team = await addTeam(ann, 'two-owners')
    const member = await invite(ann, ben, team, 'owner')
    expect((await ann.ask('POST', '/api/account/erase', password)).status).to.equal(200)
    const last = [403, 'lacks_rights', 'last_owner']
    expect(refused(await ben.ask('DELETE', `/api/membership/${team}/delete`))).to.deep.equal(last)
    expect(refused(await ben.ask('POST', '/api/account/erase', password))).to.deep.equal(last)
    const inTeam = { 'Linkledger-Account': String(team) }
    const down = await ben.ask('PUT', `/api/member/${member}/update`, { role: 'editor' }, inTeam)
    expect(refused(down)).to.deep.equal(last)
    expect((await ann.ask('DELETE', '/api/account/erase')).status).to.equal(200)
    expect((await ben.ask('DELETE', `/api/membership/${team}/delete`)).status).to.equal(200)
  })

  it('is never an account that is about to be erased, which adds no team account either', async () => {
    const ann = await person()
    await ann.ask('POST', '/api/account/erase', password)
    expect(refused(await ann.ask('POST', '/api/account/add', { name: 'too-late' }))).to.deep.equal([
      403,
      'lacks_rights',
      'erases',
    ])
  })

  it('keeps a role of groups that have ended, as long as no other owner can act', async () => {
    const [ann, ben] = [await person(), await person()]
    const team = await addTeam(ann, 'group-owned')
    const { ledger } = app.app
    const command = { type: 'ManageRole', id: team, person: ben.account, role: 'owner', isLast: false } as const
    await ledger.handler.handle(teams, command, systemMetadata(team))
    const disabled = { type: 'DisableAccount', id: ann.account } as const
    await ledger.handler.handle(account, disabled, systemMetadata(ann.account))
    const alone = (is: boolean) =>
      until(
        async () => (await teamsOwnedAlone(ledger.reader, ben.account)).includes(team),
        (found) => found === is,
      )
    await alone(true)
    const groupsOf = async () => ({ claimed: [], sent: [] })
    const sync = openSync({ ...ledger, roles: [], operators: [], groupsOf })
    await sync([ben.account])
    const rolesIn = async () => (await ledger.handler.load(teams, team)).state.members
    expect(Object.values(await rolesIn()).map(({ role }) => role)).to.deep.equal(['owner', 'owner'])
    const enabled = { type: 'EnableAccount', id: ann.account } as const
    await ledger.handler.handle(account, enabled, systemMetadata(ann.account))
    await alone(false)
    await sync([ben.account])
    expect(Object.values(await rolesIn()).map(({ person: of }) => of)).to.deep.equal([ann.account])
  })

  it('is not erased when two request their erasure at the same moment', async () => {
    const ann = await person()
    await addTeam(ann, 'race-team')
    const { reader } = app.app.ledger
    const erases = (at: string) =>
      query(app.connection, `update ${reader.table('accounts')} set erases = ${at} where id = $1`, [ann.account])
    await erases(`now() - interval '1 second'`)
    expect(await dueErasures(reader, new Date(), 10)).to.deep.equal([])
    await erases('null')
  })

  it('keeps a team account that another owner has joined since its erasure was scheduled', async () => {
    const [ann, ben] = [await person(), await person()]
    const team = await addTeam(ann, 'kept-team')
    await ann.ask('POST', `/api/membership/${team}/erase`, password)
    const command = { type: 'ManageRole', id: team, person: ben.account, role: 'editor', isLast: false } as const
    await app.app.ledger.handler.handle(teams, command, systemMetadata(team))
    expect((await ann.ask('DELETE', `/api/membership/${team}/erase`)).status).to.equal(200)
  })

  it('gets no sign-in of the account itself beside them, also not from an operator', async () => {
    const team = await addTeam(await person(), 'no-sign-in')
    const { handler } = app.app.ledger
    const issue = { type: 'IssueKey', id: team, apiKey: { key: 'k', hash: 'h', expires: null } } as const
    const update = { type: 'UpdateAccount', id: team, password: 'hash' } as const
    for (const command of [issue, update]) {
      const problem = await handler.handle(account, command, systemMetadata(team)).then(
        () => 'done',
        ({ message }: Error) => message,
      )
      expect(problem).to.equal('This is a team account, which has no sign-in of its own.')
    }
  })
})

describe('a team account on a service without registration', () => {
  let [open, closed]: TestApp[] = []
  before(async () => {
    open = await startTestApp()
    closed = await startTestApp({ REGISTRATION: 'closed', ROLES: 'http,relay' }, open.connection)
  })
  after(async () => {
    await closed?.close()
    await open?.close()
  })

  it('is added by an operator alone', async () => {
    const { id, email } = await open!.register()
    const ann = await signIn(closed!, email)
    const add = async () => ann.ask('POST', '/api/account/add', { name: 'closed-team' })
    expect((await add()).json['params']).to.deep.equal({ what: 'no_registration' })
    await open!.app.ledger.handler.handle(account, { type: 'MarkOperator', id }, systemMetadata(id))
    expect((await until(add, ({ status }) => status !== 403)).status).to.equal(200)
  })
})
