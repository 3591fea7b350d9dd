import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { atOneMoment } from '../../support/clock.ts'
import { channelClient } from '../../support/clients/channel.ts'

const today = () => new Date().toISOString().slice(0, 10)

describe('items of a channel', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp()
    ;({ key } = await app.register())
  })
  after(() => app.close())

  const head = () => app.domainHead()
  const { create, link, bio, qr, assign, assigned, items } = channelClient(
    () => app,
    () => key,
  )

  it('show a link with title, picture, short address and day of assignment', () =>
    atOneMoment(async () => {
      const { id: channel } = await create()
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
    }))

  it('have the day of their assignment in the requested time zone', async () => {
    const { id: channel } = await create()
    await assigned(channel, 'links', (await link()).id)
    // a day and an hour apart
    for (const tz of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      const day = () => new Date().toLocaleDateString('sv', { timeZone: tz })
      const before = day()
      const { json } = await app.get(`/api/channel/${channel}?tz=${tz}`, { key })
      const dates = (json['data'].items as readonly { readonly date: string }[]).map(({ date }) => date)
      expect([before, day()], tz).to.include(dates[0])
    }
  })

  it('come with the channel itself and the clicks on its links', async () => {
    const { id } = await create({ name: 'Letters', starred: true })
    const one = await link()
    await assigned(id, 'links', one.id)
    await assigned(id, 'qr', (await qr()).id)
    await app.visit(new URL(one.short).pathname)
    const { details, totals } = await until(
      () => items(id),
      (json) => json['totals'].clicks > 0,
    )
    expect(details).to.include({ id, name: 'Letters', starred: true })
    expect(totals).to.deep.equal({ links: 1, clicks: 1, uniqueClicks: 1 })
  })

  it("show a link without title and picture by its alias and its destination's favicon", async () => {
    const { id: channel } = await create()
    const bare = await link({ url: 'https://shop.example.com:8443/a/b?c', custom: 'Bare-Link' })
    const meta = await link({ metatitle: 'From meta' })
    for (const { id } of [bare, meta]) await assigned(channel, 'links', id)
    const [newest, oldest] = (await items(channel))['data'].items
    expect(newest).to.include({ title: 'From meta', preview: 'https://example.com/favicon.ico' })
    expect(oldest).to.include({ title: 'Bare-Link', preview: 'https://shop.example.com:8443/favicon.ico' })
  })

  it('are removed one by one, and an undo does not add items that were not in it', async () => {
    const { id: channel } = await create()
    const [kept, gone] = [await link(), await link()]
    for (const { id } of [kept, gone]) await assigned(channel, 'links', id)
    const take = (id: number, type = 'links', as = key) =>
      app.del(`/api/channel/${channel}/assign/${type}/${id}`, { key: as })
    const shown = async () => (await items(channel))['data'].items.map((row: { id: number }) => row.id)
    const taken = {
      message: 'Item has been removed from the channel.',
      undo: { method: 'POST', path: `/api/channel/${channel}/assign/links/${gone.id}` },
    }
    for (const answer of [taken, { message: 'The item is not in the channel.', undo: null }]) {
      expect((await take(gone.id)).json).to.deep.equal({ error: 0, ...answer })
      expect(await shown()).to.deep.equal([kept.id])
    }
    expect((await take(kept.id, 'pixels')).status).to.equal(400)
    expect((await take(kept.id, 'links', (await app.register()).key)).status).to.equal(404)
    expect((await take(999_999)).status).to.equal(404)
    await assigned(channel, 'links', gone.id)
    expect(await shown()).to.deep.equal([gone.id, kept.id])
  })

  it('show a bio page by title or name, avatar and address', () =>
    atOneMoment(async () => {
      const { id: channel } = await create()
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
    }))

  it('show a QR code by name or alias, with its image as preview and link', () =>
    atOneMoment(async () => {
      const { id: channel } = await create()
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
    }))

  it('are listed by newest assignment in pages, regardless of kind and age', async () => {
    const { id: channel } = await create()
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

  it('appear once when they are assigned several times', async () => {
    const { id: channel } = await create()
    const { id } = await link()
    await assigned(channel, 'links', id)
    const before = await head()
    await assigned(channel, 'links', id)
    await Promise.all([1, 2, 3].map(() => assigned(channel, 'links', id)))
    expect(await head()).to.equal(before)
    expect((await items(channel))['data'].result).to.equal(1)
  })

  it('appear once when they are assigned concurrently', async () => {
    const { id: channel } = await create()
    const { id } = await link()
    const before = await head()
    await Promise.all(Array.from({ length: 10 }, () => assigned(channel, 'links', id)))
    expect(await app.domainEventsAfter(before)).to.equal(1)
  })

  it('can be in several channels', async () => {
    const channels = [await create(), await create()]
    const { id } = await link()
    for (const channel of channels) await assigned(channel.id, 'links', id)
    for (const channel of channels) expect((await items(channel.id))['data'].items).to.have.length(1)
  })

  it('are shown as they are now, not as they were when assigned', async () => {
    const { id: channel } = await create()
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

  it('disappear from lists and counts when they are deleted', async () => {
    const channels = [await create(), await create()]
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

  it('leave a deleted channel and do not appear in the next one', async () => {
    const { id: channel } = await create({ name: 'Again' })
    const { id } = await link()
    await assigned(channel, 'links', id)
    const before = await head()
    await app.del(`/api/channel/${channel}/delete`, { key })
    expect(await app.domainEventsAfter(before)).to.equal(1)
    const next = await create({ name: 'Again' })
    expect(next.id).not.to.equal(channel)
    expect((await items(next.id))['data'].items).to.deep.equal([])
    await assigned(next.id, 'links', id)
    expect((await items(next.id))['data'].items).to.have.length(1)
  })

  it('are links, bio pages or QR codes only', async () => {
    const { id: channel } = await create()
    const { id } = await link()
    for (const type of ['link', 'LINKS', 'splash', 'constructor', '__proto__', '0']) {
      const answer = await assign(channel, type, id)
      expect(answer.status, type).to.equal(400)
      expect(answer.json['message']).to.equal('`type` must be one of links, bio, qr.')
    }
    expect((await items(channel))['data'].result).to.equal(0)
  })
})
