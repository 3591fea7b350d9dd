import { expect } from 'chai'
import { leaveOutIds } from '../../src/app/proof/lostids.ts'
import { run as runInProcess } from '../../src/cli/run.ts'
import { startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { browser, until } from '../support/client.ts'
import { fakeDns } from '../support/dns.ts'
import { visitAt } from '../support/host.ts'

describe('linkledger domain', () => {
  let app: TestApp
  let ann: Awaited<ReturnType<TestApp['register']>>
  let bob: typeof ann
  const dns = fakeDns()
  const ids: Record<string, number> = {}
  /** Runs a command next to the service; resolves with its exit code and what it prints. */
  const run = (...args: string[]) => command('domain', ...args)
  const command = async (...args: string[]) => {
    const printed: string[] = []
    const print = (line: string) => void printed.push(line)
    const variables = { DATABASE_URL: urlOf(app.connection), SECRET: 'a secret for tests only', DATA_DIR: app.dir }
    const code = await runInProcess(args, { variables, print, printError: print })
    return { code, text: printed.join('\n') }
  }
  const add = async (who: typeof ann, host: string) => {
    const { json } = await app.post('/api/domain/add', { key: who.key, body: { domain: `https://${host}` } })
    return json as { id: number; status: string; verification: { record: { name: string; value: string } } }
  }
  const own = async (who: typeof ann, host: string) => {
    const { record } = (await add(who, host)).verification
    dns.txt.set(record.name, [record.value])
    const { json } = await app.get('/api/domains', { key: who.key })
    const { id } = json['data'].domains.find(({ domain }: { domain: string }) => domain === `https://${host}`)
    expect((await app.post(`/api/domain/${id}/verify`, { key: who.key })).json['status']).to.equal('active')
    return id as number
  }
  before(async () => {
    app = await startTestApp({ BASE_URL: 'https://go.example' }, undefined, { resolver: dns.resolver })
    ;[ann, bob] = [await app.register(), await app.register()]
    ids['ann'] = await own(ann, 'taken.example')
    ids['pending'] = (await add(ann, 'pending.example')).id
    await leaveOutIds(app.app.ledger) // as after a restore
    ids['gone'] = await own(ann, 'gone.example')
    await app.del(`/api/domain/${ids['gone']}/delete`, { key: ann.key })
  })
  after(() => app.close())

  it('lists whose each domain is, how it was verified, and until when a deleted one is reserved', async () => {
    const { code, text } = await run('list')
    const rows = text.split('\n').map((line) => line.trim().split(/\s{2,}/))
    expect(code).to.equal(0)
    expect(rows[0]).to.deep.equal(['id', 'status', 'verified', 'reserved until', 'account', 'host'])
    const owner = rows[1]![4]!
    expect(owner).to.match(new RegExp(`^${ann.id} `))
    expect(rows.slice(1).map(([id, status, proof]) => [id, status, proof])).to.deep.equal([
      [String(ids['gone']), 'deleted', 'txt'],
      [String(ids['pending']), 'pending', owner],
      [String(ids['ann']), 'active', 'txt'],
    ])
    expect(rows[1]![3]).to.match(/^20\d\d-\d\d-\d\d$/)
    const columns = text.split('\n').map((line) => line.search(/status|deleted|pending|active/))
    expect(new Set(columns).size, text).to.equal(1)
  })

  it('says whose domain would be released, and releases it only when that is confirmed', async () => {
    expect((await run('release', 'taken.example')).text).to.match(/Add --yes to confirm\.$/)
    const visit = () => visitAt(app.address, 'taken.example', '/x', { 'User-Agent': browser })
    await app.post('/api/url/add', {
      key: ann.key,
      body: { url: 'https://x.example/', custom: 'x', domain: 'taken.example' },
    })
    expect((await visit()).status).to.equal(302)

    const { code, text } = await run('release', 'https://Taken.example/', '--yes')
    expect(code).to.equal(0)
    expect(text).to.match(
      new RegExp(
        `^Domain ${ids['ann']}, taken\\.example, of account ${ann.id} \\(@\\S+\\): return 404 for its links, .*\\nDomain ${ids['ann']} is released\\.$`,
      ),
    )
    expect((await until(visit, ({ status }) => status === 404)).status).to.equal(404)
    await own(bob, 'taken.example')
  })

  it('releases a deleted domain by its id, while its host is reserved', async () => {
    expect((await run('release', `id:${ids['gone']}`, '--yes')).code).to.equal(0)
    await own(bob, 'gone.example')
  })

  it('blocks the link that is served at a host, not one of another account that is pending there', async () => {
    const shorten = (who: typeof ann) =>
      app.post('/api/url/add', {
        key: who.key,
        body: { url: 'https://x.example/', custom: 'x', domain: 'two.example' },
      })
    await add(ann, 'two.example')
    await own(bob, 'two.example')
    for (const who of [ann, bob]) expect((await shorten(who)).status).to.equal(200)

    const { text } = await command('block', 'link', 'two.example/x', '--reason', 'spam', '--yes')
    expect(text).to.equal(`The link /x of account ${bob.id} will be blocked. Reason: spam\nBlocked.`)
    const blocked = await until(
      () => visitAt(app.address, 'two.example', '/x', { 'User-Agent': browser }),
      ({ status }) => status === 403,
    )
    expect(blocked.status).to.equal(403)
    const whole = await command('block', 'domain', 'two.example', '--reason', 'spam', '--yes')
    expect(whole.text).to.match(new RegExp(`^The branded domain two\\.example, of account ${bob.id},`))
  })

  it('names a host that no account has', async () => {
    const { code, text } = await run('release', 'pending.example', '--yes')
    expect([code, text]).to.deep.equal([
      1,
      'linkledger: no account has the branded domain pending.example: see `linkledger domain list`',
    ])
  })
})
