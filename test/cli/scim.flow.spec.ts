import { expect } from 'chai'
import { run } from '../../src/cli/run.ts'
import { account } from '../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../src/events/event.ts'
import { startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'

describe('linkledger scim key', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp()
  })
  after(() => app.close())

  const command = async (...args: string[]) => {
    const lines: string[] = []
    const print = (line: string) => void lines.push(line)
    const { connection, dir } = app
    const variables = { DATABASE_URL: urlOf(connection), DATA_DIR: dir, SECRET: 'a secret for tests only' }
    const code = await run(args[0] === 'account' ? args : ['scim', 'key', ...args], {
      variables,
      print,
      printError: print,
    })
    return { code, out: lines.join('\n') }
  }
  const statusWith = async (key: string) =>
    (await fetch(`${app.app.baseUrl}/scim/v2/Users`, { headers: { Authorization: `Bearer ${key}` } })).status

  it('makes a key that works at once, shows it once, and ends it at once', async () => {
    const unnamed = await command('add')
    expect([unnamed.code, unnamed.out]).to.deep.equal([
      1,
      'linkledger: name the issuer with --issuer, or set OIDC_ISSUER',
    ])
    const { code, out } = await command('add', '--issuer', 'https://id.example.com')
    expect(code, out).to.equal(0)
    const [key = ''] = /llscim_[\w-]{43}/.exec(out) ?? []
    expect(await statusWith(key)).to.equal(200)
    const listed = await command('list')
    expect(listed.out).to.match(/^ {3}1 {2}\d{4}-\d\d-\d\d {2}https:\/\/id\.example\.com$/)
    expect((await command('remove', '7', '--yes')).out).to.equal('linkledger: there is no key 7')
    expect((await command('remove', '1', '--yes')).code).to.equal(0)
    expect(await statusWith(key)).to.equal(401)
    expect((await command('list')).out).to.equal('There are no keys: no directory provisions users.')
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
})
