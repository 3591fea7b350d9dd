import { expect } from 'chai'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { openStage, query } from '../support/faults.ts'
import { runCommand } from '../support/process.ts'

const links = [
  { title: 'My shop', url: 'https://shop.example.com/?from=bio' },
  { title: 'Tom & Jerry', url: 'https://example.com/?a=1&b=2' },
]
const full = {
  name: 'Ann, public',
  title: 'Ann Smith',
  description: 'Gardener and baker.',
  avatar: 'https://cdn.example.com:8443/ann.png',
  links,
}

describe('bio pages', () => {
  const stage = openStage()
  let app: TestApp
  /** another process of the same service */
  let second: TestApp
  let key: string
  before(async () => {
    app = await startTestApp()
    second = await startTestApp({ BASE_URL: app.app.baseUrl }, app.connection)
    ;({ key } = await app.register())
  })
  after(async () => {
    await stage.clear()
    await second.close()
    await app.close()
  })

  const add = (body: object, as = key) =>
    app.post('/api/bio/add', { key: as, body: { name: 'Ann', links: [], ...body } })
  const made = async (body: object = {}, as = key) => {
    const { status, json } = await add(body, as)
    expect(status, JSON.stringify(json)).to.equal(200)
    return { id: Number(json['id']), path: new URL(String(json['link'])).pathname }
  }
  const addLink = (body: object, as = key) =>
    app.post('/api/url/add', { key: as, body: { url: 'https://example.com/', ...body } })
  const update = (id: number, body: object, as = key) => app.put(`/api/bio/${id}/update`, { key: as, body })
  const remove = (id: number, as = key) => app.del(`/api/bio/${id}/delete`, { key: as })
  const details = async (id: number) => (await app.get(`/api/bio/${id}`, { key })).json['details']
  const head = () => app.app.ledger.store.head('domain')
  const heading = async (path: string, by = app) => {
    const { status, text } = await by.visit(path)
    return status === 200 ? /<h1[^>]*>(.*?)<\/h1>/.exec(text)?.[1] : status
  }
  const refusal = async (body: object) => {
    const { status, json } = await add(body)
    expect([status, json['error']]).to.deep.equal([400, 1])
    return String(json['message'])
  }
  const free = (() => {
    let n = 0
    return () => `ann-${++n}`
  })()

  it('are made, and read back as they were sent', async () => {
    const alias = 'AnnSmith'
    const answer = await add({ ...full, alias })
    expect(answer.status).to.equal(200)
    const { id } = answer.json
    const link = `${app.app.baseUrl}/${alias}`
    expect(answer.json).to.deep.equal({ error: 0, id, link })
    const read = await app.get(`/api/bio/${id}`, { key })
    expect(read.json).to.have.all.keys('error', 'details')
    const { date, ...rest } = read.json['details']
    expect(rest).to.deep.equal({ id, alias, link, ...full })
    expect(date).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  })

  it('are listed newest first, under `bio`', async () => {
    const own = await app.register()
    for (const name of ['a', 'b', 'c']) await add({ name }, own.key)
    const { json } = await app.get('/api/bio?limit=2', { key: own.key })
    expect(json['error']).to.equal('0')
    expect(json['data']).to.deep.include({ result: 3, perpage: 2, currentpage: 1, nextpage: 2, maxpage: 2 })
    expect(json['data'].bio.map(({ name }: { name: string }) => name)).to.deep.equal(['c', 'b'])
    expect(json['data'].bio[0]).to.have.all.keys('id', 'name', 'alias', 'title', 'link', 'date')
  })

  describe('to the public', () => {
    it('show their title, description, picture and links, whatever the case of the alias', async () => {
      const alias = free()
      await made({ ...full, alias })
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
    it('may load nothing but their picture, from where that lies', async () => {
      const policy = async (path: string) => (await app.visit(path)).headers.get('Content-Security-Policy') ?? ''
      const plain = await policy((await made()).path)
      expect(plain).to.include("default-src 'none'").and.not.include('img-src')
      const directives = (await policy((await made({ avatar: full.avatar })).path)).split('; ')
      expect(directives).to.have.members([...plain.split('; '), 'img-src https://cdn.example.com:8443'])
    })
    it('are headed by their name while they have no title', async () => {
      expect(await heading((await made({ name: 'Just Ann' })).path)).to.equal('Just Ann')
    })
    it('are no links: a visit is not counted, a HEAD has no body, and a POST leads back', async () => {
      const { path } = await made(full)
      const visits = async () => {
        const sql = `select coalesce(sum(json_array_length(data->'clicks')), 0)::int as n from log.events where type = 'LinkClicked'`
        return (await query<{ n: number }>(app.connection, sql))[0]?.n ?? 0
      }
      const before = await visits()
      for (let n = 0; n < 3; n++) await app.visit(path)
      // a visit that comes after them, so that theirs would be recorded by then
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

  describe('share their aliases with the links of the service’s own host', () => {
    it('so that neither takes what the other has, in whatever case', async () => {
      const [one, two] = [free(), free()]
      await made({ alias: one })
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
      const { id } = await made()
      expect((await update(id, { alias: two })).json['message']).to.include('alias is taken')
    })
    it('and draw one of the same kind when none is wished', async () => {
      for (const body of [{}, { alias: '' }, { alias: null }])
        expect((await made(body)).path).to.match(/^\/[a-km-np-z2-9]{8}$/)
    })
    it('and refuse the same words', async () => {
      for (const alias of ['api', 'QR', 'login', 'a b', '-a', 'é', 'x'.repeat(65), '../a'])
        expect(await refusal({ alias }), alias).to.match(/^`alias` /)
    })
    it('one wins a race for an alias', async () => {
      const alias = free()
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, i) => (i % 2 ? add({ alias }) : addLink({ custom: alias }))),
      )
      const count = (wished: number) => answers.filter(({ status }) => status === wished).length
      expect([count(200), count(400)]).to.deep.equal([1, 9])
    })
    it('and keep them for their account when they are renamed or deleted', async () => {
      const [old, next] = [free(), free()]
      const { id } = await made({ alias: old })
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
      await made({ alias: next, title: 'Back' })
      expect(await heading(`/${next}`)).to.equal('Back')
    })
    it('and change their case without claiming anything', async () => {
      const alias = free()
      const { id } = await made({ alias, title: 'Same' })
      expect((await update(id, { alias: alias.toUpperCase() })).status).to.equal(200)
      expect(await details(id)).to.include({
        alias: alias.toUpperCase(),
        link: `${app.app.baseUrl}/${alias.toUpperCase()}`,
      })
      expect(await heading(`/${alias}`)).to.equal('Same')
    })
  })

  it('change in what is sent; an empty text or null clears a field, but not the name or the alias', async () => {
    const alias = free()
    const { id } = await made({ ...full, alias })
    const answer = await update(id, { title: 'Ann S.', description: '', avatar: null, links: [links[0]], alias: '' })
    expect(answer.json).to.deep.equal({ error: 0, message: 'Bio page has been updated.' })
    expect(await details(id)).to.deep.include({
      alias,
      name: full.name,
      title: 'Ann S.',
      description: '',
      avatar: '',
      links: [links[0]],
    })
    await update(id, { links: null })
    expect(await details(id)).to.deep.include({ links: [] })
    expect((await update(id, { name: '' })).json['message']).to.match(/^`name` must not be empty/)
  })

  it('are written down once when the same is wished twice', async () => {
    const alias = free()
    const { id } = await made({ ...full, alias })
    const before = await head()
    expect((await update(id, { ...full, alias })).status).to.equal(200)
    expect(await head()).to.equal(before)
  })

  it('are deleted once, and belong to their owner only', async () => {
    const { id, path } = await made(full)
    const other = await app.register()
    const missing = await app.get('/api/bio/999999', { key })
    const foreign = [
      await app.get(`/api/bio/${id}`, { key: other.key }),
      await update(id, { name: 'Mine' }, other.key),
      await update(id, { name: '' }, other.key),
      await remove(id, other.key),
    ]
    expect(await heading(path)).to.equal('Ann Smith')
    expect((await remove(id)).json).to.deep.equal({ error: 0, message: 'Bio page has been deleted.' })
    const after = [await remove(id), await app.get(`/api/bio/${id}`, { key }), await update(id, { name: 'x' })]
    for (const answer of [...foreign, ...after]) {
      expect(answer.status).to.equal(404)
      expect(answer.text).to.equal(missing.text)
    }
  })

  it('are refused with what would be right', async () => {
    expect((await app.post('/api/bio/add', { key, body: { links: [] } })).json['message']).to.match(
      /^`name` is required/,
    )
    expect((await app.post('/api/bio/add', { key, body: { name: 'x' } })).json['message']).to.match(
      /^`links` is required/,
    )
    expect(await refusal({ links: 'https://example.com' })).to.match(/^`links` must be an array of objects/)
    expect(await refusal({ links: Array(101).fill(links[0]) })).to.match(/^`links` must have at most 100 entries/)
    expect(await refusal({ links: [links[0], { title: 'x', url: 'javascript:alert(1)' }] })).to.match(
      /^`links\.1\.url` must be a web address/,
    )
    expect(await refusal({ links: [{ url: 'https://example.com' }] })).to.match(/^`links\.0\.title` is required/)
    expect(await refusal({ links: [{ title: '', url: 'https://example.com' }] })).to.match(
      /^`links\.0\.title` must not be empty/,
    )
    expect(await refusal({ avatar: 'data:image/png;base64,AA' })).to.match(/^`avatar` must be a web address/)
    expect(await refusal({ title: 'x'.repeat(256) })).to.match(/^`title` must be at most 255 characters/)
    expect(await refusal({ description: 'x'.repeat(2001) })).to.match(/^`description` must be at most 2,000 characters/)
  })

  it('may have a hundred links, and lead to short links of one’s own', async () => {
    const many = Array.from({ length: 100 }, (_, i) => ({ title: `Link ${i}`, url: `${app.app.baseUrl}/l${i}` }))
    const { id, path } = await made({ links: many })
    expect((await details(id)).links).to.deep.equal(many)
    expect((await app.visit(path)).text.match(/<a /g)).to.have.length(100)
  })

  describe('that a process remembers', () => {
    it('show a change at once, and in the other processes soon after', async () => {
      const [old, next] = [free(), free()]
      const { id } = await made({ alias: old, title: 'One' })
      for (const by of [app, second]) expect(await heading(`/${old}`, by)).to.equal('One')
      for (const by of [app, second]) expect(await heading(`/${next}`, by)).to.equal(404)
      const holds = async (path: string, wished: unknown) => {
        expect(await heading(path)).to.equal(wished)
        expect(
          await until(
            () => heading(path, second),
            (found) => found === wished,
            5000,
          ),
        ).to.equal(wished)
      }
      await update(id, { title: 'Two' })
      await holds(`/${old}`, 'Two')
      await update(id, { alias: next })
      await holds(`/${old}`, 404)
      await holds(`/${next}`, 'Two')
      await remove(id)
      await holds(`/${next}`, 404)
    })

    it('end with a disabled account, and are back with it', async () => {
      const other = await app.register()
      const { path } = await made({ title: 'Theirs' }, other.key)
      const command = async (what: string) => {
        const settings = { ...app.config, DATA_DIR: await stage.dir() } as unknown as Record<string, string>
        const { DATABASE_URL = '', SECRET = '', DATA_DIR = '' } = settings
        const { code, err } = await runCommand(['account', what, String(other.id)], { DATABASE_URL, SECRET, DATA_DIR })
        expect(code, err).to.equal(0)
      }
      expect(await heading(path)).to.equal('Theirs')
      const holds = async (wished: unknown) =>
        expect(
          await until(
            () => heading(path),
            (found) => found === wished,
            5000,
          ),
        ).to.equal(wished)
      await command('disable')
      await holds(404)
      await command('enable')
      await holds('Theirs')
    })

    it('are shown as their stream says while the tables are late', async () => {
      const [changed, gone] = [await made({ title: 'Before' }), await made({ title: 'Gone' })]
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
      for (const [path, wished] of [
        [changed.path, 'After'],
        [gone.path, 404],
        [`/${late}`, 'Made late'],
      ] as const)
        for (const by of [app, second])
          expect(
            await until(
              () => heading(path, by),
              (found) => found === wished,
              1500,
            ),
          ).to.equal(wished)
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
