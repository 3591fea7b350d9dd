import { expect } from 'chai'
import { startTestApp, type TestApp } from '../support/app.ts'
import type { Answer } from '../support/client.ts'
import { samePage } from '../support/session.ts'
import { lang } from '../../src/web/core/texts.ts'
import { problem, sentenceOf } from '../../src/lib/problems/problem.ts'
import { told } from '../../src/web/core/messages.ts'

const url = 'https://example.com/'
const password = 'correct horse 1'
const long = (n: number) => 'x'.repeat(n)

/** Invalid input, as the forms of the dashboard send it. */
const mistakes: readonly (readonly [method: 'post' | 'put', path: string, body: object])[] = [
  ['post', '/api/url/add', { url, custom: 'taken' }],
  ['post', '/api/url/add', { url: '' }],
  ['post', '/api/url/add', { url: 'nowhere' }],
  ['post', '/api/url/add', { url: 'https://ann:secret@example.com' }],
  ['post', '/api/url/add', { url: `${url}${long(3000)}` }],
  ['post', '/api/url/add', { url: 'OWN' }],
  ['post', '/api/url/add', { url, custom: 'two words' }],
  ['post', '/api/url/add', { url, custom: 'api' }],
  ['post', '/api/url/add', { url, expiry: '2020-01-01' }],
  ['post', '/api/url/add', { url, expiry: 'soon' }],
  ['post', '/api/url/add', { url, max_clicks: 0 }],
  ['post', '/api/url/add', { url, geotarget: [{ location: 'Germany', link: 'https://example.com/a b' }] }],
  ['post', '/api/url/add', { url, variants: [{ url, weight: 1 }] }],
  ['post', '/api/url/add', { url, tags: ['a,b'] }],
  ['post', '/register', { email: 'ann@example.com', password }],
  ['post', '/register', { email: 'ann', password }],
  ['post', '/register', { email: 'bob@example.com', password: 'short' }],
  ['post', '/api/session', { email: 'ann@example.com', password: 'wrong' }],
  ['post', '/api/campaign/add', { name: '', slug: 'two words' }],
  ['post', '/api/campaign/add', { name: 'Spring', slug: 'taken' }],
  ['post', '/api/channel/add', { name: '' }],
  ['post', '/api/channel/add', { name: 'News', color: 'red' }],
  ['post', '/api/domain/add', { domain: 'name' }],
  ['post', '/api/domain/add', { domain: 'https://192.0.2.1' }],
  ['post', '/api/domain/add', { domain: 'https://go.example.com/path' }],
  ['post', '/api/domain/add', { domain: 'https://com' }],
  ['post', '/api/domain/add', { domain: 'https://taken.example.com' }],
  ['post', '/api/pixel/add', { type: 'gtmpixel', name: 'Shop', tag: 'x' }],
  ['post', '/api/webhook/add', { url: 'https://192.168.0.1/' }],
  ['post', '/api/key/add', { name: 'Robot', scopes: [] }],
  ['post', '/api/key/add', { name: 'Robot', scopes: ['read'], addresses: ['here'] }],
  ['post', '/api/qr/add', { type: 'text', data: '' }],
  ['post', '/api/overlay/add', { type: 'poll', name: 'Poll' }],
  ['put', '/api/account/update', { email: 'new@example.com', current_password: 'wrong' }],
  ['post', '/api/account/totp', { secret: 'A'.repeat(32), code: '000000', current_password: password }],
]

describe('errors of the API in the dashboard', () => {
  let app: TestApp
  const said: Answer['json'][] = []
  before(async () => {
    app = await startTestApp()
    const registered = await app.post('/register', { body: { email: 'ann@example.com', password } })
    const key = String(registered.json['api_key'])
    const send = (method: 'post' | 'put', path: string, body: object): Promise<Answer> =>
      app[method](path, { body, ...(path === '/api/session' ? { headers: samePage(app.address) } : { key }) })
    for (const [path, body] of [
      ['/api/url/add', { url, custom: 'taken' }],
      ['/api/campaign/add', { name: 'Taken', slug: 'taken' }],
      ['/api/domain/add', { domain: 'https://taken.example.com' }],
    ] as const)
      expect((await send('post', path, body)).status).to.equal(200)
    for (const [method, path, body] of mistakes) {
      const own = 'url' in body && body.url === 'OWN' ? { url: `${app.app.address}/taken` } : body
      const { status, json } = await send(method, path, own)
      expect(status, `${path} ${JSON.stringify(body)}`).to.be.within(400, 401)
      said.push(json)
    }
  })
  after(() => app.close())
  afterEach(() => void (lang.value = 'en'))

  for (const language of ['de', 'es', 'fr'] as const)
    it(`is said in the language of its reader: ${language}`, async () => {
      lang.value = language
      const english: string[] = []
      for (const json of said) {
        const message = String(json['message'])
        const { words, message: whole } = await told(json)
        if (message.endsWith(words) || words.startsWith('This ')) english.push(message)
        expect(words).not.to.match(/[{}]/)
        expect(whole.endsWith(words)).to.equal(true)
      }
      expect(english).to.deep.equal([])
    })

  it('is a sentence about the field that is seen, and names one that is not', async () => {
    const say = (given: Parameters<typeof sentenceOf>[0]) => told({ ...given, message: sentenceOf(given) })
    expect(await say(problem('forbidden_characters', { what: 'comma', field: 'tags.0' }))).to.deep.equal({
      field: 'tags',
      words: 'This must not contain a comma.',
      message: '`tags.0` must not contain a comma.',
    })
    expect(await say(problem('not_found', { what: 'link' }))).to.deep.equal({
      field: undefined,
      words: 'Link not found.',
      message: 'Link not found.',
    })
    lang.value = 'fr'
    expect(await say(problem('too_long', { field: 'title', max: 1200 }))).to.deep.equal({
      field: 'title',
      words: `${(1200).toLocaleString('fr')} caractères au plus.`,
      message: `title: ${(1200).toLocaleString('fr')} caractères au plus.`,
    })
    expect((await told({ code: 'something_new', params: {}, message: '`x` is something new.' })).words).to.equal(
      '`x` is something new.',
    )
  })
})
