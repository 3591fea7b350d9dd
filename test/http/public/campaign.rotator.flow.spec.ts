import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { inSeconds, secondsLater } from '../../support/clock.ts'
import { openStage, query } from '../../support/faults.ts'
import { send } from '../../support/raw.ts'
import { campaignClient } from '../../support/clients/campaign.ts'

describe('the rotator of a campaign', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp()
    ;({ key } = await app.register())
  })
  after(() => app.close())
  const { create, update, link, assigned, pathOf, visit, free } = campaignClient(
    () => app,
    () => key,
  )

  /** Creates a public campaign with links to these addresses. */
  const rotator = async (urls: readonly string[], more: object = {}) => {
    const campaign = await create({ slug: free() })
    const links = []
    for (const url of urls) links.push(await link({ url, campaign: campaign.id, ...more }))
    return { ...campaign, links }
  }
  const destination = async (address: string) => {
    const { status, headers } = await visit(address)
    return status === 302 ? headers.get('Location') : status
  }

  it('sends visitors to its links equally often, and never lets a choice be cached', async () => {
    const urls = ['https://example.com/1', 'https://example.com/2', 'https://example.com/3']
    const { rotator: address } = await rotator(urls)
    const counts = new Map<unknown, number>()
    for (let n = 0; n < 300; n++) {
      const found = await destination(address)
      counts.set(found, (counts.get(found) ?? 0) + 1)
    }
    expect([...counts.keys()]).to.have.members(urls)
    // 100 each are expected, with a standard deviation of 8.2
    for (const [url, count] of counts) expect(count, url as string).to.be.within(50, 150)
    const { headers } = await visit(address)
    expect(headers.get('Cache-Control')).to.equal('private, no-store')
  })

  it('is found in any case and with any query', async () => {
    const { rotator: address } = await rotator(['https://example.com/1'])
    for (const path of [pathOf(address).toUpperCase().replace('/R/', '/r/'), `${pathOf(address)}?a=b`])
      expect((await app.visit(path)).headers.get('Location')).to.equal('https://example.com/1')
  })

  it('counts the click on the link and records the rotator as its source', async () => {
    const { id, rotator: address, links } = await rotator(['https://example.com/counted'])
    await visit(address)
    const { json } = await until(
      () => app.get(`/api/url/${links[0]!.id}`, { key }),
      (answer) => answer.json['data'].clicks === 1,
    )
    expect(json['data'].clicks).to.equal(1)
    const rows = await query<{ data: { clicks: { link: number; source: object }[] } }>(
      app.connection,
      `select data from log.events where type = 'LinkClicked'`,
    )
    const clicks = rows.flatMap(({ data }) => data.clicks).filter((click) => click.link === links[0]!.id)
    expect(clicks.map(({ source }) => source)).to.deep.equal([{ kind: 'rotator', id }])
  })

  it('follows added, moved, expired and deleted links and its own slug at once', async () => {
    const campaign = await rotator(['https://example.com/1'])
    const [first] = campaign.links
    expect(await destination(campaign.rotator)).to.equal('https://example.com/1')
    const second = await link({ url: 'https://example.com/2' })
    await assigned(campaign.id, second.id)
    await app.del(`/api/url/${first!.id}/delete`, { key })
    expect(await destination(campaign.rotator)).to.equal('https://example.com/2')
    await app.put(`/api/url/${second.id}/update`, { key, body: { url: 'https://example.com/3' } })
    expect(await destination(campaign.rotator)).to.equal('https://example.com/3')
    const moved = `${free()}-moved`
    await update(campaign.id, { name: 'x', slug: moved })
    expect(await destination(campaign.rotator)).to.equal(404)
    expect(await destination(`${app.app.baseUrl}/r/${moved}`)).to.equal('https://example.com/3')
    await assigned((await create()).id, second.id)
    expect(await destination(`${app.app.baseUrl}/r/${moved}`)).to.equal(404)
  })

  it('redirects exactly as the link would, including its targets', async () => {
    const devicetarget = [{ device: 'iphone', link: 'https://example.com/phone' }]
    const parameters = [{ name: 'from', value: 'spring' }]
    const { rotator: address } = await rotator(['https://example.com/all'], { devicetarget, parameters })
    const iphone =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Version/17.0 Mobile/15E148 Safari/604.1'
    expect((await visit(address, { 'User-Agent': iphone })).headers.get('Location')).to.equal(
      'https://example.com/phone?from=spring',
    )
    expect(await destination(address)).to.equal('https://example.com/all?from=spring')
  })

  it('leads to links on active branded domains, but is not served there', async () => {
    const domain = await app.post('/api/domain/add', { key, body: { domain: 'https://go.campaign-spec.example' } })
    expect(domain.status, domain.text).to.equal(200)
    const campaign = await rotator(['https://example.com/branded'], {
      domain: 'go.campaign-spec.example',
      title: 'Branded',
    })
    expect(await destination(campaign.rotator)).to.equal('https://example.com/branded')
    const list = async () => (await app.visit(pathOf(campaign.list))).text
    expect(await list())
      .to.include(`href="${campaign.links[0]!.short}" rel="noopener nofollow ugc"`)
      .and.include('<b dir="auto">Branded</b>')
    expect(campaign.links[0]!.short).to.match(/^https:\/\/go\.campaign-spec\.example\//)
    for (const address of [campaign.rotator, campaign.list]) {
      const headers = { Host: 'go.campaign-spec.example' }
      expect((await send(app.address, 'GET', pathOf(address), { headers })).status).to.equal(404)
    }
    await app.del(`/api/domain/${domain.json['id']}/delete`, { key })
    expect(await destination(campaign.rotator)).to.equal(404)
    expect(await list()).not.to.include('Branded')
  })

  it('skips expired links', async () => {
    const campaign = await rotator(['https://example.com/lasting'])
    await link({ url: 'https://example.com/brief', campaign: campaign.id, expiry: inSeconds(60) })
    await secondsLater(61, async () => {
      for (let n = 0; n < 20; n++) expect(await destination(campaign.rotator)).to.equal('https://example.com/lasting')
    })
  })

  it("redirects to a protected link's own address for its password form", async () => {
    const campaign = await rotator(['https://example.com/secret'], { password: 'open sesame' })
    const { short } = campaign.links[0]!
    expect(await destination(campaign.rotator)).to.equal(short)
    expect((await visit(short)).text).to.include('name="password"')
  })

  it('returns 404 when it has no live link or is not public', async () => {
    const empty = await create({ slug: free() })
    expect(await destination(empty.rotator)).to.equal(404)
    const closed = await rotator(['https://example.com/1'])
    await update(closed.id, { name: 'x', public: false })
    expect(await destination(closed.rotator)).to.equal(404)
    await update(closed.id, { name: 'x', public: true })
    expect(await destination(closed.rotator)).to.equal('https://example.com/1')
    await app.del(`/api/campaign/${closed.id}/delete`, { key })
    const [unknown, missing] = [await visit(closed.rotator), await app.visit('/r/no-such-slug')]
    // each page shows the address that was asked for
    const without = (text: string, path: string) => text.replaceAll(path.slice(1), '')
    expect([unknown.status, without(unknown.text, pathOf(closed.rotator))]).to.deep.equal([
      404,
      without(missing.text, '/r/no-such-slug'),
    ])
    for (const path of ['/r/', '/r/a/b', '/r/%41', '/r/-a', `/r/${'x'.repeat(65)}`])
      expect((await app.visit(path)).status, path).to.equal(404)
  })

  it('has a change of the campaign at once, also after a look-up that took long', async () => {
    const urls = ['https://example.com/kept', 'https://example.com/moved']
    const { id, rotator: address, list, links } = await rotator(urls)
    const stage = openStage()
    try {
      const lock = await stage.connect(app.connection)
      await lock.query(`begin; lock table ${app.app.ledger.tables.name('links')} in access exclusive mode`)
      const slow = Promise.all([destination(address), visit(list)])
      const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and now() - query_start > '1 s' and query like '%campaign%'`
      await until(
        () => query(app.connection, waits),
        (rows) => rows.length > 1,
      )
      await lock.query('rollback')
      const [led, shown] = await slow
      expect(urls).to.include(led)
      expect(shown.text).to.include(links[1]!.short)
    } finally {
      await stage.clear()
    }
    await assigned((await create()).id, links[1]!.id)
    for (let n = 0; n < 20; n++) expect(await destination(address)).to.equal(urls[0])
    expect((await visit(list)).text)
      .to.include(links[0]!.short)
      .and.not.include(links[1]!.short)
    await update(id, { name: 'x', public: false })
    expect([await destination(address), (await visit(list)).status]).to.deep.equal([404, 404])
    await update(id, { name: 'x', public: true })
    expect([await destination(address), (await visit(list)).status]).to.deep.equal([urls[0], 200])
    await app.del(`/api/campaign/${id}/delete`, { key })
    expect(await destination(address)).to.equal(404)
  })

  it('supports only GET and HEAD', async () => {
    const { rotator: address } = await rotator(['https://example.com/1'])
    const posted = await app.post(pathOf(address))
    expect([posted.status, posted.headers.get('Allow')]).to.deep.equal([405, 'GET, HEAD, OPTIONS'])
    expect((await app.ask('HEAD', pathOf(address))).status).to.equal(302)
  })
})
