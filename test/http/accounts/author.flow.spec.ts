import { expect } from 'chai'
import { routes } from '../../../src/http/routes.ts'
import { isWithinLimit } from '../../../src/http/api/limits/part.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { signIn } from '../../support/session.ts'

type Session = Awaited<ReturnType<typeof signIn>>
/** in everything that others have made */
const marker = 'notyours'

describe('an author', () => {
  let app: TestApp
  let account: number
  let [owner, author]: Session[] = []
  const asked = (who: Session, method: string, path: string, body?: object) =>
    who.ask(method, path, body, { 'Linkledger-Account': String(account) })
  const asOwner = (method: string, path: string, body?: object) => asked(owner!, method, path, body)
  const asAuthor = (method: string, path: string, body?: object) => asked(author!, method, path, body)
  const failure = ({ status, json }: Answer) => [status, json['code']]
  /** Returns the ids in a list, whose collection is the only array of its answer. */
  const ids = ({ json }: Answer) =>
    (Object.values(json['data']).find(Array.isArray) as { id: number }[]).map(({ id }) => id)
  const join = async (role: string) => {
    const made = await app.register()
    const session = await signIn(app, made.email)
    const { json } = await asOwner('POST', '/api/member/invite', { role })
    await session.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
    return { ...made, session, member: Number(json['id']) }
  }
  let member: number
  /** ids of one of each kind that the owner has made, by the paths of the API */
  const others: Record<string, number> = {}
  let link: number

  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off', SESSION_RATE_LIMIT_PER_MINUTE: '0' })
    const registered = await app.register()
    account = registered.id
    owner = await signIn(app, registered.email)
    const joined = await join('author')
    author = joined.session
    member = joined.member
    const url = `https://${marker}.example.com/a`
    for (const [path, body] of Object.entries({
      url: { url, title: marker, custom: marker, tags: [marker] },
      qr: { type: 'text', data: marker, name: marker },
      bio: { name: marker, alias: `${marker}page`, links: [{ title: marker, url }] },
      campaign: { name: marker },
      channel: { name: marker },
      pixel: { type: 'fbpixel', name: marker, tag: '1234567890' },
      splash: { name: marker, title: marker, counter: 5 },
      overlay: { type: 'message', name: marker, message: marker },
      domain: { domain: `https://${marker}.example` },
    }))
      others[path] = Number((await asOwner('POST', `/api/${path}/add`, body)).json['id'])
    link = Number(
      (await asAuthor('POST', '/api/url/add', { url: 'https://example.com/own', custom: 'own' })).json['id'],
    )
    for (const alias of [marker, marker, 'own']) await app.visit(`/${alias}`)
    await until(
      async () => (await asOwner('GET', '/api/stats')).json['data'].total.clicks,
      (clicks) => clicks === 3,
    )
  })
  after(() => app.close())

  it('sees only their own resources in lists, apart from those that all members may use in links', async () => {
    expect(ids(await asAuthor('GET', '/api/urls?archived=all'))).to.deep.equal([link])
    for (const path of ['qr', 'bio', 'campaigns', 'channels'])
      expect(ids(await asAuthor('GET', `/api/${path}`)), path).to.deep.equal([])
    for (const [path, kind] of Object.entries({
      domains: 'domain',
      pixels: 'pixel',
      splash: 'splash',
      overlay: 'overlay',
    }))
      expect(ids(await asAuthor('GET', `/api/${path}`)), path).to.deep.equal([others[kind]])
  })

  it('finds and changes no resource of others by its id, its address, its campaign or its channel', async () => {
    for (const [path, id] of Object.entries(others))
      for (const [method, action] of [
        ['PUT', 'update'],
        ['DELETE', 'delete'],
      ] as const)
        expect(
          failure(await asAuthor(method, `/api/${path}/${id}/${action}`, { name: 'x', title: 'x' })),
          path,
        ).to.deep.equal([404, 'not_found'])
    for (const path of [
      `/api/stats?link=${others['url']}`,
      `/api/stats?campaign=${others['campaign']}`,
      `/api/visits?qr=${others['qr']}`,
    ])
      expect(failure(await asAuthor('GET', path)), path).to.deep.equal([404, 'not_found'])
    expect((await asAuthor('GET', `/api/urls?short=${marker}`)).json).to.include({ error: 1, code: 'not_found' })
    const [campaign, channel] = [others['campaign'], others['channel']]
    for (const [method, path, body] of [
      ['POST', `/api/campaign/${campaign}/assign/${link}`],
      ['POST', `/api/channel/${channel}/assign/links/${link}`],
      ['PUT', `/api/url/${link}/update`, { campaign }],
      ['PUT', `/api/url/${link}/update`, { channel: [channel] }],
    ] as const)
      expect((await asAuthor(method, path, body)).status, path).to.be.oneOf([400, 404])
    const bulk = await asAuthor('POST', '/api/urls/bulk?op=update', { rows: [{ id: others['url'], title: 'x' }] })
    expect(bulk.json['rows'][0]).to.include({ error: 1, code: 'not_found' })
    expect((await asOwner('GET', `/api/url/${others['url']}`)).json['details'].title).to.equal(marker)
    expect(ids(await asOwner('GET', `/api/channel/${channel}`))).to.deep.equal([])
  })

  it('moves links among their own campaigns and channels only', async () => {
    const id = Number((await asAuthor('POST', '/api/url/add', { url: 'https://example.com/in' })).json['id'])
    const [campaign, channel] = [others['campaign'], others['channel']]
    await asOwner('POST', `/api/campaign/${campaign}/assign/${id}`)
    await asOwner('POST', `/api/channel/${channel}/assign/links/${id}`)
    // without it, and out of the channels that they see: none
    const change = { url: 'https://example.com/in', campaign: null, channel: null }
    expect((await asAuthor('PUT', `/api/url/${id}/update`, change)).status).to.equal(200)
    expect(ids(await asOwner('GET', `/api/channel/${channel}`))).to.include(id)
    const back = await asAuthor('POST', `/api/url/${id}/restore`, { revision: 1 })
    expect(failure(back)).to.deep.equal([404, 'not_found'])
    expect((await asOwner('GET', `/api/url/${id}`)).json['details'].campaign).to.equal(null)
    // what was there already comes back with the link
    await asOwner('POST', `/api/campaign/${campaign}/assign/${id}`)
    await asAuthor('DELETE', `/api/url/${id}/delete`)
    expect((await asAuthor('POST', `/api/url/${id}/restore`, {})).status).to.equal(200)
    await asOwner('DELETE', `/api/url/${id}/delete`)
  })

  it('sees no link of others in the totals of a campaign or a channel of their own', async () => {
    const own = async (path: string, body: object) => Number((await asAuthor('POST', path, body)).json['id'])
    const campaign = await own('/api/campaign/add', { name: 'Own' })
    const channel = await own('/api/channel/add', { name: 'Own' })
    const before = others['url']
    await asOwner('POST', `/api/campaign/${campaign}/assign/${before}`)
    await asOwner('POST', `/api/channel/${channel}/assign/links/${before}`)
    for (const [who, links] of [
      [asOwner, 1],
      [asAuthor, 0],
    ] as const) {
      const { data } = (await who('GET', `/api/campaign/${campaign}`)).json
      const { totals } = (await who('GET', `/api/channel/${channel}`)).json
      expect([data.links, totals.links]).to.deep.equal([links, links])
    }
    for (const path of [`/api/campaign/${campaign}/delete`, `/api/channel/${channel}/delete`])
      await asAuthor('DELETE', path)
  })

  it('finds nothing of others in the past either', async () => {
    const at = new Date().toISOString()
    for (const path of [
      `/api/visits?link=${others['url']}`,
      `/api/visits?qr=${others['qr']}`,
      `/api/stats?by=link,country&link=${others['url']}`,
      `/api/stats?campaign=${others['campaign']}`,
      `/api/url/${others['url']}`,
      `/api/url/${others['url']}/stats`,
    ])
      expect(failure(await asAuthor('GET', `${path}${path.includes('?') ? '&' : '?'}at=${at}`)), path).to.deep.equal([
        404,
        'not_found',
      ])
  })

  it('finds their links in a channel of theirs, and not those of others', async () => {
    const channel = (await asAuthor('POST', '/api/channel/add', { name: 'mine' })).json['id']
    await asOwner('POST', `/api/channel/${channel}/assign/links/${others['url']}`)
    await asAuthor('POST', `/api/channel/${channel}/assign/links/${link}`)
    expect(ids(await asAuthor('GET', `/api/channel/${channel}`))).to.deep.equal([link])
    expect(ids(await asOwner('GET', `/api/channel/${channel}`))).to.have.length(2)
    await asAuthor('DELETE', `/api/channel/${channel}/delete`)
  })

  it('gets no answer that another member got under the same Idempotency-Key', async () => {
    const send = (who: Session) =>
      who.ask(
        'POST',
        '/api/url/add',
        { url: 'https://example.com/idem' },
        {
          'Linkledger-Account': String(account),
          'Idempotency-Key': 'the same for both',
        },
      )
    const made = await send(owner!)
    expect((await send(author!)).json['code']).to.equal('idempotency_key_used')
    await asOwner('DELETE', `/api/url/${made.json['id']}/delete`)
  })

  it('uses the pixels, splash pages and domains of others in links', async () => {
    const made = await asAuthor('POST', '/api/url/add', {
      url: 'https://example.com/own',
      pixels: [others['pixel']],
      type: `splash-${others['splash']}`,
    })
    expect(made.json).to.include({ error: 0 })
    await asAuthor('DELETE', `/api/url/${made.json['id']}/delete`)
  })

  it('reads statistics, visits and clicks of their own links', async () => {
    const { json } = await asAuthor('GET', '/api/stats?by=link')
    expect([json['data'].total.clicks, json['data'].by.link.length]).to.deep.equal([1, 1])
    expect(
      (await asAuthor('GET', '/api/visits')).json['data'].visits.map((row: { link: unknown }) => row.link),
    ).to.have.length(1)
    expect((await asAuthor('GET', `/api/stats?link=${link}`)).json['data'].total.clicks).to.equal(1)
    const clicks = await asAuthor('GET', '/api/clicks')
    expect(
      clicks.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).link),
    ).to.deep.equal([link])
  })

  it('meets nothing of others in any answer', async () => {
    const found: string[] = []
    for (const route of routes.filter((one) => one.method === 'get' && !one.public && isWithinLimit(one))) {
      const path = route.path.replaceAll(/:\w+/g, '999999')
      const { text } = await asAuthor('GET', path)
      const isShared = /\/api\/(domains?|pixels|splash|overlay)$/.test(route.path)
      if (text.includes(marker) && !isShared) found.push(route.path)
    }
    for (const [path, id] of Object.entries(others))
      for (const rest of ['/history', '/revisions', '/stats', '/image', '/answers', '/answers/counts']) {
        const { text } = await asAuthor('GET', `/api/${path}/${id}${rest}`)
        if (text.includes(marker)) found.push(`${path}${rest}`)
      }
    expect(found).to.deep.equal([])
  })

  it('gets an error that names the missing right of the role', async () => {
    for (const path of ['/api/events', '/api/account/stats', '/api/tags', '/api/urls?made_by=1'])
      expect(failure(await asAuthor('GET', path)), path).to.deep.equal([403, 'lacks_rights'])
  })

  it('leaves their links to another member, who then finds them', async () => {
    const heir = await join('author')
    const asHeir = (method: string, path: string, body?: object) => asked(heir.session, method, path, body)
    expect(ids(await asHeir('GET', '/api/urls'))).to.deep.equal([])
    expect(failure(await asOwner('DELETE', `/api/member/${member}/delete?to=999`))).to.deep.equal([404, 'not_found'])
    expect((await asOwner('DELETE', `/api/member/${member}/delete?to=${heir.member}`)).status).to.equal(200)
    expect(ids(await asHeir('GET', '/api/urls'))).to.deep.equal([link])
    expect(ids(await asOwner('GET', `/api/urls?made_by=${heir.member}`))).to.deep.equal([link])
    expect(ids(await asOwner('GET', '/api/urls?made_by=1'))).to.deep.equal([others['url']])
    expect((await asHeir('PUT', `/api/url/${link}/update`, { url: 'https://example.com/mine' })).json).to.include({
      error: 0,
    })
    expect((await asOwner('GET', `/api/stats?made_by=${heir.member}`)).json['data'].total.clicks).to.equal(1)
    expect((await asOwner('GET', '/api/stats?made_by=1')).json['data'].total.clicks).to.equal(2)
    const by = await asOwner('GET', `/api/account/history?member=${heir.member}`)
    expect(by.json['data'].events.map(({ type }: { type: string }) => type)).to.deep.equal([
      'LinkUpdated',
      'MemberJoined',
    ])
    const ofLink = await asOwner('GET', `/api/url/${link}/history?member=${member}`)
    expect(ofLink.json['data'].events.map(({ type }: { type: string }) => type)).to.deep.equal([
      'ItemAssignedToChannel',
      'LinkCreated',
    ])
  })
})

