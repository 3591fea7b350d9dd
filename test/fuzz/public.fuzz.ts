import { expect } from 'chai'
import fc from 'fast-check'
import { requestHeaders } from '../../src/lib/strangers.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { repeatable, seed } from '../support/faults.ts'
import { type RawAnswer, send } from '../support/raw.ts'
import { settleTurns } from '../support/turns.ts'
import { longText } from './schema.ts'

/** s: a third of what the API has */
const duration = Math.ceil(Number(process.env['FUZZ_SECONDS'] ?? 60) / 3)

const paths = [
  ...[
    '/',
    '/plain',
    '/plain/1',
    '/locked',
    '/forward',
    '/qr/plain',
    '/qr/plain.png',
    '/qr/plain/go',
    '/r/plain',
    '/u/ann',
    '/overlay/1',
  ],
  ...[
    '/report',
    '/account/reset',
    '/account/verify',
    '/account/nothing',
    '/dashboard',
    '/dashboard/links',
    '/log/checkpoint',
    '/log/tile/0/000',
  ],
  ...['/openapi.json', '/docs', '/favicon.ico', '/healthz', '/readyz', '/nothing'],
]
/** fields of all forms */
const fields = ['password', 'link', 'reason', 'details', 'email', 't', 'token', 'name', 'answer', 'next']

const inPath = (text: string) => text.replaceAll(/\s/g, '%20')
const headers = fc.dictionary(fc.constantFrom(...Object.keys(requestHeaders)), longText(15_000), { maxKeys: 3 })
const query = fc
  .array(fc.tuple(fc.constantFrom('t', 'utm_source', 'at', 'size', 'format', 'link'), longText(8_000)), {
    maxLength: 2,
  })
  .map((pairs) => pairs.map(([name, value]) => `${name}=${inPath(value)}`).join('&'))
const form = fc
  .array(fc.tuple(fc.constantFrom(...fields), longText(66_000)), { maxLength: 3 })
  .map((pairs) => new URLSearchParams(pairs).toString())

const requests = fc.record({
  method: fc.constantFrom('GET', 'GET', 'HEAD', 'POST', 'OPTIONS', 'PUT'),
  path: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...paths) },
    fc
      .tuple(fc.constantFrom('/', '/qr/', '/r/', '/u/', '/log/', '/dashboard/'), longText(4_000))
      .map((both) => both.map(inPath).join('')),
  ),
  query: fc.oneof(fc.constant(''), query),
  headers: fc.oneof(fc.constant({}), headers),
  body: fc.oneof(fc.constant(''), form, longText(70_000)),
})

/**
 * A server may answer before it has read a request that is too large, and close. It does not know yet that this is a
 * HEAD request, whose answer has no body.
 */
const ends = new Set(['ECONNRESET', 'EPIPE', 'HPE_CLOSED_CONNECTION'])

describe('public pages, with long values everywhere', function () {
  this.timeout(duration * 1000 + 120_000)
  let app: TestApp
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off', TRUST_PROXY: '1' })
    const { key } = await app.register('ann', 'ann')
    const url = 'https://example.com/'
    const geotarget = [{ location: 'Canada', link: `${url}ca` }]
    const devicetarget = [{ device: 'iPhone', link: `${url}phone` }]
    const languagetarget = [{ language: 'fr', link: `${url}fr` }]
    for (const body of [
      { url, custom: 'plain', geotarget, devicetarget, languagetarget },
      { url, custom: 'locked', password: 'secret' },
      { url, custom: 'forward', forward: true, parameters: [{ name: 'a', value: 'b' }] },
    ])
      expect((await app.post('/api/url/add', { key, body })).status).to.equal(200)
  })
  after(() => app.close())

  it(`respond without 5xx, and delay no other request, for ${duration} s (${repeatable})`, async () => {
    const statuses = new Map<number, number>()
    const property = fc.asyncProperty(requests, async ({ method, path, query: asked, headers: sent, body }) => {
      const began = performance.now()
      const form = { 'Content-Type': 'application/x-www-form-urlencoded', ...sent }
      const answer: RawAnswer | undefined = await send(app.address, method, asked === '' ? path : `${path}?${asked}`, {
        headers: body === '' ? sent : form,
        body,
      }).catch((error: NodeJS.ErrnoException) => {
        if (ends.has(error.code ?? '')) return undefined
        throw error
      })
      const status = answer?.status ?? 0
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      expect(status, answer?.text).to.be.below(500)
      await settleTurns(began)
    })
    await fc.assert(property, {
      seed,
      numRuns: 1_000_000,
      interruptAfterTimeLimit: duration * 1000,
      markInterruptAsFailure: false,
    })
    // a run whose requests are all refused would prove nothing
    expect([...statuses.keys()]).to.include.members([200, 404])
  })
})
