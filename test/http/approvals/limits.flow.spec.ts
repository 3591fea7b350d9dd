import { expect } from 'chai'
import { failure, proposed, startWithRules } from '../../support/approvals.ts'

describe('a pending proposal', () => {
  let world: Awaited<ReturnType<typeof startWithRules>>
  before(async () => {
    world = await startWithRules()
  })
  after(() => world.app.close())

  const asAnn = (method: string, path: string, body?: object) => world.asked(world.ann, method, path, body)
  const approve = (number: number) => world.decide(world.ben, 'approve', number)

  it('is out of date once a splash page, overlay, pixel or domain that it names was changed', async () => {
    const { add, change, detailsOf, found } = world
    const made = async (path: string, body: object) =>
      Number((await asAnn('POST', `/api/${path}/add`, body)).json['id'])
    const splash = await made('splash', { name: 'one', title: 'harmless', counter: 5 })
    const overlay = await made('overlay', { type: 'message', name: 'one', message: 'harmless' })
    const pixel = await made('pixel', { type: 'gtmpixel', name: 'one', tag: 'GTM-AAAAAA' })
    const domain = await made('domain', { domain: 'https://named.example' })
    const named = [
      [{ type: `splash-${splash}` }, `splash/${splash}`, { name: 'one', title: 'another', counter: 5 }],
      [{ type: `overlay-${overlay}` }, `overlay/${overlay}`, { message: 'another' }],
      [{ pixels: [pixel] }, `pixel/${pixel}`, { tag: 'GTM-BBBBBB' }],
      [{ domain: 'https://named.example' }, `domain/${domain}`, { redirect404: 'https://example.com/another' }],
    ] as const
    for (const [use, path, changed] of named) {
      const id = await add()
      const before = await detailsOf(id)
      const number = proposed(await change(id, use))
      expect((await found(number)).json['details'].stale).to.equal(false)
      expect((await asAnn('PUT', `/api/${path}/update`, changed)).status, path).to.equal(200)
      expect((await found(number)).json['details'].stale).to.equal(true)
      expect(failure(await approve(number)).slice(0, 2)).to.deep.equal([409, 'stale'])
      expect(await detailsOf(id)).to.deep.equal(before)
      expect((await approve(proposed(await change(id, use)))).status).to.equal(200)
    }
  })

  it('is out of date once a resource of the link was changed while the link was deleted', async () => {
    const { add } = world
    const splash = Number((await asAnn('POST', '/api/splash/add', { name: 'two', title: 'a', counter: 5 })).json['id'])
    const id = await add({ type: `splash-${splash}` })
    await approve(proposed(await asAnn('DELETE', `/api/url/${id}/delete`)))
    const number = proposed(await asAnn('POST', `/api/url/${id}/restore`, {}))
    const changed = await asAnn('PUT', `/api/splash/${splash}/update`, { name: 'two', title: 'b', counter: 5 })
    expect(changed.status).to.equal(200)
    expect(failure(await approve(number)).slice(0, 2)).to.deep.equal([409, 'stale'])
  })

  it('is also the loss of a tag that the rules name, while another rule names the link', async () => {
    const { add, change, decide, join } = world
    const { session: admin } = await join('admin')
    expect((await asAnn('PUT', '/api/account/approval', { tags: ['printed'], live: true })).status).to.equal(200)
    const id = await add({ tags: ['printed', 'more'] })
    const removal = proposed(await change(id, { tags: ['more'] }))
    expect((await change(id, { tags: ['printed'] })).status).to.equal(200)
    expect((await decide(world.ann, 'refuse', removal)).status).to.equal(200)
    const less = proposed(await asAnn('PUT', '/api/account/approval', { tags: ['printed'] }))
    expect((await decide(admin, 'approve', less)).status).to.equal(200)
  })

  it('is found by the type of its resource, and by its proposer', async () => {
    const { add, change, join } = world
    const { session, number: member } = await join('editor')
    const number = proposed(await change(await add(), { url: 'https://example.com/found' }, session))
    const found = async (query: string) =>
      (await asAnn('GET', `/api/proposals?limit=1000&${query}`)).json['data'].proposals.map(
        ({ id }: { id: number }) => id,
      )
    expect(await found(`made_by=${member}`)).to.deep.equal([number])
    expect(await found(`made_by=${member}&q=url`)).to.deep.equal([number])
    expect(await found(`made_by=${member}&q=link`)).to.deep.equal([])
  })

  it('is not kept by a domain that was deleted: the rules can still be changed', async () => {
    const id = Number((await asAnn('POST', '/api/domain/add', { domain: 'https://ruled.example' })).json['id'])
    const set = (body: object) => asAnn('PUT', '/api/account/approval', body)
    const rules = async () => (await asAnn('GET', '/api/account/approval')).json['data']
    expect((await set({ tags: ['printed'], domains: [id] })).status).to.equal(200)
    expect((await approve(proposed(await asAnn('DELETE', `/api/domain/${id}/delete`)))).status).to.equal(200)
    const now = await rules()
    expect((await set(now)).status).to.equal(200)
    expect((await set({ ...now, tags: ['legal', 'printed'] })).status).to.equal(200)
    expect(await rules()).to.deep.equal({ tags: ['legal', 'printed'], domains: [id], live: false })
    // it comes back under its id, and by approval
    const again = await asAnn('POST', '/api/domain/add', { domain: 'https://ruled.example' })
    proposed(again)
    expect(again.json['id']).to.equal(id)
  })

  it('follows rules whose errors name their field', async () => {
    const refused = async (domains: unknown) => {
      const { status, json } = await asAnn('PUT', '/api/account/approval', { domains })
      return [status, json['field'], json['message']]
    }
    expect(await refused([999_999])).to.deep.equal([
      400,
      'domains',
      '`domains` must be ids of your domains: there is no domain 999999.',
    ])
    for (const sent of [['a'], [1.5], 'a'])
      expect(await refused(sent)).to.deep.equal([400, 'domains', '`domains` must be a list of ids of domains.'])
  })
})
