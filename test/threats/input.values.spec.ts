import { expect } from 'chai'
import pLimit from 'p-limit'
import fc from 'fast-check'
import { filterShape } from '../../src/http/statistics/filters.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { long as thorough, repeatable, seed } from '../support/faults.ts'
import { anyText } from '../support/text.ts'

const long = 'https://example.com/'
const timed = async <T>(work: () => Promise<T>) => {
  const start = performance.now()
  return { answer: await work(), ms: performance.now() - start }
}

describe('hostile input', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
  })
  after(() => app.close())
  const add = (body: unknown) => app.post('/api/url/add', { key, body })

  describe('as SQL', () => {
    const injections = [
      "'",
      "1'--",
      "1' or '1'='1",
      '1; drop table read.links',
      '1) union select email from read.accounts--',
      'pg_sleep(10)',
      "'; select pg_sleep(10);--",
      '1/**/or/**/1=1',
      '$1',
      '?',
      '??',
      ':name',
      '\\',
      '%27%20or%201=1',
      '{"a":1}',
      '(select 1)',
      'id desc, (select 1)',
      'date;--',
      "click' desc--",
    ]

    it('is treated as text only', async () => {
      const before = await app.get('/api/urls', { key })
      for (const sql of injections) {
        const at = encodeURIComponent(sql)
        const names = ['limit', 'page', 'order', 'q', 'short', 'domain', 'campaign', 'channel', 'sort', at]
        await Promise.all(
          names.map(async (name) => {
            const { answer, ms } = await timed(() => app.get(`/api/urls?${name}=${at}`, { key }))
            // an id is never text
            expect(answer.status, `${name}=${sql}`).to.equal(['campaign', 'channel'].includes(name) ? 400 : 200)
            expect(ms).to.be.below(5000)
          }),
        )
        for (const [name, wanted] of [
          ['limit', 'limit[]'],
          ['limit', 'limit[0]'],
          ['order', 'order[$ne]'],
        ])
          expect((await app.get(`/api/urls?${wanted}=${at}`, { key })).text, name).to.equal(before.text)
        expect((await app.get(`/api/url/${at}`, { key })).status).to.equal(404)
        expect((await app.visit(`/${at}`)).status).to.equal(404)
        expect((await app.get('/api/account', { key: sql })).status).to.equal(401)
        expect((await app.post('/register', { body: { email: sql, password: sql } })).status).to.equal(400)
      }
      expect((await app.get('/api/urls', { key })).text).to.equal(before.text)
    })

    it('is stored and returned as it was written', async () => {
      const title = injections.join(' | ').slice(0, 255)
      const parameters = injections.slice(0, 20).map((name) => ({ name, value: name }))
      const { json } = await add({ url: long, title, parameters, description: title, password: injections[2] })
      const { json: read } = await app.get(`/api/url/${json['id']}`, { key })
      expect(read['details']).to.include({ title, description: title })
      expect(read['details'].parameters).to.deep.equal(parameters)
      const { headers } = await app.visit(new URL(json['short']).pathname)
      expect(headers.get('Location')).to.equal(null)
    })
  })

  describe('as a number', () => {
    const numbers =
      '0 -1 1.5 1e3 1e309 9007199254740993 9223372036854775807 9223372036854775808 18446744073709551616 NaN Infinity 0x1f ١٢ １２'
        .split(' ')
        .concat('9'.repeat(1000), '-0', ' 1', '1 ', '+1', '')

    it('never makes an id overflow', async () => {
      for (const number of numbers.filter((text) => text.trim() !== '1' && text !== ''))
        for (const [method, path] of [
          ['GET', `/api/url/${encodeURIComponent(number)}`],
          ['DELETE', `/api/url/${encodeURIComponent(number)}/delete`],
        ] as const)
          expect((await app.ask(method, path, { key })).status, `${method} ${number}`).to.equal(404)
    })

    it('never makes a page number overflow', async () => {
      const huge = '9007199254740993'
      const pairs = numbers.flatMap((number) => [
        [number, '1'],
        [number, huge],
        ['15', number],
        [huge, number],
      ])
      for (const [limit = '', page = ''] of pairs) {
        const asked = `limit=${encodeURIComponent(limit)}&page=${encodeURIComponent(page)}`
        const { status, json } = await app.get(`/api/urls?${asked}`, { key })
        expect(status, asked).to.equal(200)
        const { urls: _, ...envelope } = json['data']
        for (const [name, n] of Object.entries(envelope))
          expect(Number.isSafeInteger(n), `${name} of ${asked}`).to.equal(true)
        expect(envelope.perpage).to.be.within(1, 1000)
      }
    })

    const runs = thorough ? 10_000 : 100
    // a filter that cannot be right is refused, and so is text that no database can store
    const names = [
      'archived',
      'at',
      'campaign',
      'channel',
      'cursor',
      'domain',
      'fields',
      'from',
      'q',
      'short',
      'tag',
      'to',
    ]
    const filters = new Set(names)
    it(`is never an error in any of ${runs} made-up queries (${repeatable})`, async function () {
      this.timeout(180_000 + runs * 200)
      const word = fc.oneof(
        fc.constantFrom('limit', 'page', 'order', 'date', 'click', '__proto__', '%', '%zz', '%00', '&', '=', '[]', '+'),
        fc.constantFrom(...numbers),
        anyText({ maxLength: 8 }).map((text) => encodeURIComponent(text.toWellFormed())),
        fc.string({ maxLength: 8 }).map((text) => text.replaceAll('#', '')),
      )
      const queries = fc.sample(fc.array(fc.tuple(word, word), { maxLength: 4 }), { numRuns: runs, seed })
      const texts = queries.map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'))
      while (texts.length > 0)
        await Promise.all(
          texts.splice(0, 20).map(async (text) => {
            const { status, json } = await app.get(`/api/urls?${text}`, { key })
            const isFiltered = [...new URLSearchParams(text).keys()].some((name) => filters.has(name))
            if (isFiltered && status === 400) return
            expect([status, json['error']], text).to.deep.equal([200, '0'])
          }),
        )
    })
  })

  describe('at the limits of a query', () => {
    const refused = async (query: string, field: string) => {
      const { status, json } = await app.get(`/api/${query}`, { key })
      expect([status, json['error']], query).to.deep.equal([400, 1])
      expect(json['message'], query).to.match(new RegExp(`^\`${field}\` `))
    }

    it('refuses text that no database can store', async () => {
      for (const nul of ['%00', 'a%00b', '%00%00'])
        for (const name of ['q', 'short']) await refused(`urls?${name}=${nul}`, name)
      for (const list of ['stats', 'visits'])
        for (const name of Object.keys(filterShape)) await refused(`${list}?${name}=a%00b`, name)
    })

    it('answers every other extreme of every parameter without an error of its own', async () => {
      const { id } = (await add({ url: long })).json
      const extremes = [
        '%00',
        'a%00b',
        '%ED%A0%80',
        '%FF',
        '%F4%8F%BF%BF',
        '%u0000',
        '%0a',
        '%25'.repeat(500),
        '\u{10ffff}',
      ]
      const lists = ['urls', 'domains', 'pixels', 'qr', 'overlay', 'splash', 'bio', 'campaigns', 'channels']
      const asked = [
        ...['limit', 'page', 'order', 'q', 'short', 'domain', 'campaign', 'channel'].map((name) => `urls?${name}=`),
        ...lists.flatMap((list) => ['limit', 'page'].map((name) => `${list}?${name}=`)),
        ...['from', 'to', 'interval', 'by'].flatMap((name) => [`account/stats?${name}=`, `url/${id}/stats?${name}=`]),
      ]
      // not all at once: a slow machine would answer some with 503
      const inTurn = pLimit(20)
      const check = async (path: string) =>
        expect((await app.get(`/api/${path}`, { key })).status, path).to.be.oneOf([200, 400])
      await Promise.all(asked.flatMap((path) => extremes.map((extreme) => inTurn(() => check(path + extreme)))))
    })

    it('counts from the first to the last day that a date can name', async () => {
      const stats = async (query: string) => (await app.get(`/api/account/stats?${query}`, { key })).json
      for (const query of [
        'from=9999-01-01&to=9999-12-31',
        'from=9999-12-31&to=9999-12-31&interval=hour',
        'from=0001-01-01&to=0001-12-31',
        'from=0001-01-01T00:00:00Z&to=0001-01-02&interval=hour',
        'to=0001-01-15',
      ])
        expect((await stats(query))['error'], query).to.equal(0)
      expect((await stats('from=9999-12-31&to=9999-12-31'))['data'].to).to.equal('9999-12-31 23:59:59')
      expect((await stats('to=0001-01-15'))['data'].from).to.equal('0001-01-01 00:00:00')
      const parameters = ['from', 'to']
      const outside = ['0000-01-01', '0000-06-30', '9999-12-31T23:59:59-01:00', '0001-01-01T00:00:00%2B01:00']
      for (const name of parameters) for (const date of outside) await refused(`account/stats?${name}=${date}`, name)
      await refused('account/stats?from=9999-12-31T23:59:59Z', 'from')
      await refused('account/stats?to=0001-01-01T00:00:00Z', 'from')
      await refused('account/stats?from=0001-01-01&to=9999-12-31&interval=month', 'interval')
    })

    it('keeps an expiry that every engine can store', async () => {
      const { json } = await add({ url: long, expiry: '9999-12-31' })
      const { details } = (await app.get(`/api/url/${json['id']}`, { key })).json
      expect(details.expiry).to.equal('9999-12-31 23:59:59')
      for (const expiry of ['9999-12-31T23:59:59-01:00', '0000-01-01']) {
        const { status, json } = await add({ url: long, expiry })
        expect([status, json['message']]).to.deep.equal([400, json['message']])
        expect(json['message']).to.match(/^`expiry` /)
      }
    })
  })
})
