import { expect } from 'chai'
import { startTestApp, type TestApp } from '../support/app.ts'

const mostBytes = 9 * 1024 * 1024
const changes = 155

/** A link whose changes have 60 KB each, before and after. */
describe('a history of large changes', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp({ REGISTRATION: 'open', RATE_LIMIT_PER_MINUTE: '0' })
    ;({ key } = await app.register())
    await app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'large' } })
    const countries = ['ca', 'de', 'fr', 'es', 'it', 'pl', 'nl', 'be', 'at', 'ch', 'se', 'no', 'fi', 'dk', 'pt']
    for (let n = 0; n < changes; n++) {
      const geotarget = [
        ...countries,
        'gr',
        'ie',
        'cz',
        'sk',
        'hu',
        'ro',
        'bg',
        'hr',
        'si',
        'ee',
        'lv',
        'lt',
        'us',
      ].map((location) => ({ location, link: `https://example.com/${n}/${'x'.repeat(2000)}` }))
      const { status, text } = await app.put('/api/url/1/update', {
        key,
        body: { url: 'https://example.com/', geotarget },
      })
      expect(status, text).to.equal(200)
    }
  })
  after(() => app.close())

  const lists = [
    ['/api/url/1/history', 'events', changes + 1],
    ['/api/account/history', 'events', changes + 3],
    ['/api/url/1/revisions', 'revisions', changes + 1],
  ] as const

  for (const [path, name, entries] of lists)
    it(`has pages of some megabytes at ${path}, and a cursor to the rest`, async () => {
      const seen: number[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined;) {
        const { status, text, json } = await app.get(`${path}?limit=1000&cursor=${cursor}`, { key })
        expect(status, text.slice(0, 200)).to.equal(200)
        expect(text.length, 'length of the page').to.be.below(mostBytes)
        const data = json['data'] as Record<string, unknown>
        seen.push(...(data[name] as { readonly event: number }[]).map(({ event }) => event))
        cursor = data['next_cursor'] as string | undefined
      }
      expect(seen).to.have.length(entries)
      expect(seen).to.deep.equal([...new Set(seen)].toSorted((a, b) => b - a))
    })

  for (const [path] of lists)
    it(`refuses a numbered page of more at ${path}, and has it without the large columns`, async () => {
      const { status, json } = await app.get(`${path}?limit=1000`, { key })
      expect([status, json['code'], json['field']]).to.deep.equal([400, 'too_large', 'limit'])
      const narrow = await app.get(`${path}?limit=1000&fields=event`, { key })
      expect(narrow.status).to.equal(200)
    })
})