describe('a member who is limited to domains', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' })
  })
  after(() => app.close())

  it('sees and changes links on these domains only, and puts none on others', async () => {
    const [registered, made] = [await app.register(), await app.register()]
    const [owner, guest] = [await signIn(app, registered.email), await signIn(app, made.email)]
    const asGuest = (method: string, path: string, body?: object) =>
      guest.ask(method, path, body, { 'Linkledger-Account': String(registered.id) })
    const add = async (host: string) =>
      Number((await owner.ask('POST', '/api/domain/add', { domain: `https://${host}` })).json['id'])
    const [theirs, other] = [await add('theirs.example'), await add('other.example')]
    const link = async (domain: string | undefined) =>
      Number((await owner.ask('POST', '/api/url/add', { url: 'https://example.com/a', domain })).json['id'])
    const [own, onTheirs, onOther] = [
      await link(undefined),
      await link('https://theirs.example'),
      await link('https://other.example'),
    ]
    const refused = await owner.ask('POST', '/api/member/invite', { role: 'admin', domains: [theirs] })
    expect([refused.status, refused.json['code'], refused.json['field']]).to.deep.equal([
      403,
      'lacks_rights',
      'domains',
    ])
    const { json } = await owner.ask('POST', '/api/member/invite', { role: 'editor', domains: [theirs] })
    await guest.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
    const listed = async (path: string) => {
      const answer = await asGuest('GET', path)
      return (Object.values(answer.json['data']).find(Array.isArray) as { id: number }[]).map(({ id }) => id)
    }
    expect(await listed('/api/urls')).to.deep.equal([onTheirs])
    expect(await listed('/api/domains')).to.deep.equal([theirs])
    expect((await asGuest('GET', `/api/domain/${other}`)).status).to.equal(404)
    for (const id of [own, onOther])
      expect((await asGuest('PUT', `/api/url/${id}/update`, { url: 'https://example.com/z' })).status).to.equal(404)
    expect((await asGuest('PUT', `/api/url/${onTheirs}/update`, { url: 'https://example.com/z' })).status).to.equal(200)
    for (const domain of [undefined, 'https://other.example']) {
      const answer = await asGuest('POST', '/api/url/add', { url: 'https://example.com/b', domain })
      expect([answer.status, answer.json['params']?.what]).to.deep.equal([403, 'domain'])
    }
    const moved = await asGuest('PUT', `/api/url/${onTheirs}/update`, {
      url: 'https://example.com/z',
      domain: 'https://other.example',
    })
    expect(moved.status).to.equal(403)
    const bulk = await asGuest('POST', '/api/urls/bulk?op=create', { rows: [{ url: 'https://example.com/c' }] })
    expect(bulk.json['rows'][0]).to.include({ error: 1, code: 'lacks_rights' })
    const qr = await asGuest('POST', '/api/qr/add', { type: 'text', data: 'x', name: 'x' })
    expect(qr.status).to.equal(403)
    for (const [method, action] of [
      ['PUT', 'update'],
      ['DELETE', 'delete'],
    ] as const)
      expect((await asGuest(method, `/api/domain/${theirs}/${action}`, { redirectroot: '' })).status).to.equal(404)
    const campaign = await asGuest('POST', '/api/campaign/add', { name: 'mine' })
    expect(await listed('/api/campaigns')).to.deep.equal([campaign.json['id']])

    await owner.ask('PUT', '/api/member/2/update', { role: 'editor', domains: [0, other] })
    expect((await listed('/api/urls')).toSorted((a, b) => a - b)).to.deep.equal([own, onOther])
    await owner.ask('PUT', '/api/member/2/update', { role: 'editor' })
    expect(await listed('/api/urls')).to.have.length(3)
  })
})
