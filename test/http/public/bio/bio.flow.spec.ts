import { expect } from 'chai'
import type { TestApp } from '../../../support/app.ts'
import { until } from '../../../support/client.ts'
import { inSeconds, secondsLater } from '../../../support/clock.ts'
import { query } from '../../../support/faults.ts'
import { runCommand } from '../../../support/process.ts'
import { bioClient, bioSetUp, fullPage } from '../../../support/clients/bio.ts'

describe('a public bio page', () => {
  const { stage, start, startSecond } = bioSetUp()
  let app: TestApp
  /** another process of the same service */
  let second: TestApp
  let key: string
  before(async () => {
    ;({ app, key } = await start())
    second = await startSecond(app)
  })
  after(stage.clear)
  const { add, create, addLink, update, remove, details, heading, free } = bioClient(
    () => app,
    () => key,
  )

  describe('a bio page', () => {
    it('shows title, description, picture and links for its alias in any case', async () => {
      const alias = free()
      await create({ ...fullPage, alias })
      const { status, headers, text } = await app.visit(`/${alias.toUpperCase()}`)
      expect(status).to.equal(200)
      expect(headers.get('Content-Type')).to.equal('text/html; charset=utf-8')
      expect(headers.get('Cache-Control')).to.equal('private, no-store')
      expect(text).to.include('<h1 dir="auto">Ann Smith</h1>').and.to.include('Gardener and baker.')
      expect(text).to.include('<title>Ann Smith</title>').and.not.include('noindex')
      expect(text).to.include('<img src="https://cdn.example.com:8443/ann.png" alt=""')
      expect(text).to.include(`<a href="/${alias}/2" rel="noopener nofollow ugc"`)
      expect(text).to.include('<b dir="auto">Tom &amp; Jerry</b>').and.to.include('--paper:#3b0d2e')
      expect(text.indexOf('My shop')).to.be.below(text.indexOf('Tom &amp; Jerry'))
    })
    it("may load nothing but its picture, from that picture's host", async () => {
      const policy = async (path: string) => (await app.visit(path)).headers.get('Content-Security-Policy') ?? ''
      const plain = await policy((await create()).path)
      expect(plain).to.include("default-src 'none'").and.include("img-src 'self';")
      const directives = (await policy((await create({ avatar: fullPage.avatar })).path)).split('; ')
      expect(directives).to.have.members(
        plain.replace("img-src 'self'", "img-src 'self' https://cdn.example.com:8443").split('; '),
      )
    })
    it('uses its name as heading when it has no title', async () => {
      expect(await heading((await create({ name: 'Just Ann' })).path)).to.equal('Just Ann')
    })
    it('has no body for HEAD, and redirects a POST back', async () => {
      const { path } = await create(fullPage)
      expect(await app.ask('HEAD', path)).to.include({ status: 200, text: '' })
      const posted = await app.post(path, {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'a=b',
      })
      expect([posted.status, posted.headers.get('Location')]).to.deep.equal([303, path])
    })
  })

  describe('the counts of a bio page', () => {
    const bot = { 'User-Agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' }
    const counts = async (id: number) => {
      const { details, data } = (await app.get(`/api/bio/${id}`, { key })).json as Record<
        string,
        Record<string, unknown>
      >
      const links = details!['links'] as { id: number; clicks: number }[]
      return {
        views: data!['views'],
        clicks: data!['clicks'],
        entries: Object.fromEntries(links.map((entry) => [entry.id, entry.clicks])),
      }
    }
    /** Expects these counts, also after a later visit is counted. */
    const expectCounts = async (id: number, expected: object) => {
      const marker = await create({ name: 'Marker' })
      await app.visit(marker.path)
      await until(
        () => counts(marker.id),
        ({ views }) => views === 1,
      )
      const same = (found: object) => JSON.stringify(found) === JSON.stringify(expected)
      expect(await until(() => counts(id), same)).to.deep.equal(expected)
    }
    const location = async (path: string, headers = {}) => {
      const { status, headers: answered } = await app.visit(path, headers)
      return status === 302 ? answered.get('Location') : status
    }
    const [shop, blog] = [
      { title: 'Shop', url: 'https://shop.example/?a=b#c' },
      { title: 'Blog', url: 'https://blog.example/' },
    ]

    it('are its views and the clicks on its entries, of people only, each once', async () => {
      const { id, path } = await create({ links: [shop, blog] })
      for (const headers of [{}, {}, bot]) {
        expect((await app.visit(path, headers)).status).to.equal(200)
        expect(await location(`${path.toUpperCase()}/1?from=mail`, headers)).to.equal(shop.url)
      }
      expect(await location(`${path}/2`)).to.equal(blog.url)
      for (const at of [path, `${path}/2`]) await app.ask('HEAD', at)
      expect((await app.post(`${path}/2`, {})).status).to.equal(303)
      await expectCounts(id, { views: 2, clicks: 3, entries: { 1: 2, 2: 1 } })
      const { data } = (await app.get(`/api/bio/${id}`, { key })).json
      expect(data).to.include({ uniqueViews: 1, uniqueClicks: 1 }).and.to.have.property('topBrowsers')
      const listed = (await app.get('/api/bio', { key })).json['data'].bio as { id: number }[]
      expect(listed.find((row) => row.id === id)).to.include({ views: 2, clicks: 3 })
    })

    it('follow an entry that is moved, renamed or leads elsewhere; a deleted one counts for the page only', async () => {
      const { id, path } = await create({ links: [shop, blog] })
      for (const entry of [1, 2, 2]) await location(`${path}/${entry}`)
      await update(id, { links: [{ id: 2, title: 'Journal', url: 'https://journal.example/' }] })
      expect([await location(`${path}/2`), await location(`${path}/1`)]).to.deep.equal([
        'https://journal.example/',
        404,
      ])
      await expectCounts(id, { views: 0, clicks: 4, entries: { 2: 3 } })
      await update(id, { links: [shop] })
      expect([await location(`${path}/3`), await location(`${path}/1`)]).to.deep.equal([shop.url, 404])
    })

    it('show a click for the entry and for the short link of the account that it leads to', async () => {
      const [plain, locked] = [(await addLink({ custom: free() })).json, (await addLink({ password: 'secret' })).json]
      const other = await app.register()
      const foreign = (await addLink({}, other.key)).json
      const links = [plain, locked, foreign].map((link, i) => ({ title: `${i}`, url: String(link['short']) }))
      const { id, path } = await create({ links })
      expect(await location(`${path}/1`)).to.equal('https://example.com/')
      expect((await app.visit(`${path}/2`)).text).to.include('type="password"')
      expect(await location(`${path}/3`)).to.equal(foreign['short'])
      await expectCounts(id, { views: 0, clicks: 2, entries: { 1: 1, 2: 0, 3: 1 } })
      const series = await app.get(`/api/url/${plain['id']}/stats?by=source`, { key })
      expect(series.json['data'].by.source).to.deep.equal({ bio: 1 })
      expect((await app.get(`/api/url/${plain['id']}`, { key })).json['data'].clicks).to.equal(1)
    })

    it('have no click on an entry without a destination: an expired link, another entry, the scan of a QR code', async () => {
      const brief = (await addLink({ expiry: inSeconds(60) })).json
      const { id, path } = await create({ links: [{ title: 'Self', url: 'https://example.com/' }] })
      const own = (to: string) => ({ title: to, url: `${app.app.baseUrl}${to}` })
      await update(id, {
        links: [own(`${path}/1`), own('/qr/any/go'), own(`${path}`), { title: 'Brief', url: String(brief['short']) }],
      })
      expect([await location(`${path}/2`), await location(`${path}/3`)]).to.deep.equal([410, 410])
      expect(await location(`${path}/4`)).to.equal(`${app.app.baseUrl}${path}`)
      expect(await secondsLater(90, () => location(`${path}/5`))).to.equal(410)
      await expectCounts(id, { views: 0, clicks: 1, entries: { 2: 0, 3: 0, 4: 1, 5: 0 } })
    })

    it('have no click on an entry that leads to itself by another name of the host', async () => {
      const { path } = await create({ links: [shop] })
      const { port } = new URL(app.address)
      for (const host of [`127.0.0.1:${port}`, `[::1]:${port}`]) {
        const { path: looping } = await create({ links: [{ title: 'Again', url: `http://${host}${path}/1` }] })
        expect(await location(`${looping}/1`), host).to.equal(410)
      }
    })

    it('are in the series of the account by source, where views are no clicks, and name no destination in the log', async () => {
      const own = await app.register()
      const { path } = await create({ links: [shop] }, own.key)
      await app.visit(path)
      await location(`${path}/1`)
      const series = () => app.get('/api/account/stats?by=source', { key: own.key })
      const { json } = await until(series, (answer) => answer.json['data'].total.clicks === 1)
      expect(json['data']).to.deep.include({ by: { source: { bio: 1 } } })
      const rows = await query<{ n: string }>(
        app.connection,
        `select count(*) as n from log.events where type = 'LinkClicked' and data::text like '%shop.example%'`,
      )
      expect(rows[0]?.n).to.equal('0')
    })

    it('have no entries of links, of branded domains and of unknown pages', async () => {
      const { json } = await addLink({ custom: free() })
      const paths = [`${new URL(String(json['short'])).pathname}/1`, '/unknown-page/1', '/unknown-page/0']
      for (const path of paths) expect(await location(path), path).to.equal(404)
    })
  })

  describe('a cached bio page', () => {
    it('shows a change at once, and soon in other processes', async () => {
      const [old, next] = [free(), free()]
      const { id } = await create({ alias: old, title: 'One' })
      for (const by of [app, second]) expect(await heading(`/${old}`, by)).to.equal('One')
      for (const by of [app, second]) expect(await heading(`/${next}`, by)).to.equal(404)
      const holds = async (path: string, expected: unknown) => {
        expect(await heading(path)).to.equal(expected)
        expect(
          await until(
            () => heading(path, second),
            (found) => found === expected,
          ),
        ).to.equal(expected)
      }
      await update(id, { title: 'Two' })
      await holds(`/${old}`, 'Two')
      await update(id, { alias: next })
      await holds(`/${old}`, 404)
      await holds(`/${next}`, 'Two')
      await remove(id)
      await holds(`/${next}`, 404)
    })

    it('is hidden while its account is disabled', async () => {
      const other = await app.register()
      const { path } = await create({ title: 'Theirs' }, other.key)
      const command = async (what: string) => {
        const settings = { ...app.config, DATA_DIR: await stage.dir() } as unknown as Record<string, string>
        const { DATABASE_URL = '', SECRET = '', DATA_DIR = '' } = settings
        const { code, err } = await runCommand(['account', what, `id:${other.id}`, '--yes'], {
          DATABASE_URL,
          SECRET,
          DATA_DIR,
        })
        expect(code, err).to.equal(0)
      }
      expect(await heading(path)).to.equal('Theirs')
      const holds = async (expected: unknown) =>
        expect(
          await until(
            () => heading(path),
            (found) => found === expected,
          ),
        ).to.equal(expected)
      await command('disable')
      await holds(404)
      await command('enable')
      await holds('Theirs')
    })

    it('is read from its stream while the tables lag', async () => {
      const [changed, gone] = [await create({ title: 'Before' }), await create({ title: 'Gone' })]
      for (const by of [app, second])
        expect([await heading(changed.path, by), await heading(gone.path, by)]).to.deep.equal(['Before', 'Gone'])
      const late = free()
      const holder = await stage.connect(app.connection)
      await holder.query('begin; select * from read.checkpoints for update')
      const writes = Promise.all([
        update(changed.id, { title: 'After' }),
        remove(gone.id),
        add({ alias: late, title: 'Made late' }),
      ])
      for (const [path, expected] of [
        [changed.path, 'After'],
        [gone.path, 404],
        [`/${late}`, 'Made late'],
      ] as const)
        for (const by of [app, second])
          expect(
            await until(
              () => heading(path, by),
              (found) => found === expected,
            ),
          ).to.equal(expected)
      for (const { status, headers } of await writes)
        expect([status, headers.get('X-Projection-Pending')]).to.deep.equal([200, '1'])
      expect(await details(changed.id)).to.include({ title: 'After' })
      expect((await app.get(`/api/bio/${gone.id}`, { key })).status).to.equal(404)
      await holder.query('rollback')
      expect(
        await until(
          () => heading(changed.path),
          (found) => found === 'After',
        ),
      ).to.equal('After')
      expect(await heading(gone.path)).to.equal(404)
    })
  })
})
