import { expect } from 'chai'
import { startTestApp, type TestApp } from '../support/app.ts'
import type { Answer } from '../support/client.ts'

/** An id, or what somebody takes for one. */
type Id = number | string | undefined
const today = () => new Date().toISOString().slice(0, 10)

describe('channels', () => {
  let app: TestApp
  let key: string
  let stranger: string
  before(async () => {
    app = await startTestApp()
    ;[{ key }, { key: stranger }] = [await app.register(), await app.register()]
  })
  after(() => app.close())

  const head = () => app.app.ledger.store.head('domain')
  const add = (body: object, as = key) => app.post('/api/channel/add', { key: as, body })
  const made = async (body: object = { name: 'Press' }, as = key) => {
    const { status, json } = await add(body, as)
    expect(status, JSON.stringify(json)).to.equal(200)
    return json as { id: number }
  }
  const update = (id: number, body: object) => app.put(`/api/channel/${id}/update`, { key, body })
  const listed = async (as = key) => (await app.get('/api/channels', { key: as })).json['data']
  const link = async (body: object = {}, as = key) => {
    const answer = await app.post('/api/url/add', { key: as, body: { url: 'https://example.com/a', ...body } })
    expect(answer.status, answer.text).to.equal(200)
    return answer.json as { id: number; short: string }
  }
  const bio = async (body: object = {}, as = key) => {
    const { json } = await app.post('/api/bio/add', { key: as, body: { name: 'Ann', links: [], ...body } })
    return json as { id: number; link: string }
  }
  const qr = async (body: object = {}, as = key) => {
    const data = 'https://example.com/menu'
    const answer = await app.post('/api/qr/add', { key: as, body: { type: 'link', data, ...body } })
    expect(answer.status, answer.text).to.equal(200)
    return answer.json as { id: number; link: string }
  }
  const assign = (channel: Id, type: string, item: Id, as = key) =>
    app.post(`/api/channel/${channel}/assign/${type}/${item}`, { key: as })
  const assigned = async (channel: number, type: string, item: number) =>
    expect((await assign(channel, type, item)).json).to.deep.equal({
      error: 0,
      message: 'Item has been added to the channel.',
    })
  const items = async (channel: number, query = '') => (await app.get(`/api/channel/${channel}${query}`, { key })).json

  describe('as such', () => {
    it('are made with all their fields, and answer them', async () => {
      const body = { name: 'Press', description: 'All of it', color: '#AbCdEf', starred: true }
      const { json } = await add(body)
      expect(json).to.deep.equal({ error: 0, id: json['id'], ...body, color: '#abcdef' })
      expect((await listed()).channels[0]).to.deep.equal({ id: json['id'], ...body, color: '#abcdef' })
    })

    it('need no more than a name', async () => {
      for (const more of [{}, { description: null, color: null }, { description: '', color: '' }]) {
        const { json } = await add({ name: 'Plain', ...more })
        const defaults = { description: '', color: '#3b82f6', starred: false }
        expect(json).to.deep.equal({ error: 0, id: json['id'], name: 'Plain', ...defaults })
      }
    })

    it('take a colour in three or six digits, with its hash or without', async () => {
      for (const [sent, stored] of Object.entries({ '#fff': '#ffffff', A1c: '#aa11cc', '00FF7f': '#00ff7f' }))
        expect((await add({ name: 'x', color: sent })).json).to.include({ color: stored })
    })

    it('are listed newest first, page by page', async () => {
      const { key: as } = await app.register()
      const ids: number[] = []
      for (const n of [1, 2, 3, 4, 5]) ids.unshift((await made({ name: `Channel ${n}` }, as)).id)
      const { json } = await app.get('/api/channels?limit=2&page=2', { key: as })
      expect(json['error']).to.equal('0')
      const { channels, ...envelope } = json['data']
      expect(envelope).to.deep.equal({ result: 5, perpage: 2, currentpage: 2, nextpage: 3, maxpage: 3 })
      expect(channels.map(({ id }: { id: number }) => id)).to.deep.equal(ids.slice(2, 4))
      expect(channels[0]).to.have.all.keys('id', 'name', 'description', 'color', 'starred')
    })

    it('change what is sent, and keep the rest', async () => {
      const { id } = await made({ name: 'Old', description: 'Kept', color: '#111' })
      const answer = await update(id, { name: 'New', starred: true })
      const fields = { id, name: 'New', description: 'Kept', color: '#111111', starred: true }
      expect(answer.json).to.deep.equal({ error: 0, message: 'Channel has been updated.', ...fields })
      expect((await listed()).channels[0]).to.deep.equal(fields)
      expect((await update(id, { description: '', color: null })).json).to.include({
        description: '',
        color: '#3b82f6',
      })
    })

    it('store nothing twice, and nothing that is not theirs', async () => {
      const { id } = await made({ name: 'Same' })
      const before = await head()
      for (const body of [{}, { name: 'Same' }, { starred: false }, { id: 1, account: 2, deleted: true }])
        expect((await update(id, body)).json).to.include({ error: 0, id, name: 'Same' })
      expect(await head()).to.equal(before)
    })

    it('are deleted once', async () => {
      const { id } = await made()
      const { result } = await listed()
      expect((await app.del(`/api/channel/${id}/delete`, { key })).json).to.deep.equal({
        error: 0,
        message: 'Channel has been deleted.',
      })
      expect((await listed()).result).to.equal(result - 1)
      expect((await app.del(`/api/channel/${id}/delete`, { key })).status).to.equal(404)
    })

    it('are refused with what would be right', async () => {
      const wrong: [object, RegExp][] = [
        [{}, /^`name` is required/],
        [{ name: '' }, /^`name` must not be empty/],
        [{ name: 7 }, /^`name` must be a string/],
        [{ name: 'x'.repeat(256) }, /^`name` must be at most 255 characters/],
        [{ name: 'x', description: 'x'.repeat(2001) }, /^`description` must be at most 2,000 characters/],
        [{ name: 'x', color: 'red' }, /^`color` must be a HEX color, for example #/],
        [{ name: 'x', color: '#12345' }, /^`color` /],
        [{ name: 'x', starred: 'true' }, /^`starred` must be true or false/],
        [{ name: 'x', starred: 1 }, /^`starred` must be true or false/],
      ]
      const { id } = await made()
      const before = await head()
      for (const [body, message] of wrong) {
        const answer = await add(body)
        expect([answer.status, answer.json['error']], JSON.stringify(body)).to.deep.equal([400, 1])
        expect(answer.json['message']).to.match(message)
        if (Object.keys(body).length > 0) expect((await update(id, body)).json['message']).to.match(message)
      }
      expect(await head()).to.equal(before)
    })
  })

  describe('hold items', () => {
    it('of a link: its title, its picture, its short address, and the day of its assignment', async () => {
      const { id: channel } = await made()
      const image = 'https://example.com/a.png'
      const { id, short } = await link({ title: 'Hello', metaimage: image })
      await assigned(channel, 'links', id)
      const { error, data } = await items(channel)
      expect(error).to.equal('0')
      expect(data).to.deep.equal({
        result: 1,
        perpage: 15,
        currentpage: 1,
        nextpage: 1,
        maxpage: 1,
        items: [{ type: 'links', id, title: 'Hello', preview: image, link: short, date: today() }],
      })
    })

    it('of a link without any of these: its alias, and the favicon of where it leads', async () => {
      const { id: channel } = await made()
      const bare = await link({ url: 'https://shop.example.com:8443/a/b?c', custom: 'Bare-Link' })
      const meta = await link({ metatitle: 'From meta' })
      for (const { id } of [bare, meta]) await assigned(channel, 'links', id)
      const [newest, oldest] = (await items(channel))['data'].items
      expect(newest).to.include({ title: 'From meta', preview: 'https://example.com/favicon.ico' })
      expect(oldest).to.include({ title: 'Bare-Link', preview: 'https://shop.example.com:8443/favicon.ico' })
    })

    it('of a bio page: its title or name, its avatar, its address', async () => {
      const { id: channel } = await made()
      const titled = await bio({ title: 'Ann Smith', avatar: 'https://example.com/ann.jpg' })
      const named = await bio({ name: 'Only a name' })
      for (const { id } of [titled, named]) await assigned(channel, 'bio', id)
      expect((await items(channel))['data'].items).to.deep.equal([
        {
          type: 'bio',
          id: named.id,
          title: 'Only a name',
          preview: `${app.app.baseUrl}/favicon.ico`,
          link: named.link,
          date: today(),
        },
        {
          type: 'bio',
          id: titled.id,
          title: 'Ann Smith',
          preview: 'https://example.com/ann.jpg',
          link: titled.link,
          date: today(),
        },
      ])
    })

    it('of a QR code: its name or alias, its picture, which is its address too', async () => {
      const { id: channel } = await made()
      const [named, nameless] = [
        await qr({ name: 'Menu' }),
        await qr({ type: 'wifi', data: { ssid: 'Bar', pass: 'x' } }),
      ]
      for (const { id } of [named, nameless]) await assigned(channel, 'qr', id)
      const [newest, oldest] = (await items(channel))['data'].items
      expect(oldest).to.deep.equal({
        type: 'qr',
        id: named.id,
        title: 'Menu',
        preview: named.link,
        link: named.link,
        date: today(),
      })
      const { details } = (await app.get(`/api/qr/${nameless.id}`, { key })).json
      expect(newest.title).to.equal(details.name || nameless.link.split('/').at(-1))
    })

    it('newest assignment first, page by page, of whatever kind and age the items are', async () => {
      const { id: channel } = await made()
      const [a, b, c] = [await link(), await qr(), await bio()]
      const order = [
        ['qr', b.id],
        ['bio', c.id],
        ['links', a.id],
      ] as const
      for (const [type, id] of order) await assigned(channel, type, id)
      const seen: unknown[] = []
      for (const page of [1, 2, 3]) {
        const { data } = await items(channel, `?limit=1&page=${page}`)
        expect(data).to.include({
          result: 3,
          perpage: 1,
          currentpage: page,
          nextpage: Math.min(page + 1, 3),
          maxpage: 3,
        })
        seen.push(...data.items.map(({ type, id }: { type: string; id: number }) => [type, id]))
      }
      expect(seen).to.deep.equal(order.toReversed())
      expect((await items(channel, '?limit=1&page=9'))['data']).to.deep.include({
        result: 3,
        currentpage: 9,
        items: [],
      })
    })

    it('each of them once, however often it is assigned', async () => {
      const { id: channel } = await made()
      const { id } = await link()
      await assigned(channel, 'links', id)
      const before = await head()
      await assigned(channel, 'links', id)
      await Promise.all([1, 2, 3].map(() => assigned(channel, 'links', id)))
      expect(await head()).to.equal(before)
      expect((await items(channel))['data'].result).to.equal(1)
    })

    it('assigned to by many at once, each once', async () => {
      const { id: channel } = await made()
      const { id } = await link()
      const before = await head()
      await Promise.all(Array.from({ length: 10 }, () => assigned(channel, 'links', id)))
      expect(await app.domainEventsAfter(before)).to.equal(1)
    })

    it('in several channels at a time', async () => {
      const channels = [await made(), await made()]
      const { id } = await link()
      for (const channel of channels) await assigned(channel.id, 'links', id)
      for (const channel of channels) expect((await items(channel.id))['data'].items).to.have.length(1)
    })

    it('as they are now, whatever they were when they were assigned', async () => {
      const { id: channel } = await made()
      const { id } = await link({ title: 'Old', custom: 'old-alias' })
      await assigned(channel, 'links', id)
      await app.put(`/api/url/${id}/update`, {
        key,
        body: { url: 'https://example.org/', title: 'New', custom: 'new-alias' },
      })
      const [item] = (await items(channel))['data'].items
      expect(item).to.include({ title: 'New', link: `${app.app.baseUrl}/new-alias` })
      expect(item.preview).to.equal('https://example.org/favicon.ico')
    })

    it('while they live: a deleted one is gone from all channels, and from what they count', async () => {
      const channels = [await made(), await made()]
      const [gone, stays] = [await link(), await link()]
      const [page, code] = [await bio(), await qr()]
      for (const { id } of channels) {
        for (const { id: item } of [gone, stays]) await assigned(id, 'links', item)
        await assigned(id, 'bio', page.id)
        await assigned(id, 'qr', code.id)
      }
      await app.del(`/api/url/${gone.id}/delete`, { key })
      await app.del(`/api/bio/${page.id}/delete`, { key })
      await app.del(`/api/qr/${code.id}/delete`, { key })
      for (const { id } of channels) {
        const { data } = await items(id)
        expect(data.result).to.equal(1)
        expect(data.items.map((item: { id: number }) => item.id)).to.deep.equal([stays.id])
      }
    })

    it('until they are deleted: what was in one is free, and not in the next channel', async () => {
      const { id: channel } = await made({ name: 'Again' })
      const { id } = await link()
      await assigned(channel, 'links', id)
      const before = await head()
      await app.del(`/api/channel/${channel}/delete`, { key })
      expect(await app.domainEventsAfter(before)).to.equal(1)
      const next = await made({ name: 'Again' })
      expect(next.id).not.to.equal(channel)
      expect((await items(next.id))['data'].items).to.deep.equal([])
      await assigned(next.id, 'links', id)
      expect((await items(next.id))['data'].items).to.have.length(1)
    })

    it('of three kinds only', async () => {
      const { id: channel } = await made()
      const { id } = await link()
      for (const type of ['link', 'LINKS', 'splash', 'constructor', '__proto__', '0']) {
        const answer = await assign(channel, type, id)
        expect(answer.status, type).to.equal(400)
        expect(answer.json['message']).to.equal('`type` must be one of links, bio, qr.')
      }
      expect((await items(channel))['data'].result).to.equal(0)
    })
  })

  describe('are their owner’s own (threat 27)', () => {
    const malformed = ['0', '-1', '1.0', '01', '1e3', 'abc', '9007199254740993', '99999999999999999']
    const own: Record<string, number> = {}
    const theirs: Record<string, number> = {}
    const deleted: Record<string, number> = {}
    before(async () => {
      const make = async (as: string) => ({
        channel: (await made({ name: 'x' }, as)).id,
        links: (await link({}, as)).id,
        bio: (await bio({}, as)).id,
        qr: (await qr({}, as)).id,
      })
      Object.assign(own, await make(key))
      Object.assign(theirs, await make(stranger))
      Object.assign(deleted, await make(key))
      await app.del(`/api/channel/${deleted['channel']}/delete`, { key })
      await app.del(`/api/url/${deleted['links']}/delete`, { key })
      await app.del(`/api/bio/${deleted['bio']}/delete`, { key })
      await app.del(`/api/qr/${deleted['qr']}/delete`, { key })
    })
    const notMine = (kind: string) => [theirs[kind], deleted[kind], 999_999, ...malformed]
    /** All of them answer the same 404, and store nothing. */
    const expectNothing = async (ids: readonly Id[], ask: (id: Id) => Promise<Answer>, message: string) => {
      const before = await head()
      for (const id of ids) {
        const { status, text } = await ask(id)
        expect([status, text], String(id)).to.deep.equal([404, JSON.stringify({ error: 1, message })])
      }
      expect(await head()).to.equal(before)
    }

    it('so no other id can be read, changed or deleted, whatever is sent', async () => {
      const ids = notMine('channel')
      const path = (id: Id) => `/api/channel/${id}`
      await expectNothing(ids, (id) => app.get(path(id), { key }), 'Channel not found.')
      await expectNothing(ids, (id) => app.del(`${path(id)}/delete`, { key }), 'Channel not found.')
      for (const body of [{ name: 'Mine' }, { color: 'red' }])
        await expectNothing(ids, (id) => app.put(`${path(id)}/update`, { key, body }), 'Channel not found.')
    })

    it('so nothing can be put into another channel, of whatever kind', async () => {
      for (const [type, item] of [
        ['links', own['links']],
        ['links', theirs['links']],
        ['nothing', 1],
      ] as const)
        await expectNothing(notMine('channel'), (id) => assign(id, type, item), 'Channel not found.')
    })

    it('so nothing that is another’s can be put into one', async () => {
      await expectNothing(notMine('links'), (id) => assign(own['channel'], 'links', id), 'Link not found.')
      await expectNothing(notMine('bio'), (id) => assign(own['channel'], 'bio', id), 'Bio page not found.')
      await expectNothing(notMine('qr'), (id) => assign(own['channel'], 'qr', id), 'QR code not found.')
      expect((await items(own['channel']!))['data'].result).to.equal(0)
    })
  })
})
