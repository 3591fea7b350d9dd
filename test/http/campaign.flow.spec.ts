import { expect } from 'chai'
import { account } from '../../src/commands/account.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type Answer, until } from '../support/client.ts'
import { inSeconds, secondsLater } from '../support/clock.ts'
import { openStage, query } from '../support/faults.ts'
import { send } from '../support/raw.ts'

/** An id, or what somebody takes for one. */
type Id = number | string | undefined
const shape = /^[a-km-np-z2-9]{8}$/

describe('campaigns', () => {
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

  const head = () => app.app.ledger.store.head('domain')
  const add = (body: object = {}, as = key) => app.post('/api/campaign/add', { key: as, body })
  const made = async (body: object = {}, as = key) => {
    const { status, json } = await add(body, as)
    expect(status, JSON.stringify(json)).to.equal(200)
    return json as { id: number; rotator: string; list: string }
  }
  const update = (id: Id, body: object) => app.put(`/api/campaign/${id}/update`, { key, body })
  const listed = async (query = '') => (await app.get(`/api/campaigns${query}`, { key })).json['data']
  const link = async (body: object = {}, as = key) => {
    const answer = await app.post('/api/url/add', { key: as, body: { url: 'https://example.com/a', ...body } })
    expect(answer.status, answer.text).to.equal(200)
    return answer.json as { id: number; short: string }
  }
  const assign = (campaign: Id, link: Id, as = key) => app.post(`/api/campaign/${campaign}/assign/${link}`, { key: as })
  const assigned = async (campaign: number, link: number) =>
    expect((await assign(campaign, link)).json).to.deep.equal({
      error: 0,
      message: 'Link has been added to the campaign.',
    })
  const campaignOf = async (link: number) => (await app.get(`/api/url/${link}`, { key })).json['details'].campaign
  const pathOf = (address: string) => new URL(address).pathname
  const visit = (address: string, headers = {}) => app.visit(pathOf(address), headers)
  const free = (() => {
    let n = 0
    return () => `slug-${++n}`
  })()

  describe('as such', () => {
    it('are made, and carry their name twice', async () => {
      const { json } = await add({ name: 'Spring', slug: 'Spring-24', public: true })
      const fields = {
        id: json['id'],
        name: 'Spring',
        domain: 'Spring',
        public: true,
        rotator: `${app.app.baseUrl}/r/Spring-24`,
        list: `${app.app.baseUrl}/u/${username}/Spring-24-${json['id']}`,
      }
      expect(json).to.deep.equal({ error: 0, ...fields })
      expect((await listed()).campaigns[0]).to.deep.equal(fields)
    })

    it('need nothing: a name and a slug are found for them, and they are not public', async () => {
      for (const body of [{}, { name: '', slug: '' }, { name: null, slug: null }]) {
        const { json } = await add(body)
        const id = json['id']
        expect(json).to.include({ name: `Campaign ${id}`, domain: `Campaign ${id}`, public: false, rotator: false })
        const [, slug] = /\/u\/[^/]+\/(.+)-\d+$/.exec(json['list']) ?? []
        expect(slug).to.match(shape)
      }
    })

    it('are public when they are given a slug, unless they are told not to be', async () => {
      expect((await add({ slug: free() })).json['public']).to.equal(true)
      expect((await add({ slug: free(), public: false })).json).to.include({ public: false, rotator: false })
      expect((await add({ public: true })).json['rotator']).to.match(/\/r\/[a-z2-9]{8}$/)
    })

    it('may share a name, but not a slug, of whosever account and in whatever case', async () => {
      const slug = free()
      await made({ name: 'Same', slug })
      await made({ name: 'Same' })
      const before = await head()
      for (const as of [key, stranger]) {
        const answer = await add({ slug: slug.toUpperCase() }, as)
        expect(answer.status).to.equal(400)
        expect(answer.json['message']).to.equal('`slug` is taken. Please choose another one.')
      }
      expect(await head()).to.equal(before)
    })

    it('are listed newest first, page by page', async () => {
      const ids: number[] = []
      for (const n of [1, 2, 3]) ids.unshift((await made({ name: `Campaign ${n}` })).id)
      const { result, campaigns, ...envelope } = await listed('?limit=1&page=2')
      expect(envelope).to.deep.equal({ perpage: 1, currentpage: 2, nextpage: 3, maxpage: result })
      expect(campaigns.map(({ id }: { id: number }) => id)).to.deep.equal([ids[1]])
      expect((await app.get('/api/campaigns', { key })).json['error']).to.equal('0')
    })

    it('change what is sent, and keep the rest', async () => {
      const slug = free()
      const { id } = await made({ name: 'Old', slug })
      const closed = await update(id, { name: 'New', public: false })
      expect(closed.json).to.deep.equal({
        error: 0,
        id,
        name: 'New',
        domain: 'New',
        public: false,
        rotator: false,
        list: `${app.app.baseUrl}/u/${username}/${slug}-${id}`,
      })
      const moved = await update(id, { name: 'New', slug: `${slug}-b`, public: true })
      expect(moved.json).to.include({
        rotator: `${app.app.baseUrl}/r/${slug}-b`,
        list: `${app.app.baseUrl}/u/${username}/${slug}-b-${id}`,
      })
      const { error: _, ...fields } = moved.json
      expect((await listed()).campaigns.find((row: { id: number }) => row.id === id)).to.deep.equal(fields)
    })

    it('keep their slug when an empty one is sent, and store nothing twice', async () => {
      const slug = free()
      const { id } = await made({ name: 'Same', slug })
      const before = await head()
      for (const more of [{}, { slug: '' }, { slug: null }, { slug }, { public: true }, { id: 1, account: 2 }])
        expect((await update(id, { name: 'Same', ...more })).json['rotator']).to.equal(`${app.app.baseUrl}/r/${slug}`)
      expect(await head()).to.equal(before)
    })

    it('leave an old slug to nobody but their own account', async () => {
      const [renamed, gone] = [free(), free()]
      const { id } = await made({ name: 'x', slug: renamed })
      await update(id, { name: 'x', slug: free() })
      const other = await made({ slug: gone })
      await app.del(`/api/campaign/${other.id}/delete`, { key })
      for (const slug of [renamed, gone]) {
        expect((await app.visit(`/r/${slug}`)).status).to.equal(404)
        expect((await add({ slug }, stranger)).json['message']).to.equal('`slug` is taken. Please choose another one.')
        expect((await add({ slug })).status).to.equal(200)
      }
    })

    it('are deleted once, and leave their links', async () => {
      const { id } = await made({ slug: free() })
      const kept = await link({ campaign: id })
      expect(await campaignOf(kept.id)).to.equal(id)
      const before = await head()
      expect((await app.del(`/api/campaign/${id}/delete`, { key })).json).to.deep.equal({
        error: 0,
        message: 'Campaign has been deleted.',
      })
      expect(await app.domainEventsAfter(before)).to.equal(1)
      expect((await app.del(`/api/campaign/${id}/delete`, { key })).status).to.equal(404)
      expect(await campaignOf(kept.id)).to.equal(null)
      const { urls } = (await app.get('/api/urls', { key })).json['data']
      expect(urls.find((row: { id: number }) => row.id === kept.id)).to.include({ campaign: null })
      expect((await visit(kept.short)).status).to.equal(302)
    })

    it('are refused with what would be right', async () => {
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
      const { id } = await made()
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

  describe('hold links', () => {
    it('each in one campaign at most: assigned again, it moves', async () => {
      const [one, two] = [await made(), await made()]
      const { id } = await link()
      expect(await campaignOf(id)).to.equal(null)
      for (const { id: campaign } of [one, two]) {
        await assigned(campaign, id)
        expect(await campaignOf(id)).to.equal(campaign)
      }
    })

    it('once, however often they are assigned', async () => {
      const { id: campaign } = await made()
      const { id } = await link()
      const before = await head()
      await Promise.all(Array.from({ length: 5 }, () => assigned(campaign, id)))
      await assigned(campaign, id)
      expect(await app.domainEventsAfter(before)).to.equal(1)
    })

    it('whatever else about the link changes', async () => {
      const { id: campaign } = await made()
      const { id } = await link()
      await assigned(campaign, id)
      await app.put(`/api/url/${id}/update`, { key, body: { url: 'https://example.org/', title: 'New' } })
      expect(await campaignOf(id)).to.equal(campaign)
    })
  })

  describe('are their owner’s own (threat 27)', () => {
    const malformed = ['0', '-1', '1.0', '01', '1e3', 'abc', '9007199254740993', '99999999999999999']
    let [campaigns, links]: [Id[], Id[]] = [[], []]
    let [campaign, mine] = [0, 0]
    before(async () => {
      campaign = (await made()).id
      mine = (await link()).id
      const [gone, goneLink] = [await made(), await link()]
      await app.del(`/api/campaign/${gone.id}/delete`, { key })
      await app.del(`/api/url/${goneLink.id}/delete`, { key })
      campaigns = [(await made({}, stranger)).id, gone.id, 999_999, ...malformed]
      links = [(await link({}, stranger)).id, goneLink.id, 999_999, ...malformed]
    })
    /** All of them answer the same 404, and store nothing. */
    const expectNothing = async (ids: readonly Id[], ask: (id: Id) => Promise<Answer>, message: string) => {
      const before = await head()
      for (const id of ids) {
        const { status, text } = await ask(id)
        expect([status, text], String(id)).to.deep.equal([404, JSON.stringify({ error: 1, message })])
      }
      expect(await head()).to.equal(before)
    }

    it('so no other id can be changed or deleted, whatever is sent', async () => {
      for (const body of [{ name: 'Mine' }, {}, { name: 'x', slug: 'a b' }])
        await expectNothing(campaigns, (id) => update(id, body), 'Campaign not found.')
      await expectNothing(campaigns, (id) => app.del(`/api/campaign/${id}/delete`, { key }), 'Campaign not found.')
    })

    it('so neither id of an assignment can be another’s', async () => {
      for (const id of [mine, links[0]])
        await expectNothing(campaigns, (other) => assign(other, id), 'Campaign not found.')
      await expectNothing(links, (other) => assign(campaign, other), 'Link not found.')
      expect(await campaignOf(mine)).to.equal(null)
    })
  })

  describe('in public: the rotator', () => {
    /** A public campaign with links to these addresses. */
    const rotator = async (urls: readonly string[], more: object = {}) => {
      const campaign = await made({ slug: free() })
      const links = []
      for (const url of urls) links.push(await link({ url, campaign: campaign.id, ...more }))
      return { ...campaign, links }
    }
    const destination = async (address: string) => {
      const { status, headers } = await visit(address)
      return status === 302 ? headers.get('Location') : status
    }

    it('sends visitors to each of its links equally often, and never remembers a choice for them', async () => {
      const urls = ['https://example.com/1', 'https://example.com/2', 'https://example.com/3']
      const { rotator: address } = await rotator(urls)
      const counts = new Map<unknown, number>()
      for (let n = 0; n < 300; n++) {
        const found = await destination(address)
        counts.set(found, (counts.get(found) ?? 0) + 1)
      }
      expect([...counts.keys()]).to.have.members(urls)
      // 100 each are expected, with a standard deviation of 8.2
      for (const [url, count] of counts) expect(count, url as string).to.be.within(50, 150)
      const { headers } = await visit(address)
      expect(headers.get('Cache-Control')).to.equal('private, no-store')
    })

    it('is found in whatever case, and with whatever behind it', async () => {
      const { rotator: address } = await rotator(['https://example.com/1'])
      for (const path of [pathOf(address).toUpperCase().replace('/R/', '/r/'), `${pathOf(address)}?a=b`])
        expect((await app.visit(path)).headers.get('Location')).to.equal('https://example.com/1')
    })

    it('counts the click on the link, and records that it came by the rotator', async () => {
      const { id, rotator: address, links } = await rotator(['https://example.com/counted'])
      await visit(address)
      const { json } = await until(
        () => app.get(`/api/url/${links[0]!.id}`, { key }),
        (answer) => answer.json['data'].clicks === 1,
      )
      expect(json['data'].clicks).to.equal(1)
      const rows = await query<{ data: { clicks: { link: number; source: object }[] } }>(
        app.connection,
        `select data from log.events where type = 'LinkClicked'`,
      )
      const clicks = rows.flatMap(({ data }) => data.clicks).filter((click) => click.link === links[0]!.id)
      expect(clicks.map(({ source }) => source)).to.deep.equal([{ kind: 'rotator', id }])
    })

    it('follows what changes at once: links that come, move, expire or go, and its own slug', async () => {
      const campaign = await rotator(['https://example.com/1'])
      const [first] = campaign.links
      expect(await destination(campaign.rotator)).to.equal('https://example.com/1')
      const second = await link({ url: 'https://example.com/2' })
      await assigned(campaign.id, second.id)
      await app.del(`/api/url/${first!.id}/delete`, { key })
      expect(await destination(campaign.rotator)).to.equal('https://example.com/2')
      await app.put(`/api/url/${second.id}/update`, { key, body: { url: 'https://example.com/3' } })
      expect(await destination(campaign.rotator)).to.equal('https://example.com/3')
      const moved = `${free()}-moved`
      await update(campaign.id, { name: 'x', slug: moved })
      expect(await destination(campaign.rotator)).to.equal(404)
      expect(await destination(`${app.app.baseUrl}/r/${moved}`)).to.equal('https://example.com/3')
      await assigned((await made()).id, second.id)
      expect(await destination(`${app.app.baseUrl}/r/${moved}`)).to.equal(404)
    })

    it('sends visitors on exactly as the link would, its targets included', async () => {
      const devicetarget = [{ device: 'iphone', link: 'https://example.com/phone' }]
      const parameters = [{ name: 'from', value: 'spring' }]
      const { rotator: address } = await rotator(['https://example.com/all'], { devicetarget, parameters })
      const iphone =
        'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Version/17.0 Mobile/15E148 Safari/604.1'
      expect((await visit(address, { 'User-Agent': iphone })).headers.get('Location')).to.equal(
        'https://example.com/phone?from=spring',
      )
      expect(await destination(address)).to.equal('https://example.com/all?from=spring')
    })

    it('leads to links of branded domains while these live, and is not found there itself', async () => {
      const domain = await app.post('/api/domain/add', { key, body: { domain: 'https://go.campaign-spec.example' } })
      expect(domain.status, domain.text).to.equal(200)
      const campaign = await rotator(['https://example.com/branded'], {
        domain: 'go.campaign-spec.example',
        title: 'Branded',
      })
      expect(await destination(campaign.rotator)).to.equal('https://example.com/branded')
      const list = async () => (await app.visit(pathOf(campaign.list))).text
      expect(await list()).to.include(`href="${campaign.links[0]!.short}" rel="noopener nofollow ugc">Branded`)
      expect(campaign.links[0]!.short).to.match(/^https:\/\/go\.campaign-spec\.example\//)
      for (const address of [campaign.rotator, campaign.list]) {
        const headers = { Host: 'go.campaign-spec.example' }
        expect((await send(app.address, 'GET', pathOf(address), { headers })).status).to.equal(404)
      }
      await app.del(`/api/domain/${domain.json['id']}/delete`, { key })
      expect(await destination(campaign.rotator)).to.equal(404)
      expect(await list()).not.to.include('Branded')
    })

    it('leads to no link that has expired', async () => {
      const campaign = await rotator(['https://example.com/lasting'])
      await link({ url: 'https://example.com/brief', campaign: campaign.id, expiry: inSeconds(60) })
      await secondsLater(61, async () => {
        for (let n = 0; n < 20; n++) expect(await destination(campaign.rotator)).to.equal('https://example.com/lasting')
      })
    })

    it('sends who needs a password to the link’s own address, where it is asked for', async () => {
      const campaign = await rotator(['https://example.com/secret'], { password: 'open sesame' })
      const { short } = campaign.links[0]!
      expect(await destination(campaign.rotator)).to.equal(short)
      expect((await visit(short)).text).to.include('name="password"')
    })

    it('answers 404 while there is nothing to lead to, or nobody is to know', async () => {
      const empty = await made({ slug: free() })
      expect(await destination(empty.rotator)).to.equal(404)
      const closed = await rotator(['https://example.com/1'])
      await update(closed.id, { name: 'x', public: false })
      expect(await destination(closed.rotator)).to.equal(404)
      await update(closed.id, { name: 'x', public: true })
      expect(await destination(closed.rotator)).to.equal('https://example.com/1')
      await app.del(`/api/campaign/${closed.id}/delete`, { key })
      const [unknown, missing] = [await visit(closed.rotator), await app.visit('/no-such-link')]
      expect([unknown.status, unknown.text]).to.deep.equal([404, missing.text])
      for (const path of ['/r/', '/r/a/b', '/r/%41', '/r/-a', `/r/${'x'.repeat(65)}`])
        expect((await app.visit(path)).status, path).to.equal(404)
    })

    it('is read, not written to', async () => {
      const { rotator: address } = await rotator(['https://example.com/1'])
      const posted = await app.post(pathOf(address))
      expect([posted.status, posted.headers.get('Allow')]).to.deep.equal([405, 'GET, HEAD'])
      expect((await app.ask('HEAD', pathOf(address))).status).to.equal(302)
    })
  })

  describe('in public: the list page', () => {
    const page = async (address: string, query = '') => app.visit(pathOf(address) + query)

    it('shows its links, newest first, each by its title or its address', async () => {
      const { id, list } = await made({ name: 'Spring sale', slug: free() })
      const titled = await link({ title: 'The shop', campaign: id })
      const plain = await link({ url: 'https://shop.example.org/x', campaign: id })
      const { status, text, headers } = await page(list)
      expect([status, headers.get('Content-Type')]).to.deep.equal([200, 'text/html; charset=utf-8'])
      expect(text).to.include('<title>Spring sale</title>').and.include('<h1 dir="auto">Spring sale</h1>')
      const found = [
        ...text.matchAll(/<a dir="auto" href="([^"]*)" rel="noopener nofollow ugc">(.*?)<small>(.*?)<\/small><\/a>/g),
      ].map((match) => match.slice(1))
      expect(found).to.deep.equal([
        [plain.short, plain.short.replace('http://', ''), 'shop.example.org'],
        [titled.short, 'The shop', 'example.com'],
      ])
    })

    it('is a small page without scripts, which nobody can frame or fill', async () => {
      const { id, list } = await made({ slug: free() })
      await link({ campaign: id })
      const { text, headers } = await page(list)
      expect(text).not.to.match(/<script|<img|\son\w+=/i)
      expect(text.length).to.be.below(4000)
      expect(text).to.include('<meta name="viewport" content="width=device-width,initial-scale=1">')
      const policy = headers.get('Content-Security-Policy')
      expect(policy).to.include("default-src 'none'").and.include("frame-ancestors 'none'")
      expect(policy).not.to.match(/script-src|unsafe|\*/)
      expect(headers.get('X-Content-Type-Options')).to.equal('nosniff')
      expect(headers.get('Cache-Control')).to.equal('private, no-store')
    })

    it('has no link that leads nowhere, and tells nothing of where a protected one leads', async () => {
      const { id, list } = await made({ slug: free() })
      await link({ title: 'Gone', campaign: id }).then(({ id: gone }) => app.del(`/api/url/${gone}/delete`, { key }))
      const secret = await link({ url: 'https://secret.example/x', password: 'open sesame', campaign: id })
      const { text } = await page(list)
      expect(text).to.include(secret.short).and.not.include('secret.example').and.not.include('Gone')
      expect((await page((await made({ slug: free() })).list)).text).to.include('This list has no links at the moment.')
    })

    it('goes on to older ones', async () => {
      const { id, list } = await made({ slug: free() })
      await Promise.all(Array.from({ length: 101 }, (_, n) => link({ title: `Link ${n}`, campaign: id })))
      const first = await page(list)
      const second = await page(list, '?page=2')
      const shown = [first, second].map(({ text }) => [...text.matchAll(/>(Link \d+)</g)].map(([, title]) => title))
      expect(shown.map(({ length }) => length)).to.deep.equal([100, 1])
      expect(new Set(shown.flat()).size).to.equal(101)
      expect(first.text).to.include('href="?page=2">Older').and.not.include('Newer')
      expect(second.text).to.include('href="?page=1">Newer').and.not.include('Older')
      for (const odd of ['?page=0', '?page=x', '?page=-1', '?page=1%00'])
        expect((await page(list, odd)).text).to.equal(first.text)
      expect((await page(list, `?page=${'9'.repeat(30)}`)).status).to.equal(200)
    })

    it('is there while the campaign is public, under its whole address, and its account active', async () => {
      const slug = free()
      const other = await app.register()
      const { id, list } = await made({ name: 'x', slug }, other.key)
      const status = async (path: string) => (await app.visit(path)).status
      expect(await status(pathOf(list))).to.equal(200)
      for (const path of [
        `/u/${username}/${slug}-${id}`,
        `/u/${other.username}/other-${id}`,
        `/u/${other.username}/${slug}-${id}0`,
        `/u/${other.username}/${slug}`,
        `/u/${other.username}/`,
        `/u/${other.username}/${slug}-${id}/x`,
        `/u/${other.username}/${slug}-0${id}`,
        `/u/%2e%2e/${slug}-${id}`,
        '/u/',
      ])
        expect(await status(path), path).to.equal(404)
      await app.put(`/api/campaign/${id}/update`, { key: other.key, body: { name: 'x', public: false } })
      expect(await status(pathOf(list))).to.equal(404)
      await app.put(`/api/campaign/${id}/update`, { key: other.key, body: { name: 'x', public: true } })
      expect(await status(pathOf(list))).to.equal(200)
      const { handler } = app.app.ledger
      const operator = {
        account: other.id,
        actor: { kind: 'operator' },
        request: 'r',
        at: new Date().toISOString(),
      } as const
      await handler.handle(
        account,
        { type: 'DisableAccount', id: other.id },
        { ...operator, command: crypto.randomUUID() },
      )
      expect(
        await until(
          () => status(pathOf(list)),
          (got) => got === 404,
        ),
      ).to.equal(404)
    })

    it('is closed at once, as the rotator is, also while the tables are late', async () => {
      const stage = openStage()
      try {
        const { id, list, rotator } = await made({ name: 'x', slug: free() })
        const { id: inside } = await link({ campaign: id })
        for (const address of [list, rotator]) expect((await visit(address)).status).to.be.oneOf([200, 302])
        const holder = await stage.connect(app.connection)
        await holder.query('begin; select * from read.checkpoints for update')
        const closing = app.del(`/api/campaign/${id}/delete`, { key })
        for (const address of [list, rotator])
          expect(
            (
              await until(
                () => visit(address),
                ({ status }) => status === 404,
              )
            ).status,
          ).to.equal(404)
        expect((await closing).headers.get('X-Projection-Pending')).to.equal('1')
        const renaming = app.put(`/api/url/${inside}/update`, {
          key,
          body: { url: 'https://example.com/', title: 'New' },
        })
        const read = () => app.get(`/api/url/${inside}`, { key })
        const { details } = (await until(read, ({ json }) => json['details'].title === 'New')).json
        expect(details).to.include({ title: 'New', campaign: null })
        await renaming
      } finally {
        await stage.clear()
      }
    })

    const payloads = [
      '<script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      `'><svg/onload=alert(1)>`,
      '</title><script>alert(1)</script>',
      '</style><script>alert(1)</script>',
      '</a><a href="javascript:alert(1)">x</a>',
      '&lt;script&gt;alert(1)&lt;/script&gt;',
      '${alert(1)}{{constructor.constructor("alert(1)")()}}',
      '<!--<script>',
      ']]><script>alert(1)</script>',
      '\u2028\u2029<script>alert(1)</script>',
      '\ufeff<script>alert(1)</script>',
      '\u202e<b>x</b>',
      '\uff1cscript\uff1ealert(1)',
      'a\r\nSet-Cookie: x=1',
    ]
    const escaped = (text: string) =>
      text
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&quot;')
        .replaceAll("'", '&#39;')

    it('shows any name and title as the text it is (threat 12)', async () => {
      for (const payload of payloads) {
        const { id, list } = await made({ name: payload, slug: free() })
        const titled = await link({
          title: payload,
          url: 'https://example.com/"><script>alert(1)</script>',
          campaign: id,
        })
        const { text, headers } = await page(list)
        expect(text).to.include(`<title>${escaped(payload)}</title>`)
        expect(text).to.include(`<h1 dir="auto">${escaped(payload)}</h1>`)
        expect(text).to.include(
          `href="${titled.short}" rel="noopener nofollow ugc">${escaped(payload)}<small>example.com</small></a>`,
        )
        expect(text.match(/<(?!\/)[a-z0-9]+/gi)).to.have.members(
          '<html <head <meta <meta <meta <title <style <body <main <h1 <ul <li <a <small'.split(' '),
        )
        expect(headers.get('Set-Cookie')).to.equal(null)
      }
    })
  })
})
