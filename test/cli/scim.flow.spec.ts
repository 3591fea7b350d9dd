import { expect } from 'chai'
import { run } from '../../src/cli/run.ts'
import { account } from '../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../src/events/event.ts'
import { noteJoin } from '../../src/postgres/joined.ts'
import { personKey } from '../../src/security/directory.ts'
import { startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { signIn } from '../support/session.ts'

describe('linkledger scim', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp()
  })
  after(() => app.close())

  const command = (...args: string[]) => commandWith({}, ...args)
  const commandWith = async (more: Readonly<Record<string, string>>, ...args: string[]) => {
    const lines: string[] = []
    const print = (line: string) => void lines.push(line)
    const { connection, dir } = app
    const variables = { DATABASE_URL: urlOf(connection), DATA_DIR: dir, SECRET: 'a secret for tests only', ...more }
    const code = await run(args[0] === 'account' ? args : ['scim', ...args], {
      variables,
      print,
      printError: print,
    })
    return { code, out: lines.join('\n') }
  }
  const statusWith = async (key: string) =>
    (await fetch(`${app.app.baseUrl}/scim/v2/Users`, { headers: { Authorization: `Bearer ${key}` } })).status

  it('makes a key that works at once, shows it once, and ends it at once', async () => {
    const unnamed = await command('key', 'add')
    expect([unnamed.code, unnamed.out]).to.deep.equal([
      1,
      'linkledger: name the issuer with --issuer, or set OIDC_ISSUER',
    ])
    const { code, out } = await command('key', 'add', '--issuer', 'https://id.example.com')
    expect(code, out).to.equal(0)
    const [key = ''] = /llscim_[\w-]{43}/.exec(out) ?? []
    expect(await statusWith(key)).to.equal(200)
    const listed = await command('key', 'list')
    expect(listed.out).to.match(/^ {3}1 {2}\d{4}-\d\d-\d\d {2}https:\/\/id\.example\.com$/)
    expect((await command('key', 'remove', '7', '--yes')).out).to.equal('linkledger: there is no key 7')
    expect((await command('key', 'remove', '1', '--yes')).code).to.equal(0)
    expect(await statusWith(key)).to.equal(401)
    expect((await command('key', 'list')).out).to.equal('There are no keys: no directory provisions users.')
  })

  it('lets an operator give access back that a directory has ended', async () => {
    const { id, key } = await app.register()
    const { handler } = app.app.ledger
    await handler.handle(account, { type: 'DeactivateAccount', id }, systemMetadata(id))
    const has = (wanted: number) =>
      until(
        async () => (await app.get('/api/urls', { key })).status,
        (status) => status === wanted,
      )
    await has(403)
    const { code, out } = await command('account', 'enable', `id:${id}`, '--yes')
    expect(code, out).to.equal(0)
    await has(200)
  })

  const issuer = 'https://id.example.com'
  const joined = (account: number) =>
    app.app.ledger.db('state.directory_joins').where({ account }).pluck<Buffer[]>('person')
  const join = (account: number, called: string) =>
    noteJoin(app.app.ledger.db, personKey(app.app.ledger.keys.service, issuer, called), account)

  it('takes an account out of the reach of directories, as the end of its last identity does', async () => {
    const [left, ended] = [await app.register(), await app.register()]
    for (const { id } of [left, ended]) for (const called of ['one', 'two']) await join(id, called)
    const { code, out } = await command('leave', `id:${left.id}`, '--yes')
    expect(code, out).to.equal(0)
    expect(await joined(left.id)).to.deep.equal([])

    const identity = (...args: string[]) =>
      command('account', 'identity', args[0] ?? '', `id:${ended.id}`, ...args.slice(1))
    for (const called of ['one', 'two']) await identity('add', called, '--issuer', issuer, '--yes')
    await identity('remove', '1', '--yes')
    expect(await joined(ended.id)).to.deep.equal([personKey(app.app.ledger.keys.service, issuer, 'two')])
    await identity('remove', '2', '--yes')
    expect(await joined(ended.id)).to.deep.equal([])
  })

  it('takes an account out of the reach of a user whom the directory calls otherwise since', async () => {
    const { id } = await app.register()
    const { db } = app.app.ledger
    const user = crypto.randomUUID()
    await db('state.directory_users').insert({ id: user, issuer, person: null, active: true, sealed: '' })
    await db('state.directory_held').insert({ user_id: user, account: id })
    await command('leave', `id:${id}`, '--yes')
    expect(await db('state.directory_held').where({ account: id })).to.deep.equal([])
  })

  it('makes a key for the existing directory in any spelling of its issuer, and warns of an issuer without sign-in', async () => {
    const issuerIn = (out: string) => /^issuer +(.*)$/m.exec(out)?.[1]
    const first = await command('key', 'add', '--issuer', 'https://root.example.com')
    const again = await command('key', 'add', '--issuer', 'https://root.example.com/')
    expect([issuerIn(first.out), issuerIn(again.out)]).to.deep.equal(Array(2).fill('https://root.example.com'))
    expect(first.out).to.include('People do not sign in with this issuer now')
    const own = await commandWith(
      { OIDC_ISSUER: 'https://own.example.com', OIDC_CLIENT_ID: 'x' },
      'key',
      'add',
      '--issuer',
      'https://own.example.com/',
    )
    expect(own.out).not.to.include('People do not sign in')
  })

  it('lets an operator make a member of a team account its owner', async () => {
    const [ann, ben, eve] = [await app.register(), await app.register(), await app.register()]
    const session = await signIn(app, ann.email)
    const { id } = (await session.ask('POST', '/api/account/add', { name: 'team-print' })).json
    const inTeam = { 'Linkledger-Account': String(id) }
    const invited = await session.ask('POST', '/api/member/invite', { role: 'editor' }, inTeam)
    const token = new URL(String(invited.json['link'])).searchParams.get('t')
    const bens = await signIn(app, ben.email)
    await bens.ask('POST', '/api/invitation/accept', { token })
    const owner = (person: number) => command('account', 'owner', `id:${id}`, `id:${person}`, '--yes')
    expect((await owner(eve.id)).out).to.include(`account ${eve.id} is no member of account ${id}`)
    const { code, out } = await owner(ben.id)
    expect(code, out).to.equal(0)
    const { memberships } = (await bens.ask('GET', '/api/memberships')).json['data']
    expect(memberships[1]).to.include({ account: id, role: 'owner', team: true })
  })
})
