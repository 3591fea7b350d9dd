import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'

describe('a link that refers to other resources', () => {
  let app: TestApp
  let key: string
  let foreign: string
  before(async () => {
    app = await startTestApp()
    ;({ key } = await app.register())
    foreign = (await app.register()).key
  })
  after(() => app.close())

  const create = async (path: string, body: object, as = key) => {
    const { json } = await app.post(path, { key: as, body })
    expect(json, JSON.stringify(json)).to.include({ error: 0 })
    return json['id'] as number
  }
  const resources: Record<string, (as?: string) => Promise<number>> = {
    pixels: (as) => create('/api/pixel/add', { type: 'bing', name: 'p', tag: 'abc' }, as),
    campaign: (as) => create('/api/campaign/add', { name: 'c' }, as),
    channel: (as) => create('/api/channel/add', { name: 'c' }, as),
    splash: (as) => create('/api/splash/add', { name: 's' }, as),
    overlay: (as) => create('/api/overlay/add', { type: 'message', name: 'o', message: 'Hello' }, as),
  }
  const link = (body: object) => create('/api/url/add', { url: 'https://example.com/x', ...body })
  const details = async (id: number) => (await app.get(`/api/url/${id}`, { key })).json['details']

  it('returns them in its details', async () => {
    const [pixel, campaign, channel] = [
      await resources['pixels']!(),
      await resources['campaign']!(),
      await resources['channel']!(),
    ]
    const id = await link({ pixels: [pixel, String(pixel)], campaign: String(campaign), channel })
    expect(await details(id)).to.deep.include({ pixels: [pixel], campaign })
    const { json } = await app.get(`/api/channel/${channel}`, { key })
    expect(json['data'].items.map((item: { id: number; type: string }) => [item.type, item.id])).to.deep.equal([
      ['links', id],
    ])
  })

  it('accepts splash-ID, an id alone for a splash page, and overlay-ID', async () => {
    const [splash, overlay] = [await resources['splash']!(), await resources['overlay']!()]
    for (const type of [splash, String(splash), `splash-${splash}`])
      expect((await details(await link({ type }))).type).to.equal(`splash-${splash}`)
    const id = await link({ type: `overlay-${overlay}` })
    expect((await details(id)).type).to.equal(`overlay-${overlay}`)
    await app.put(`/api/url/${id}/update`, { key, body: { url: 'https://example.com/x', type: '' } })
    expect((await details(id)).type).to.equal('direct')
  })

  it('is rejected unless they belong to the account, and nothing is stored', async () => {
    const theirs = Object.fromEntries(
      await Promise.all(Object.entries(resources).map(async ([name, make]) => [name, await make(foreign)] as const)),
    )
    const wrong: [string, object][] = [
      ['pixels', { pixels: [theirs['pixels']] }],
      ['pixels', { pixels: [999_999] }],
      ['pixels', { pixels: 'all' }],
      ['pixels', { pixels: ['x'] }],
      ['campaign', { campaign: theirs['campaign'] }],
      ['campaign', { campaign: 1.5 }],
      ['channel', { channel: theirs['channel'] }],
      ['type', { type: `splash-${theirs['splash']}` }],
      ['type', { type: theirs['splash'] }],
      ['type', { type: `overlay-${theirs['overlay']}` }],
      ['type', { type: 'popup' }],
      ['type', { type: 'splash-0' }],
    ]
    const before = await app.domainHead()
    for (const [field, body] of wrong) {
      const { status, json } = await app.post('/api/url/add', { key, body: { url: 'https://example.com/', ...body } })
      expect([status, json['message']], JSON.stringify(body)).to.satisfy(
        ([code, message]: [number, string]) => code === 400 && message.startsWith(`\`${field}`),
      )
    }
    expect(await app.domainHead()).to.equal(before)
  })

  it('no longer shows a pixel or campaign that is deleted', async () => {
    const [kept, gone, campaign] = [
      await resources['pixels']!(),
      await resources['pixels']!(),
      await resources['campaign']!(),
    ]
    const id = await link({ pixels: [gone, kept], campaign })
    await app.del(`/api/pixel/${gone}/delete`, { key })
    await app.del(`/api/campaign/${campaign}/delete`, { key })
    expect(await details(id)).to.deep.include({ pixels: [kept], campaign: null })
  })
})
