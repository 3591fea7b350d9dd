import { expect } from 'chai'
import type { TestApp } from '../../support/app.ts'
import { bioClient, bioSetUp, fullPage } from '../../support/clients/bio.ts'

describe('the bio page API', () => {
  const { stage, start } = bioSetUp()
  let app: TestApp
  let key: string
  before(async () => void ({ app, key } = await start()))
  after(stage.clear)
  const head = () => app.domainHead()
  const { add, create, addLink, update, remove, details, heading, refusal, free } = bioClient(
    () => app,
    () => key,
  )

  it('creates a bio page and returns it as it was sent', async () => {
    const alias = 'AnnSmith'
    const answer = await add({ ...fullPage, alias })
    expect(answer.status).to.equal(200)
    const { id } = answer.json
    const link = `${app.app.baseUrl}/${alias}`
    expect(answer.json).to.deep.equal({ error: 0, id, link, revision: 0 })
    const read = await app.get(`/api/bio/${id}`, { key })
    expect(read.json).to.have.all.keys('error', 'details', 'data')
    const { date, links, ...rest } = read.json['details']
    const { links: sent, ...page } = fullPage
    expect(rest).to.deep.equal({ id, alias, link, ...page, revision: 0 })
    expect(links).to.deep.equal(sent.map((entry, i) => ({ id: i + 1, ...entry, clicks: 0, uniqueClicks: 0 })))
    expect(date).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  })

  it('lists bio pages newest first under `bio`', async () => {
    const own = await app.register()
    for (const name of ['a', 'b', 'c']) await add({ name }, own.key)
    const { json } = await app.get('/api/bio?limit=2', { key: own.key })
    expect(json['error']).to.equal('0')
    expect(json['data']).to.deep.include({ result: 3, perpage: 2, currentpage: 1, nextpage: 2, maxpage: 2 })
    expect(json['data'].bio.map(({ name }: { name: string }) => name)).to.deep.equal(['c', 'b'])
    expect(json['data'].bio[0]).to.have.all.keys(
      ...['id', 'name', 'alias', 'title', 'link', 'date', 'views', 'clicks', 'revision'],
    )
  })

  describe("aliases shared with the links of the service's own host", () => {
    it('rejects an alias that a link or bio page has, in any case', async () => {
      const [one, two] = [free(), free()]
      await create({ alias: one })
      await addLink({ custom: two })
      const other = await app.register()
      for (const as of [key, other.key]) {
        const link = await addLink({ custom: one.toUpperCase() }, as)
        const page = await add({ alias: two.toUpperCase() }, as)
        for (const { status, json } of [link, page]) {
          expect(status).to.equal(400)
          expect(json['message']).to.include('alias is taken')
        }
      }
      const { id } = await create()
      expect((await update(id, { alias: two })).json['message']).to.include('alias is taken')
    })
    it('draws a random alias when none is requested', async () => {
      for (const body of [{}, { alias: '' }, { alias: null }])
        expect((await create(body)).path).to.match(/^\/[a-km-np-z2-9]{8}$/)
    })
    it('rejects reserved words', async () => {
      for (const alias of ['api', 'QR', 'login', 'a b', '-a', 'é', 'x'.repeat(65), '../a'])
        expect(await refusal({ alias }), alias).to.match(/^`alias` /)
    })
    it('gives an alias to one of several concurrent requests', async () => {
      const alias = free()
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, i) => (i % 2 ? add({ alias }) : addLink({ custom: alias }))),
      )
      const count = (expected: number) => answers.filter(({ status }) => status === expected).length
      expect([count(200), count(400)]).to.deep.equal([1, 9])
    })
    it('reserves an alias for its account after a rename or deletion', async () => {
      const [old, next] = [free(), free()]
      const { id } = await create({ alias: old })
      await update(id, { alias: next })
      const other = await app.register()
      const taken = async (alias: string) => {
        expect((await add({ alias }, other.key)).json['message']).to.include('alias is taken')
        expect((await addLink({ custom: alias }, other.key)).json['message']).to.include('alias is taken')
      }
      await taken(old)
      await remove(id)
      await taken(next)
      expect((await addLink({ custom: old })).status).to.equal(200)
      expect((await app.visit(`/${old}`)).status).to.equal(302)
      await create({ alias: next, title: 'Back' })
      expect(await heading(`/${next}`)).to.equal('Back')
    })
    it('changes the case of an alias without a new claim', async () => {
      const alias = free()
      const { id } = await create({ alias, title: 'Same' })
      expect((await update(id, { alias: alias.toUpperCase() })).status).to.equal(200)
      expect(await details(id)).to.include({
        alias: alias.toUpperCase(),
        link: `${app.app.baseUrl}/${alias.toUpperCase()}`,
      })
      expect(await heading(`/${alias}`)).to.equal('Same')
    })
  })

  it('updates only the fields sent; an empty string or null clears a field, except name and alias', async () => {
    const alias = free()
    const { id } = await create({ ...fullPage, alias })
    const answer = await update(id, {
      title: 'Ann S.',
      description: '',
      avatar: null,
      links: [fullPage.links[0]],
      alias: '',
    })
    expect(answer.json).to.deep.equal({ error: 0, message: 'Bio page has been updated.', revision: 1 })
    expect(await details(id)).to.deep.include({
      alias,
      name: fullPage.name,
      title: 'Ann S.',
      description: '',
      avatar: '',
      links: [{ id: 1, ...fullPage.links[0], clicks: 0, uniqueClicks: 0 }],
    })
    await update(id, { links: null, theme: '', color: null })
    expect(await details(id)).to.deep.include({ links: [], theme: 'paper', color: '#1d4ed8' })
    expect((await update(id, { name: '' })).json['message']).to.match(/^`name` must not be empty/)
  })

  it('emits no event when an update changes nothing', async () => {
    const alias = free()
    const { id } = await create({ ...fullPage, alias })
    const before = await head()
    expect((await update(id, { ...fullPage, alias })).status).to.equal(200)
    expect(await head()).to.equal(before)
  })

  it('returns 404 after deletion and for another account', async () => {
    const { id, path } = await create(fullPage)
    const other = await app.register()
    const missing = await app.get('/api/bio/999999', { key })
    const foreign = [
      await app.get(`/api/bio/${id}`, { key: other.key }),
      await update(id, { name: 'Mine' }, other.key),
      await update(id, { name: '' }, other.key),
      await remove(id, other.key),
    ]
    expect(await heading(path)).to.equal('Ann Smith')
    expect((await remove(id)).json).to.deep.equal({
      error: 0,
      message: 'Bio page has been deleted.',
      undo: { method: 'POST', path: `/api/bio/${id}/restore` },
    })
    const after = [await remove(id), await app.get(`/api/bio/${id}`, { key }), await update(id, { name: 'x' })]
    for (const answer of [...foreign, ...after]) {
      expect(answer.status).to.equal(404)
      expect(answer.text).to.equal(missing.text)
    }
  })

  it('names a valid value for an invalid field', async () => {
    expect((await app.post('/api/bio/add', { key, body: { links: [] } })).json['message']).to.match(
      /^`name` is required/,
    )
    expect((await app.post('/api/bio/add', { key, body: { name: 'x' } })).json['message']).to.match(
      /^`links` is required/,
    )
    expect(await refusal({ links: 'https://example.com' })).to.match(/^`links` must be an array of objects/)
    expect(await refusal({ links: Array(101).fill(fullPage.links[0]) })).to.match(
      /^`links` must have at most 100 entries/,
    )
    expect(await refusal({ links: [fullPage.links[0], { title: 'x', url: 'javascript:alert(1)' }] })).to.match(
      /^`links\.1\.url` must be a web address/,
    )
    expect(await refusal({ links: [{ url: 'https://example.com' }] })).to.match(/^`links\.0\.title` is required/)
    expect(await refusal({ links: [{ title: '', url: 'https://example.com' }] })).to.match(
      /^`links\.0\.title` must not be empty/,
    )
    expect(await refusal({ avatar: 'data:image/png;base64,AA' })).to.match(/^`avatar` must be a web address/)
    expect(await refusal({ theme: 'neon' })).to.match(/^`theme` must be one of paper, ink, sand, color/)
    expect(await refusal({ color: 'blue' })).to.match(/^`color` must be a HEX color/)
    expect(await refusal({ links: [{ id: 'x', title: 'x', url: 'https://example.com' }] })).to.match(/^`links\.0\.id` /)
    expect(await refusal({ title: 'x'.repeat(256) })).to.match(/^`title` must be at most 255 characters/)
    expect(await refusal({ description: 'x'.repeat(2001) })).to.match(/^`description` must be at most 2,000 characters/)
  })

  it("accepts a hundred links, also to the account's own short links", async () => {
    const many = Array.from({ length: 100 }, (_, i) => ({ title: `Link ${i}`, url: `${app.app.baseUrl}/l${i}` }))
    const { id, path } = await create({ links: many })
    const expected = many.map((entry, i) => ({ id: i + 1, ...entry, clicks: 0, uniqueClicks: 0 }))
    expect((await details(id)).links).to.deep.equal(expected)
    expect((await app.visit(path)).text.match(/<a href="\/[^"]*\/\d+"/g)).to.have.length(100)
  })
})
