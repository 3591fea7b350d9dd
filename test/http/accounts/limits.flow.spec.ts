import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { signIn } from '../../support/session.ts'

type Session = Awaited<ReturnType<typeof signIn>>
/** in every text of what the owner has made */
const marker = 'notyours'

describe('a member who sees a part of an account', () => {
  let app: TestApp
  let account: number
  let owner: Session
  const asked = (who: Session) => (method: string, path: string, body?: object) =>
    who.ask(method, path, body, { 'Linkledger-Account': String(account) })
  const asOwner = (method: string, path: string, body?: object) => asked(owner)(method, path, body)
  const make = async (ask: typeof asOwner, path: string, body: object) =>
    Number((await ask('POST', path, body)).json['id'])
  const join = async (rights: object) => {
    const session = await signIn(app, (await app.register()).email)
    const { json } = await asOwner('POST', '/api/member/invite', rights)
    await session.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
    return asked(session)
  }
  const add = (domain?: string) =>
    make(asOwner, '/api/url/add', {
      url: `https://${marker}.example.com/a`,
      title: marker,
      notes: marker,
      tags: [marker],
      domain,
    })
  const events = ({ json }: Answer) => json['data'].events as { type: string; changes: { field: string }[] }[]

  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off', SESSION_RATE_LIMIT_PER_MINUTE: '0' })
    const registered = await app.register()
    account = registered.id
    owner = await signIn(app, registered.email)
  })
  after(() => app.close())

  it('reads in the history of a campaign only that links of others came and went', async () => {
    const theirs = await make(asOwner, '/api/domain/add', { domain: 'https://theirs.example' })
    for (const rights of [{ role: 'author' }, { role: 'editor', domains: [theirs] }]) {
      const ask = await join(rights)
      const campaign = await make(ask, '/api/campaign/add', { name: 'own' })
      const link = await add()
      await asOwner('POST', `/api/campaign/${campaign}/assign/${link}`)
      await make(asOwner, '/api/url/add', { url: `https://${marker}.example.com/b`, title: marker, campaign })
      const one = (await asOwner('GET', `/api/url/${link}`)).json['details']
      await asOwner('PUT', `/api/url/${link}/update`, { url: one.longurl, campaign: null, title: `${marker} 2` })
      await asOwner('POST', `/api/campaign/${campaign}/assign/${link}`)
      await asOwner('DELETE', `/api/url/${link}/delete`)
      await asOwner('POST', `/api/url/${link}/restore`, {})
      const path = `/api/campaign/${campaign}/history?order=oldest`
      for (const at of ['', `&at=${new Date().toISOString()}`]) {
        const all = await asOwner('GET', `${path}${at}`)
        const seen = await ask('GET', `${path}${at}`)
        expect(JSON.stringify(all.json)).to.include(marker)
        expect(JSON.stringify(seen.json)).to.not.include(marker)
        expect(events(seen).map(({ type }) => type)).to.deep.equal(events(all).map(({ type }) => type))
        const fields = events(seen)
          .filter(({ type }) => type.startsWith('Link'))
          .flatMap(({ changes }) => changes.map(({ field }) => field))
        expect(new Set(fields)).to.deep.equal(new Set(['campaign']))
        expect(events(await asOwner('GET', `${path}&q=${marker}${at}`))).to.not.be.empty
        expect(events(await ask('GET', `${path}&q=${marker}${at}`))).to.be.empty
      }
    }
  })

  it('reads the changes of their own links in the history of a campaign', async () => {
    const ask = await join({ role: 'author' })
    const campaign = await make(ask, '/api/campaign/add', { name: 'own' })
    await make(ask, '/api/url/add', { url: 'https://example.com/mine', title: 'mine', campaign })
    const found = events(await ask('GET', `/api/campaign/${campaign}/history?q=mine`))
    expect(found.map(({ type }) => type)).to.deep.equal(['LinkCreated'])
    expect(found[0]?.changes.map(({ field }) => field)).to.include('longurl')
  })

  it('finds no event of a channel by the names of links and channels of others', async () => {
    const ask = await join({ role: 'author' })
    const [channel, others] = [
      await make(ask, '/api/channel/add', { name: 'own' }),
      await make(asOwner, '/api/channel/add', { name: marker }),
    ]
    const own = await make(ask, '/api/url/add', { url: 'https://example.com/own' })
    await asOwner('POST', `/api/channel/${channel}/assign/links/${await add()}`)
    await asOwner('POST', `/api/channel/${others}/assign/links/${own}`)
    for (const path of [`/api/channel/${channel}/history`, `/api/url/${own}/history`]) {
      expect(events(await asOwner('GET', `${path}?q=${marker}`)), path).to.not.be.empty
      expect(events(await ask('GET', `${path}?q=${marker}`)), path).to.be.empty
    }
  })

  it('finds no link, visit or total of the past that is on a domain of others by now', async () => {
    const theirs = await make(asOwner, '/api/domain/add', { domain: 'https://before.example' })
    await make(asOwner, '/api/domain/add', { domain: 'https://after.example' })
    const ask = await join({ role: 'editor', domains: [theirs] })
    const link = await add('https://before.example')
    const address = new URL((await asOwner('GET', `/api/url/${link}`)).json['details'].shorturl)
    await app.visit(address.pathname, { Host: 'before.example' })
    const seen = async (at: string) => {
      const list = await ask('GET', `/api/urls${at}`)
      const visits = await ask('GET', `/api/visits${at}`)
      const stats = await ask('GET', `/api/stats${at}`)
      return [list.json['data'].result, visits.json['data'].visits.length, stats.json['data'].total.clicks]
    }
    // the click may arrive between two of the three requests
    await until(
      () => seen(''),
      (found) => found.every((count) => count === 1),
    )
    const at = `?at=${new Date().toISOString()}`
    expect(await seen(at)).to.deep.equal([1, 1, 1])

    await asOwner('PUT', `/api/url/${link}/update`, {
      url: `https://${marker}.example.com/a`,
      domain: 'https://after.example',
      keep_old: false,
    })
    expect((await ask('GET', `/api/url/${link}${at}`)).status).to.equal(404)
    // the read tables have the move soon after it
    await until(
      () => seen(''),
      ([links]) => links === 0,
    )
    expect(await seen(at)).to.deep.equal([0, 0, 0])
  })
})
