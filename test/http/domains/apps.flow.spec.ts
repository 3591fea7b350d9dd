import { expect } from 'chai'
import { block } from '../../../src/commands/operator/block.ts'
import { operatorContext } from '../../../src/app/operator/caller.ts'
import { domainsChanged } from '../../../src/queries/domains/domain.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { visitAt } from '../../support/host.ts'
import { wire } from '../../support/raw.ts'

const appleAt = '/.well-known/apple-app-site-association'
const androidAt = '/.well-known/assetlinks.json'
const host = 'go.example.com'
const fingerprint = Array.from({ length: 32 }, () => 'AB').join(':')
const android = [{ package_name: 'com.example.app', sha256_cert_fingerprints: [fingerprint] }]
const appleOf = (...paths: readonly string[]) => ({
  details: [{ appIDs: ['9JA89QQLNQ.com.example.app'], components: paths.map((path) => ({ '/': path })) }],
})

describe('the apps that open addresses of a branded domain', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' })
    ;({ key } = await app.register())
    const body = {
      domain: `https://${host}`,
      redirectroot: 'https://example.com/',
      redirect404: 'https://example.com/no',
    }
    expect((await app.post('/api/domain/add', { key, body })).json).to.include({ id: 1 })
  })
  after(() => app.close())

  const update = (body: object) => app.put('/api/domain/1/update', { key, body })
  const details = async (query = '') => (await app.get(`/api/domain/1${query}`, { key })).json['details']
  const raw = (path: string, name = host) =>
    wire(app.address, `GET ${path} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)
  const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4)
  const served = async (path: string, wanted: unknown) => {
    const answer = await until(
      () => raw(path),
      (text) => (wanted === undefined ? text.startsWith('HTTP/1.1 404') : bodyOf(text) === JSON.stringify(wanted)),
    )
    expect(answer).to.match(wanted === undefined ? /^HTTP\/1.1 404 / : /^HTTP\/1.1 200 OK\r\n/)
    return answer
  }

  const entries = () =>
    until(
      async () =>
        (await app.get('/api/domain/1/history', { key })).json['data'].events as {
          readonly event: number | null
          readonly changes: readonly object[]
        }[],
      ([newest]) => newest !== undefined && newest.event !== null,
    )

  it('are none at first: both files are missing, and not redirected', async () => {
    for (const path of [appleAt, androidAt, '/.well-known/', '/.well-known/change-password'])
      await served(path, undefined)
    expect(await details()).to.deep.include({ apple: { details: [] }, android: [] })
  })

  it('are served as JSON in the order in which they were sent, without a redirect', async () => {
    expect((await update({ apple: appleOf('/help/*', '*'), android })).status).to.equal(200)
    const answer = await served(appleAt, { applinks: appleOf('/help/*', '*') })
    expect(answer)
      .to.match(/\r\nContent-Type: application\/json\r\n/)
      .and.not.match(/Location:/i)
    const [statement] = JSON.parse(bodyOf(await raw(androidAt)))
    expect(statement.target).to.deep.equal({ namespace: 'android_app', ...android[0] })
    expect(await details()).to.deep.include({ apple: appleOf('/help/*', '*'), android })
    // of the domain alone
    expect(await raw(appleAt, new URL(app.address).host)).to.match(/^HTTP\/1.1 404 /)
  })

  it('are refused with a 400 that names the error, and nothing is stored', async () => {
    const { revision } = await details()
    for (const [body, message] of [
      [{ apple: { details: [{ appIDs: ['app'] }] } }, '`apple.details.0.appIDs.0` must be a team ID and a bundle ID'],
      [{ android: [{ package_name: 'app' }] }, '`android.0.package_name` must be the name of an Android package'],
    ] as const) {
      const { status, json } = await update(body)
      expect([status, json['message']].join(' ')).to.include(`400 ${message}`)
    }
    expect((await details()).revision).to.equal(revision)
  })

  it('stay as they are when other fields change, and nothing is written when they are sent again', async () => {
    const { revision } = await details()
    expect((await update({ apple: appleOf('/help/*', '*'), android })).json).to.include({ revision })
    expect((await update({ redirectroot: 'https://example.com/other' })).json).to.include({ revision: revision + 1 })
    await served(appleAt, { applinks: appleOf('/help/*', '*') })
  })

  it('are in no list, and in memory of no process', async () => {
    const { json } = await app.get('/api/domains', { key })
    const [row] = json['data'].domains
    expect(row).to.include({ id: 1, redirect404: 'https://example.com/no' })
    expect(row).to.not.have.any.keys('apple', 'android')
    const { ledger } = app.app
    const reader = { db: ledger.pool(1, 60_000, 'search'), table: ledger.tables.name }
    const known = async () => {
      const [domain] = await domainsChanged(reader, 0n)
      return { ...domain }
    }
    expect(await known())
      .to.include({ id: 1, live: true, redirect404: 'https://example.com/no' })
      .and.not.have.any.keys('apple', 'android')
    await reader.db(reader.table('domains')).where({ id: 1 }).update({ verified: false })
    expect(await known()).to.include({ id: 1, live: false, redirectroot: '', redirect404: '' })
    await reader.db(reader.table('domains')).where({ id: 1 }).update({ verified: true })
  })

  it('have a history, and can be seen and restored as they were', async () => {
    const { revision } = await details()
    const [now] = await entries()
    const then = `event:${now?.event}`
    await update({ apple: appleOf('/other/*'), android: '' })
    await served(appleAt, { applinks: appleOf('/other/*') })
    await served(androidAt, undefined)
    const [newest] = await entries()
    expect(newest?.changes).to.deep.equal([
      { field: 'apple', old: appleOf('/help/*', '*'), new: appleOf('/other/*') },
      { field: 'android', old: android, new: [] },
    ])
    expect(await details(`?at=${encodeURIComponent(then)}`)).to.deep.include({
      apple: appleOf('/help/*', '*'),
      android,
    })
    expect((await app.post('/api/domain/1/restore', { key, body: { revision } })).status).to.equal(200)
    await served(appleAt, { applinks: appleOf('/help/*', '*') })
  })

  it('come back with a domain that was deleted, and are none on one that is added again', async () => {
    await app.del('/api/domain/1/delete', { key })
    await served(appleAt, undefined)
    await app.post('/api/domain/1/restore', { key, body: {} })
    await served(appleAt, { applinks: appleOf('/help/*', '*') })
    await app.del('/api/domain/1/delete', { key })
    await app.post('/api/domain/add', {
      key,
      body: { domain: `https://${host}`, redirect404: 'https://example.com/no' },
    })
    await served(appleAt, undefined)
    await update({ apple: appleOf('*'), android })
    await served(appleAt, { applinks: appleOf('*') })
  })

  it('are never limited or routed, and names below /.well-known/ are no misses', async () => {
    for (let n = 0; n < 150; n++)
      expect((await visitAt(app.address, host, `/.well-known/none-${n}`, {})).status).to.equal(404)
    // the same client may still miss an address
    expect(await visitAt(app.address, host, '/none', {})).to.include({
      status: 302,
      location: 'https://example.com/no',
    })
    await app.app.ledger.handler.handle(
      block,
      { type: 'Block', kind: 'domain', value: host, reason: 'spam' },
      operatorContext({ OPERATOR: 'ann' }, null),
    )
    await until(
      () => visitAt(app.address, host, '/none', {}),
      ({ status }) => status === 403,
    )
    // an app that has the domain would open its links without asking here
    await served(appleAt, undefined)
  })
})
