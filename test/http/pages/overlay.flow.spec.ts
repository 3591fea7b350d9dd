import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'

const nothing = {
  message: '',
  label: '',
  link: '',
  image: '',
  color: '#3b82f6',
  position: 'bl',
  question: '',
  options: [],
  coupon: '',
}
const message = { type: 'message', name: 'Hello', message: 'Read our new guide.' }
const poll = { type: 'poll', name: 'Drinks', question: 'Tea or coffee?', options: ['Tea', 'Coffee'] }

describe('the overlay API', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp()
    ;({ key } = await app.register())
  })
  after(() => app.close())

  const add = (body: object, as = key) => app.post('/api/overlay/add', { key: as, body })
  const create = async (body: object) => Number((await add(body)).json['id'])
  const update = (id: number, body: object) => app.put(`/api/overlay/${id}/update`, { key, body })
  const details = async (id: number) => (await app.get(`/api/overlay/${id}`, { key })).json['details']
  const head = () => app.domainHead()
  const refusal = async (body: object) => {
    const { status, json } = await add(body)
    expect([status, json['error']]).to.deep.equal([400, 1])
    return String(json['message'])
  }

  it('creates overlays of all six types and returns them as they were sent', async () => {
    const button = { label: 'Read', link: 'https://example.com/guide', color: '#112233', position: 'tr' }
    const overlays = [
      { ...message, ...button },
      { type: 'contact', name: 'Contact', message: 'Write to us', label: 'Send' },
      { ...poll, color: '#aabbcc' },
      { type: 'newsletter', name: 'News' },
      { type: 'image', name: 'Banner', image: 'https://cdn.example.com/a.png', link: 'https://example.com/' },
      { type: 'coupon', name: 'Coupon', coupon: 'SPRING10', message: 'Ten per cent off' },
    ]
    for (const overlay of overlays) {
      const answer = await add(overlay)
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.json).to.have.all.keys('error', 'id', 'revision')
      const { id } = answer.json
      const { date, ...rest } = await details(Number(id))
      expect(rest).to.deep.equal({ id, ...nothing, ...overlay, revision: 0 })
      expect(date).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    }
  })

  it('lists overlays newest first under `cta`', async () => {
    const own = await app.register()
    for (const name of ['a', 'b', 'c']) await add({ ...message, name }, own.key)
    const { json } = await app.get('/api/overlay?limit=2&page=2', { key: own.key })
    expect(json['error']).to.equal('0')
    expect(json['data']).to.deep.include({ result: 3, perpage: 2, currentpage: 2, nextpage: 2, maxpage: 2 })
    expect(json['data'].cta).to.have.length(1)
    expect(json['data'].cta[0]).to.have.all.keys('id', 'type', 'name', 'date', 'revision')
    expect(json['data'].cta[0]).to.include({ type: 'message', name: 'a' })
  })

  it('accepts a color with three or six digits, with or without the hash', async () => {
    for (const [sent, stored] of [
      ['#ABC', '#aabbcc'],
      ['abc', '#aabbcc'],
      ['#A1B2C3', '#a1b2c3'],
      ['a1b2c3', '#a1b2c3'],
    ])
      expect(await details(await create({ ...message, color: sent }))).to.include({ color: stored })
    for (const color of ['red', '#ab', '#abcd', '#12345g', 'rgb(1,2,3)', '##abc', '#abc;}'])
      expect(await refusal({ ...message, color })).to.match(/^`color` must be a HEX color, for example #1d4ed8 or #fff/)
  })

  it('names the fields that a type requires', async () => {
    const bare = (type: string, more = {}) => refusal({ type, name: 'x', ...more })
    expect(await bare('message')).to.equal('`message` is required for an overlay of type message.')
    expect(await bare('image')).to.equal('`image` is required for an overlay of type image.')
    expect(await bare('coupon', { coupon: '' })).to.equal('`coupon` is required for an overlay of type coupon.')
    expect(await bare('poll', { options: ['a', 'b'] })).to.equal('`question` is required for an overlay of type poll.')
    for (const options of [[], ['a'], null])
      expect(await bare('poll', { question: 'Tea?', options })).to.equal(
        '`options` must have at least 2 entries for an overlay of type poll.',
      )
  })

  it('names a valid value for an invalid field', async () => {
    expect(await refusal({ name: 'x' })).to.match(/^`type` is required/)
    expect(await refusal({ type: 'popup', name: 'x' })).to.match(
      /^`type` must be one of message, contact, poll, newsletter, image, coupon/,
    )
    expect(await refusal({ type: 'contact' })).to.match(/^`name` is required/)
    expect(await refusal({ ...message, position: 'middle' })).to.match(/^`position` must be bl, br, tl or tr/)
    expect(await refusal({ ...message, link: 'javascript:alert(1)' })).to.match(/^`link` must be a web address/)
    expect(await refusal({ ...message, image: 'data:image/png;base64,AA' })).to.match(/^`image` must be a web address/)
    const many = Array.from({ length: 11 }, (_, i) => `option ${i}`)
    expect(await refusal({ ...poll, options: many })).to.match(/^`options` must have at most 10 entries/)
    expect(await refusal({ ...poll, options: ['Tea', 'Tea'] })).to.match(
      /^`options` must not contain the same answer twice/,
    )
    expect(await refusal({ ...poll, options: ['Tea', ''] })).to.match(/^`options\.1` must not be empty/)
    expect(await refusal({ ...poll, options: 'Tea' })).to.match(/^`options` must be an array of strings/)
    expect(await refusal({ ...message, message: 'x'.repeat(2001) })).to.match(
      /^`message` must be at most 2,000 characters/,
    )
  })

  it('updates only the fields sent, also the type, and rejects an incomplete result', async () => {
    const id = await create(poll)
    expect((await update(id, { options: ['Tea', 'Coffee', 'Water'] })).json).to.deep.equal({
      error: 0,
      message: 'CTA overlay has been updated.',
      revision: 1,
    })
    for (const body of [{ question: '' }, { options: null }, { type: 'image' }])
      expect((await update(id, body)).status).to.equal(400)
    expect((await update(id, { type: 'coupon', coupon: 'TEA', color: '', position: null })).status).to.equal(200)
    expect(await details(id)).to.deep.include({
      ...nothing,
      ...poll,
      type: 'coupon',
      coupon: 'TEA',
      options: ['Tea', 'Coffee', 'Water'],
    })
  })

  it('emits no event when an update changes nothing', async () => {
    const id = await create(poll)
    const before = await head()
    expect((await update(id, { options: ['Tea', 'Coffee'], color: '3B82F6' })).status).to.equal(200)
    expect(await head()).to.equal(before)
  })

  it('returns 404 after deletion and for another account', async () => {
    const id = await create(message)
    const other = await app.register()
    const missing = await app.get('/api/overlay/999999', { key })
    const foreign = [
      await app.get(`/api/overlay/${id}`, { key: other.key }),
      await app.put(`/api/overlay/${id}/update`, { key: other.key, body: { name: 'Mine' } }),
      await app.put(`/api/overlay/${id}/update`, { key: other.key, body: { message: '' } }),
      await app.del(`/api/overlay/${id}/delete`, { key: other.key }),
    ]
    const gone = await app.del(`/api/overlay/${id}/delete`, { key })
    expect(gone.json).to.deep.equal({
      error: 0,
      message: 'CTA overlay has been deleted.',
      undo: { method: 'POST', path: `/api/overlay/${id}/restore` },
    })
    const after = [await app.del(`/api/overlay/${id}/delete`, { key }), await app.get(`/api/overlay/${id}`, { key })]
    for (const answer of [...foreign, ...after]) {
      expect(answer.status).to.equal(404)
      expect(answer.text).to.equal(missing.text)
    }
  })
})
