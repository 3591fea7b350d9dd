import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { campaignClient } from '../../support/clients/campaign.ts'

/** An id, or a malformed one. */
type Id = number | string | undefined
const shape = /^[a-km-np-z2-9]{8}$/

describe('the campaign API', () => {
  let app: TestApp
  let key: string
  let username: string
  let stranger: string
  before(async () => {
    app = await startTestApp()
    ;({ key, username } = await app.register())
    stranger = (await app.register()).key
  })
  after(() => app.close())

  const head = () => app.domainHead()
  const { add, create, update, listed, link, assign, assigned, campaignOf, visit, free } = campaignClient(
    () => app,
    () => key,
  )

  describe('campaigns', () => {
    it('returns the name under `name` and `domain`, and under `campaign` when it is made or changed', async () => {
      const { json } = await add({ name: 'Spring', slug: 'Spring-24', public: true })
      const fields = {
        id: json['id'],
        name: 'Spring',
        domain: 'Spring',
        public: true,
        rotator: `${app.app.baseUrl}/r/Spring-24`,
        list: `${app.app.baseUrl}/u/${username}/Spring-24-${json['id']}`,
        revision: 0,
      }
      expect(json).to.deep.equal({ error: 0, ...fields, campaign: 'Spring' })
      expect((await listed()).campaigns[0]).to.deep.equal(fields)
    })

    it('is shown with the clicks on its links', async () => {
      const { id } = await create({ name: 'Counted' })
      const [first, second] = [await link(), await link()]
      for (const one of [first, second]) await assigned(id, one.id)
      await visit(second.short)
      const { details, data } = await until(
        async () => (await app.get(`/api/campaign/${id}`, { key })).json,
        (json) => json['data'].clicks > 0,
      )
      expect(details).to.deep.equal((await listed()).campaigns[0])
      expect(data).to.deep.equal({ links: 2, clicks: 1, uniqueClicks: 1 })
      expect((await app.get(`/api/campaign/${id}`, { key: stranger })).status).to.equal(404)
    })

    it('fills in a name and a slug, and is not public, when nothing is sent', async () => {
      for (const body of [{}, { name: '', slug: '' }, { name: null, slug: null }]) {
        const { json } = await add(body)
        const id = json['id']
        expect(json).to.include({ name: `Campaign ${id}`, domain: `Campaign ${id}`, public: false, rotator: false })
        const [, slug] = /\/u\/[^/]+\/(.+)-\d+$/.exec(json['list']) ?? []
        expect(slug).to.match(shape)
      }
    })

    it('is public by default when a slug is sent', async () => {
      expect((await add({ slug: free() })).json['public']).to.equal(true)
      expect((await add({ slug: free(), public: false })).json).to.include({ public: false, rotator: false })
      expect((await add({ public: true })).json['rotator']).to.match(/\/r\/[a-z2-9]{8}$/)
    })

    it('allows equal names, but rejects a taken slug in any case and from any account', async () => {
      const slug = free()
      await create({ name: 'Same', slug })
      await create({ name: 'Same' })
      const before = await head()
      for (const as of [key, stranger]) {
        const answer = await add({ slug: slug.toUpperCase() }, as)
        expect(answer.status).to.equal(400)
        expect(answer.json['message']).to.equal('`slug` is taken. Please choose another one.')
      }
      expect(await head()).to.equal(before)
    })

    it('lists campaigns newest first in pages', async () => {
      const ids: number[] = []
      for (const n of [1, 2, 3]) ids.unshift((await create({ name: `Campaign ${n}` })).id)
      const { result, campaigns, ...envelope } = await listed('?limit=1&page=2')
      expect(envelope).to.deep.equal({ perpage: 1, currentpage: 2, nextpage: 3, maxpage: result })
      expect(campaigns.map(({ id }: { id: number }) => id)).to.deep.equal([ids[1]])
      expect((await app.get('/api/campaigns', { key })).json['error']).to.equal('0')
    })

    it('updates only the fields sent', async () => {
      const slug = free()
      const { id } = await create({ name: 'Old', slug })
      const closed = await update(id, { name: 'New', public: false })
      expect(closed.json).to.deep.equal({
        error: 0,
        id,
        name: 'New',
        domain: 'New',
        campaign: 'New',
        public: false,
        rotator: false,
        list: `${app.app.baseUrl}/u/${username}/${slug}-${id}`,
        revision: 1,
      })
      const moved = await update(id, { name: 'New', slug: `${slug}-b`, public: true })
      expect(moved.json).to.include({
        rotator: `${app.app.baseUrl}/r/${slug}-b`,
        list: `${app.app.baseUrl}/u/${username}/${slug}-b-${id}`,
      })
      const { error: _, campaign: __, ...fields } = moved.json
      expect((await listed()).campaigns.find((row: { id: number }) => row.id === id)).to.deep.equal(fields)
    })

    it('keeps the slug when an empty one is sent, and emits no event when nothing changes', async () => {
      const slug = free()
      const { id } = await create({ name: 'Same', slug })
      const before = await head()
      for (const more of [{}, { slug: '' }, { slug: null }, { slug }, { public: true }, { id: 1, account: 2 }])
        expect((await update(id, { name: 'Same', ...more })).json['rotator']).to.equal(`${app.app.baseUrl}/r/${slug}`)
      expect(await head()).to.equal(before)
    })

    it('reserves an old slug for its account', async () => {
      const [renamed, gone] = [free(), free()]
      const { id } = await create({ name: 'x', slug: renamed })
      await update(id, { name: 'x', slug: free() })
      const other = await create({ slug: gone })
      await app.del(`/api/campaign/${other.id}/delete`, { key })
      for (const slug of [renamed, gone]) {
        expect((await app.visit(`/r/${slug}`)).status).to.equal(404)
        expect((await add({ slug }, stranger)).json['message']).to.equal('`slug` is taken. Please choose another one.')
        expect((await add({ slug })).status).to.equal(200)
      }
    })

    it('deletes a campaign once and keeps its links', async () => {
      const { id } = await create({ slug: free() })
      const kept = await link({ campaign: id })
      expect(await campaignOf(kept.id)).to.equal(id)
      const before = await head()
      expect((await app.del(`/api/campaign/${id}/delete`, { key })).json).to.deep.equal({
        error: 0,
        message: 'Campaign has been deleted.',
        undo: { method: 'POST', path: `/api/campaign/${id}/restore` },
      })
      expect(await app.domainEventsAfter(before)).to.equal(1)
      expect((await app.del(`/api/campaign/${id}/delete`, { key })).status).to.equal(404)
      expect(await campaignOf(kept.id)).to.equal(null)
      const { urls } = (await app.get('/api/urls', { key })).json['data']
      expect(urls.find((row: { id: number }) => row.id === kept.id)).to.include({ campaign: null })
      expect((await visit(kept.short)).status).to.equal(302)
    })

    it('names a valid value for an invalid field', async () => {
      const wrong: [object, RegExp][] = [
        [{ name: 7 }, /^`name` must be a string/],
        [{ name: 'x'.repeat(256) }, /^`name` must be at most 255 characters/],
        [{ name: 'x', slug: 'a b' }, /^`slug` must be 1 to 64 letters/],
        [{ name: 'x', slug: '../x' }, /^`slug` must be 1 to 64 letters/],
        [{ name: 'x', slug: '-x' }, /^`slug` /],
        [{ name: 'x', slug: 'x'.repeat(65) }, /^`slug` /],
        [{ name: 'x', slug: 'äpfel' }, /^`slug` /],
        [{ name: 'x', slug: 7 }, /^`slug` must be a string/],
        [{ name: 'x', slug: 'API' }, /^`slug` must not be a reserved word/],
        [{ name: 'x', public: 'true' }, /^`public` must be true or false/],
        [{ name: 'x', public: 1 }, /^`public` must be true or false/],
      ]
      const { id } = await create()
      const before = await head()
      for (const [body, message] of wrong)
        for (const answer of [await add(body), await update(id, body)]) {
          expect([answer.status, answer.json['error']], JSON.stringify(body)).to.deep.equal([400, 1])
          expect(answer.json['message']).to.match(message)
        }
      expect((await update(id, {})).json['message']).to.match(/^`name` is required/)
      expect((await update(id, { name: '' })).json['message']).to.match(/^`name` must not be empty/)
      expect(await head()).to.equal(before)
    })
  })

  describe('links of a campaign', () => {
    it('moves a link that is assigned to another campaign', async () => {
      const [one, two] = [await create(), await create()]
      const { id } = await link()
      expect(await campaignOf(id)).to.equal(null)
      for (const { id: campaign } of [one, two]) {
        await assigned(campaign, id)
        expect(await campaignOf(id)).to.equal(campaign)
      }
    })

    it('emits one event when a link is assigned several times', async () => {
      const { id: campaign } = await create()
      const { id } = await link()
      const before = await head()
      await Promise.all(Array.from({ length: 5 }, () => assigned(campaign, id)))
      await assigned(campaign, id)
      expect(await app.domainEventsAfter(before)).to.equal(1)
    })

    it('keeps the campaign of a link when its other fields change', async () => {
      const { id: campaign } = await create()
      const { id } = await link()
      await assigned(campaign, id)
      await app.put(`/api/url/${id}/update`, { key, body: { url: 'https://example.org/', title: 'New' } })
      expect(await campaignOf(id)).to.equal(campaign)
    })
  })

  describe('campaigns and links of other accounts', () => {
    const malformed = ['0', '-1', '1.0', '01', '1e3', 'abc', '9007199254740993', '99999999999999999']
    let [campaigns, links]: [Id[], Id[]] = [[], []]
    let [campaign, mine] = [0, 0]
    before(async () => {
      campaign = (await create()).id
      mine = (await link()).id
      const [gone, goneLink] = [await create(), await link()]
      await app.del(`/api/campaign/${gone.id}/delete`, { key })
      await app.del(`/api/url/${goneLink.id}/delete`, { key })
      campaigns = [(await create({}, stranger)).id, gone.id, 999_999, ...malformed]
      links = [(await link({}, stranger)).id, goneLink.id, 999_999, ...malformed]
    })
    /** Expects the same 404 for each request, and no stored event. */
    const expectNothing = async (ids: readonly Id[], ask: (id: Id) => Promise<Answer>, message: string) => {
      const before = await head()
      for (const id of ids) {
        const { status, text, json } = await ask(id)
        const problem = { code: 'not_found', params: { what: (json['params'] as { what: string }).what } }
        expect([status, text], String(id)).to.deep.equal([404, JSON.stringify({ error: 1, message, ...problem })])
      }
      expect(await head()).to.equal(before)
    }

    it("returns 404 on update and delete for another account's or an unknown id, for any body", async () => {
      for (const body of [{ name: 'Mine' }, {}, { name: 'x', slug: 'a b' }])
        await expectNothing(campaigns, (id) => update(id, body), 'Campaign not found.')
      await expectNothing(campaigns, (id) => app.del(`/api/campaign/${id}/delete`, { key }), 'Campaign not found.')
    })

    it("returns 404 on assignment when either id is not the account's own", async () => {
      for (const id of [mine, links[0]])
        await expectNothing(campaigns, (other) => assign(other, id), 'Campaign not found.')
      await expectNothing(links, (other) => assign(campaign, other), 'Link not found.')
      expect(await campaignOf(mine)).to.equal(null)
    })
  })
})
