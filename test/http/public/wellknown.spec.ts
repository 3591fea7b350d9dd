import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { type DomainFields, noApps } from '../../../src/events/domains/domain.ts'
import { createWellKnown, type WellKnownOptions } from '../../../src/http/public/wellknown.ts'
import { Unavailable } from '../../../src/lib/unavailable.ts'
import type { KnownDomain } from '../../../src/queries/domains/domain.ts'

const apple = { details: [{ appIDs: ['9JA89QQLNQ.com.example.app'], components: [{ '/': '/buy/*' }] }] }
const android = [{ package_name: 'com.example.app', sha256_cert_fingerprints: ['AA'] }]
const apps: Readonly<Record<number, Pick<DomainFields, 'apple' | 'android'>>> = { 1: { apple, android }, 2: noApps }
const domains: Readonly<Record<string, Partial<KnownDomain>>> = {
  'go.example.com': { id: 1, position: 7n },
  'plain.example.com': { id: 2, position: 7n },
  'blocked.example.com': { id: 1, position: 7n },
}
const appleAt = '/.well-known/apple-app-site-association'
const androidAt = '/.well-known/assetlinks.json'
const options: WellKnownOptions = {
  domains: { byHost: (name) => domains[name] as KnownDomain | undefined },
  blocks: { domain: (host) => host === 'blocked.example.com' },
  findApps: (id) => Promise.resolve(apps[id] ?? noApps),
  sendFailure: (_, res) => void res.writeHead(503, {}).end(),
  contact: undefined,
  trustProxy: 0,
  now: () => new Date('2026-06-01T12:00:00Z'),
}

const asked =
  (serve: ReturnType<typeof createWellKnown>) =>
  async (host: string | undefined, url: string, method = 'GET') => {
    const sent = { status: 0, headers: {} as Readonly<Record<string, unknown>>, body: '' }
    const res = {
      writeHead: (status: number, headers: Readonly<Record<string, unknown>>) => {
        Object.assign(sent, { status, headers })
        return res
      },
      end: (body: string | Buffer = '') => Object.assign(sent, { body: String(body) }),
    }
    const socket = { remoteAddress: '192.0.2.1' }
    await serve({ method, url, headers: { host }, socket } as IncomingMessage, res as unknown as ServerResponse)
    return sent
  }
const ask = asked(createWellKnown(options))

describe('the files that programs look for below /.well-known/', () => {
  it('have no files for apps on a blocked domain: an app would open its links without asking here', async () => {
    for (const path of [appleAt, androidAt]) expect((await ask('blocked.example.com', path)).status).to.equal(404)
  })

  it('are those of the branded domain, as JSON', async () => {
    const found = await ask('go.example.com', appleAt)
    expect(found.status).to.equal(200)
    expect(found.headers).to.include({ 'Content-Type': 'application/json', 'Content-Length': found.body.length })
    expect(JSON.parse(found.body)).to.deep.equal({ applinks: apple })
    const { body } = await ask('go.example.com', `${androidAt}?checked=1`)
    expect(JSON.parse(body)).to.have.nested.property('[0].target.package_name', 'com.example.app')
  })

  it('are read on request and when the domain has changed, and only those of a few hundred domains are kept', async () => {
    const read: number[] = []
    let position = 7n
    const ask = asked(
      createWellKnown({
        ...options,
        domains: { byHost: (host) => ({ id: Number(host), position }) as KnownDomain },
        findApps: (id) => {
          read.push(id)
          return Promise.resolve({ apple, android })
        },
      }),
    )
    const { body } = await ask('1', appleAt)
    expect(await ask('1', appleAt)).to.deep.include({ status: 200, body })
    expect(read).to.deep.equal([1])
    position = 8n
    await ask('1', appleAt)
    expect(read).to.deep.equal([1, 1])
    for (let id = 2; id < 500; id++) await ask(String(id), appleAt)
    await ask('1', appleAt)
    expect(read.filter((id) => id === 1)).to.have.length(3)
  })

  it('are 503 while the database is not there', async () => {
    const ask = asked(createWellKnown({ ...options, findApps: () => Promise.reject(new Unavailable('down')) }))
    expect((await ask('go.example.com', appleAt)).status).to.equal(503)
    expect((await ask('links.example', appleAt)).status).to.equal(404)
  })

  it('are missing where the owner has no apps, on other hosts, and under any other name', async () => {
    for (const [host, url] of [
      ['plain.example.com', appleAt],
      ['plain.example.com', androidAt],
      ['links.example', appleAt],
      [undefined, androidAt],
      ['go.example.com', '/.well-known/'],
      ['go.example.com', '/.well-known/toString'],
      ['go.example.com', '/.well-known/__proto__'],
      ['go.example.com', `${appleAt}/`],
      ['go.example.com', `${appleAt}.json`],
      ['go.example.com', '/.well-known/security.txt'],
    ] as const)
      expect(await ask(host, url), `${host}${url}`).to.deep.include({ status: 404, body: '' })
  })

  it('answer HEAD without a body, and refuse methods that change something', async () => {
    const { headers } = await ask('go.example.com', appleAt)
    expect(await ask('go.example.com', appleAt, 'HEAD')).to.deep.equal({ status: 200, headers, body: '' })
    expect((await ask('go.example.com', appleAt, 'POST')).status).to.equal(405)
  })

  it('say on every host where vulnerabilities are reported, if the operator says so', async () => {
    const contact = 'mailto:security@example.com'
    const ask = asked(createWellKnown({ ...options, contact }))
    for (const host of ['go.example.com', 'links.example'])
      expect((await ask(host, '/.well-known/security.txt')).body).to.equal(
        `Contact: ${contact}\nExpires: 2026-11-28T00:00:00.000Z\n`,
      )
  })
})
