import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { accept, type Receiver, startReceiver } from '../../support/receiver.ts'

type Filter = Readonly<Partial<Record<'campaigns' | 'channels' | 'domains' | 'tags' | 'links', readonly unknown[]>>>

describe('webhooks with filters by campaign, channel, domain and tag', () => {
  let app: TestApp
  let receiver: Receiver
  let key: string
  let path: string
  before(async () => {
    receiver = await startReceiver()
    app = await startTestApp({ DOMAIN_CHECK: 'off' }, undefined, { webhooks: { post: receiver.post, firstPause: 10 } })
  })
  after(async () => {
    await app.close()
    await receiver.close()
  })
  let accounts = 0
  beforeEach(async () => {
    receiver.behave(accept)
    key = (await app.register()).key
    path = `/filter-${++accounts}`
  })

  const create = async (at: string, body: object, as = key): Promise<number> => {
    const { json, text } = await app.post(at, { key: as, body })
    expect(json['error'], `${at} ${text}`).to.equal(0)
    return Number(json['id'])
  }
  const link = async (body: object = {}) => {
    const { json } = await app.post('/api/url/add', { key, body: { url: 'https://example.com/', ...body } })
    return { id: Number(json['id']), path: new URL(String(json['short'])).pathname }
  }
  const hook = (filter: Filter, events: readonly string[] = ['*', 'clicks']) =>
    create('/api/webhook/add', { url: receiver.url(path), events, ...filter })
  const change = (id: number, body: object) =>
    app.put(`/api/url/${id}/update`, { key, body: { url: 'https://example.com/', ...body } })
  /** What has arrived, in order: `link-7 LinkUpdated`, or `click 7`. */
  const lines = () =>
    receiver.accepted(path).flatMap(({ type, data }) => {
      const clicks = (data['clicks'] as readonly { readonly link: number }[] | undefined) ?? []
      return type === 'clicks' ? clicks.map((click) => `click ${click.link}`) : [`${String(data['stream'])} ${type}`]
    })
  /** Sends a last event that passes, and returns what came before it. */
  const arrived = async (id: number): Promise<readonly string[]> => {
    const title = `last ${Math.random()}`
    await change(id, { title })
    const isLast = () => receiver.accepted(path).some(({ body }) => body.includes(title))
    expect(await until(async () => isLast(), Boolean)).to.equal(true)
    return lines().slice(0, -1)
  }
  const clickedOn = async (...links: readonly { readonly id: number; readonly path: string }[]) => {
    for (const one of links) {
      const before = Number((await app.get(`/api/url/${one.id}`, { key })).json['data'].clicks)
      await app.visit(one.path)
      await until(
        async () => Number((await app.get(`/api/url/${one.id}`, { key })).json['data'].clicks),
        (n) => n > before,
      )
    }
  }

  it('sends the clicks and changes of links in a campaign, those that move them, and those of the campaign', async () => {
    const [spring, summer] = [
      await create('/api/campaign/add', { name: 'Spring' }),
      await create('/api/campaign/add', { name: 'Summer' }),
    ]
    await hook({ campaigns: [spring] })
    const [a, b] = [await link(), await link()]
    await app.post(`/api/campaign/${spring}/assign/${a.id}`, { key })
    await app.post(`/api/campaign/${summer}/assign/${b.id}`, { key })
    await clickedOn(a, b)
    await app.put(`/api/campaign/${spring}/update`, { key, body: { name: 'Spring 2' } })
    await app.put(`/api/campaign/${summer}/update`, { key, body: { name: 'Summer 2' } })
    await app.post(`/api/campaign/${spring}/assign/${b.id}`, { key })
    await app.post(`/api/campaign/${summer}/assign/${b.id}`, { key })
    await change(b.id, { title: 'not in it any more' })
    await clickedOn(b)
    expect(await arrived(a.id)).to.deep.equal([
      `link-${a.id} LinkUpdated`,
      `click ${a.id}`,
      `campaign-${spring} CampaignUpdated`,
      `link-${b.id} LinkUpdated`,
      `link-${b.id} LinkUpdated`,
    ])
  })

  it('sends those of links in a channel until they leave it, or it is deleted, and when it is back', async () => {
    const channel = await create('/api/channel/add', { name: 'Print' })
    await hook({ channels: [channel], campaigns: [] })
    const [a, b] = [await link(), await link()]
    await app.post(`/api/channel/${channel}/assign/links/${a.id}`, { key })
    await app.post(`/api/channel/${channel}/assign/links/${b.id}`, { key })
    await clickedOn(a)
    await app.del(`/api/channel/${channel}/assign/links/${b.id}`, { key })
    await change(b.id, { title: 'out' })
    await app.del(`/api/channel/${channel}/delete`, { key })
    await change(a.id, { title: 'while it is deleted' })
    await app.post(`/api/channel/${channel}/restore`, { key, body: {} })
    expect(await arrived(a.id)).to.deep.equal([
      `channelitem-${channel}-links-${a.id} ItemAssignedToChannel`,
      `channelitem-${channel}-links-${b.id} ItemAssignedToChannel`,
      `click ${a.id}`,
      `channelitem-${channel}-links-${b.id} ItemRemovedFromChannel`,
      `channel-${channel} ChannelDeleted`,
      `channel-${channel} ChannelRestored`,
    ])
  })

  it('sends those of links on a domain, and of links that have one of the tags', async () => {
    const domain = await create('/api/domain/add', { domain: 'https://go.example.net' })
    await hook({ domains: [domain] })
    const a = await link({ domain: 'https://go.example.net' })
    await link()
    await app.put(`/api/domain/${domain}/update`, { key, body: { redirectroot: 'https://example.com/root' } })
    expect(await arrived(a.id)).to.deep.equal([`link-${a.id} LinkCreated`, `domain-${domain} DomainUpdated`])

    path += '-tags'
    await hook({ tags: ['Spring', 'sale'] })
    const [b, c] = [await link({ tags: ['spring'] }), await link({ tags: ['autumn'] })]
    await change(c.id, { tags: ['autumn', 'sale'] })
    await change(c.id, { tags: ['autumn'] })
    await change(c.id, { title: 'without' })
    await clickedOn(b, c)
    const named = [`link-${b.id} LinkCreated`, `link-${c.id} LinkUpdated`, `link-${c.id} LinkUpdated`, `click ${b.id}`]
    expect(await arrived(b.id)).to.deep.equal(named)
  })

  it('given several filters, sends events that pass all of them', async () => {
    const campaign = await create('/api/campaign/add', { name: 'Spring' })
    const [a, b, c] = [await link({ tags: ['x'] }), await link({ tags: ['y'] }), await link({ tags: ['x'] })]
    await app.post(`/api/campaign/${campaign}/assign/${a.id}`, { key })
    await app.post(`/api/campaign/${campaign}/assign/${b.id}`, { key })
    await hook({ campaigns: [campaign], tags: ['x'] })
    for (const { id } of [a, b, c]) await change(id, { title: 'changed' })
    await app.put(`/api/campaign/${campaign}/update`, { key, body: { name: 'Has no tag' } })
    expect(await arrived(a.id)).to.deep.equal([`link-${a.id} LinkUpdated`])
  })

  it('decides by the state at each event, so that a replay sends the same again', async () => {
    const campaign = await create('/api/campaign/add', { name: 'Spring' })
    const id = await hook({ campaigns: [campaign] })
    const a = await link()
    await change(a.id, { title: 'before' })
    await app.post(`/api/campaign/${campaign}/assign/${a.id}`, { key })
    await clickedOn(a)
    await change(a.id, { title: 'in it' })
    const first = await arrived(a.id)
    await app.put(`/api/url/${a.id}/update`, { key, body: { url: 'https://example.com/', title: 'still in it' } })
    await app.del(`/api/campaign/${campaign}/delete`, { key })
    await change(a.id, { title: 'after' })
    const expected = [
      ...first,
      ...Array<string>(2).fill(`link-${a.id} LinkUpdated`),
      `campaign-${campaign} CampaignDeleted`,
    ]
    const all = () =>
      until(
        async () => lines(),
        (found) => found.length >= expected.length,
      )
    expect(await all()).to.deep.equal(expected)
    const ids = receiver.accepted(path).map((message) => message.id)

    receiver.received.length = 0
    await app.post(`/api/webhook/${id}/replay`, { key, body: { from: Number(ids[0]!.slice(4)) } })
    await all()
    expect(receiver.accepted(path).map((message) => message.id)).to.deep.equal([...ids])

    const [message] = ids
    const again = await app.post(`/api/webhook/${id}/resend`, { key, body: { message } })
    expect(again.json, again.text).to.include({ error: 0, delivered: true, id: message })
  })

  it('changes its filters, shows them, and refuses resources of another account', async () => {
    const stranger = (await app.register()).key
    const foreign = await create('/api/campaign/add', { name: 'Theirs' }, stranger)
    const channel = await create('/api/channel/add', { name: 'Print' })
    const id = await hook({ channels: [channel], tags: ['A', 'a'] })
    const details = async () => (await app.get(`/api/webhook/${id}`, { key })).json['details'] as object
    const none = { links: [], campaigns: [], domains: [] }
    expect(await details()).to.deep.include({ ...none, channels: [channel], tags: ['a'] })
    await app.put(`/api/webhook/${id}/update`, { key, body: { channels: [], tags: ['b'] } })
    expect(await details()).to.deep.include({ ...none, channels: [], tags: ['b'] })
    const wrong: readonly (readonly [Filter, string])[] = [
      [{ campaigns: [foreign] }, `\`campaigns\` must be ids of your campaigns: there is no campaign ${foreign}.`],
      [{ channels: [999_999] }, '`channels` must be ids of your channels: there is no channel 999999.'],
      [{ domains: ['x'] }, '`domains.0` must be an id.'],
      [{ tags: ['a,b'] }, '`tags.0` must not contain a comma.'],
      [{ campaigns: Array.from({ length: 101 }, (_, n) => n + 1) }, '`campaigns` must have at most 100 entries.'],
    ]
    for (const [filter, message] of wrong) {
      const { status, json } = await app.put(`/api/webhook/${id}/update`, { key, body: filter })
      expect([status, json['message']]).to.deep.equal([400, message])
    }
  })
})
