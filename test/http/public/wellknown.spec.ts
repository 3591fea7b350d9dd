import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { createWellKnown } from '../../../src/http/public/wellknown.ts'
import type { KnownDomain } from '../../../src/queries/domains/domain.ts'

const apple = { details: [{ appIDs: ['9JA89QQLNQ.com.example.app'], components: [{ '/': '/buy/*' }] }] }
const android = [{ package_name: 'com.example.app', sha256_cert_fingerprints: ['AA'] }]
const domains: Readonly<Record<string, Partial<KnownDomain>>> = {
  'go.example.com': { apple, android },
  'plain.example.com': { apple: { details: [] }, android: [] },
}
const appleAt = '/.well-known/apple-app-site-association'
const androidAt = '/.well-known/assetlinks.json'

const ask = (
  host: string | undefined,
  url: string,
  { method = 'GET', contact = undefined as string | undefined } = {},
) => {
  const sent = { status: 0, headers: {} as Readonly<Record<string, unknown>>, body: '' }
  const res = {
    writeHead: (status: number, headers: Readonly<Record<string, unknown>>) => {
      Object.assign(sent, { status, headers })
      return res
    },
    end: (body = '') => Object.assign(sent, { body }),
  }
  const serve = createWellKnown({
    domains: { byHost: (name) => domains[name] as KnownDomain | undefined },
    contact,
    now: () => new Date('2026-06-01T12:00:00Z'),
  })
  serve({ method, url, headers: { host } } as IncomingMessage, res as unknown as ServerResponse)
  return sent
}

describe('the files that programs look for below /.well-known/', () => {
  it('are those of the branded domain, as JSON', () => {
    const found = ask('go.example.com', appleAt)
    expect(found.status).to.equal(200)
    expect(found.headers).to.include({ 'Content-Type': 'application/json', 'Content-Length': found.body.length })
    expect(JSON.parse(found.body)).to.deep.equal({ applinks: apple })
    const { body } = ask('go.example.com', `${androidAt}?checked=1`)
    expect(JSON.parse(body)).to.have.nested.property('[0].target.package_name', 'com.example.app')
  })

  it('are the same file until the apps change', () => {
    const { body } = ask('go.example.com', appleAt)
    expect(ask('go.example.com', appleAt).body).to.equal(body)
  })

  it('are missing where the owner has no apps, on other hosts, and under any other name', () => {
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
      expect(ask(host, url), `${host}${url}`).to.deep.include({ status: 404, body: '' })
  })

  it('answer HEAD without a body, and refuse what would change something', () => {
    const { headers } = ask('go.example.com', appleAt)
    expect(ask('go.example.com', appleAt, { method: 'HEAD' })).to.deep.equal({ status: 200, headers, body: '' })
    expect(ask('go.example.com', appleAt, { method: 'POST' }).status).to.equal(405)
  })

  it('say on every host where vulnerabilities are reported, if the operator says so', () => {
    const contact = 'mailto:security@example.com'
    for (const host of ['go.example.com', 'links.example'])
      expect(ask(host, '/.well-known/security.txt', { contact }).body).to.equal(
        `Contact: ${contact}\nExpires: 2026-11-28T00:00:00.000Z\n`,
      )
  })
})
