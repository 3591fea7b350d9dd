import { expect } from 'chai'
import type { TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'
import { runCommand } from '../../support/process.ts'
import { bioClient, bioSetUp, fullPage } from '../../support/clients/bio.ts'

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
      expect(text).to.include(
        '<a dir="auto" href="https://example.com/?a=1&amp;b=2" rel="noopener nofollow ugc">Tom &amp; Jerry</a>',
      )
      expect(text.indexOf('My shop')).to.be.below(text.indexOf('Tom &amp; Jerry'))
    })
    it("may load nothing but its picture, from that picture's host", async () => {
      const policy = async (path: string) => (await app.visit(path)).headers.get('Content-Security-Policy') ?? ''
      const plain = await policy((await create()).path)
      expect(plain).to.include("default-src 'none'").and.not.include('img-src')
      const directives = (await policy((await create({ avatar: fullPage.avatar })).path)).split('; ')
      expect(directives).to.have.members([...plain.split('; '), 'img-src https://cdn.example.com:8443'])
    })
    it('uses its name as heading when it has no title', async () => {
      expect(await heading((await create({ name: 'Just Ann' })).path)).to.equal('Just Ann')
    })
    it('counts no visits, has no body for HEAD, and redirects a POST back', async () => {
      const { path } = await create(fullPage)
      const visits = async () => {
        const sql = `select coalesce(sum(json_array_length(data->'clicks')), 0)::int as n from log.events where type = 'LinkClicked'`
        return (await query<{ n: number }>(app.connection, sql))[0]?.n ?? 0
      }
      const before = await visits()
      for (let n = 0; n < 3; n++) await app.visit(path)
      // a later visit, which shows that the earlier ones would be recorded by now
      await app.visit(new URL(String((await addLink({})).json['short'])).pathname)
      expect(await until(visits, (n) => n > before)).to.equal(before + 1)
      expect(await app.ask('HEAD', path)).to.include({ status: 200, text: '' })
      const posted = await app.post(path, {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'a=b',
      })
      expect([posted.status, posted.headers.get('Location')]).to.deep.equal([303, path])
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
            5000,
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
        const { code, err } = await runCommand(['account', what, String(other.id)], { DATABASE_URL, SECRET, DATA_DIR })
        expect(code, err).to.equal(0)
      }
      expect(await heading(path)).to.equal('Theirs')
      const holds = async (expected: unknown) =>
        expect(
          await until(
            () => heading(path),
            (found) => found === expected,
            5000,
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
              1500,
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
