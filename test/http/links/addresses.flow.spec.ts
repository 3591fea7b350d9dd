import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { visitAt } from '../../support/host.ts'

const url = 'https://example.com/a'

describe('the addresses of a link', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' })
    ;({ key } = await app.register())
  })
  after(() => app.close())

  let names = 0
  const free = () => `address-${++names}`
  const ask = async (method: string, path: string, body?: object) =>
    app.ask(method, path, { key, ...(body && { body }) })
  const ok = async (method: string, path: string, body?: object) => {
    const { json, text, status } = await ask(method, path, body)
    expect(status, `${method} ${path} ${text}`).to.equal(200)
    return json
  }
  const create = async (custom: string, more: object = {}) =>
    (await ok('POST', '/api/url/add', { url, custom, ...more }))['id'] as number
  const add = (id: number, body: object) => ok('POST', `/api/url/${id}/addresses`, body)
  const addresses = async (id: number) =>
    ((await ok('GET', `/api/url/${id}`))['details'].addresses as { id: number; alias: string; main: boolean }[]).map(
      ({ id: number, alias, main }) => `${number} ${alias}${main ? ' main' : ''}`,
    )
  const leadsTo = async (alias: string) => {
    const { status, headers } = await app.visit(`/${alias}`)
    return headers.get('Location') ?? status
  }

  it('all lead to its destination, as soon as they are added, and are listed with it', async () => {
    const [one, two] = [free(), free()]
    const id = await create(one)
    expect(await leadsTo(two)).to.equal(404)
    expect(await add(id, { custom: two })).to.deep.equal({
      ...{ error: 0, id: 2, revision: 1 },
      shorturl: `${app.app.baseUrl}/${two}`,
    })
    expect(await leadsTo(two)).to.equal(url)
    expect(await leadsTo(two.toUpperCase())).to.equal(url)
    await ok('PUT', `/api/url/${id}/update`, { url: 'https://example.com/b' })
    for (const alias of [one, two]) expect(await leadsTo(alias)).to.equal('https://example.com/b')
    expect(await addresses(id)).to.deep.equal([`1 ${one} main`, `2 ${two}`])
    const listed = async (query: string) => (await ok('GET', `/api/urls?${query}`))['data'].urls
    expect(
      await until(
        () => listed(`short=${two}`),
        (rows) => rows.length === 1,
      ),
    ).to.have.nested.property('[0].id', id)
    const [row] = await listed(`short=${one}`)
    expect(row).to.include({ id, alias: one })
    expect(row.addresses.map(({ alias, main }: { alias: string; main: boolean }) => [alias, main])).to.deep.equal([
      [one, true],
      [two, false],
    ])
  })

  it('may be on several domains', async () => {
    await ok('POST', '/api/domain/add', { domain: 'https://more.example.com' })
    const alias = free()
    const id = await create(alias)
    await add(id, { custom: alias, domain: 'more.example.com' })
    expect(await visitAt(app.address, 'more.example.com', `/${alias}`, {})).to.include({ status: 302, location: url })
    const { details } = await ok('GET', `/api/url/${id}`)
    expect(details.addresses[1]).to.include({ domain: 'https://more.example.com', main: false })
  })

  it('count their visits, which are visits of the link', async () => {
    const [one, two] = [free(), free()]
    const id = await create(one)
    await add(id, { custom: two })
    for (const alias of [one, two, two]) await leadsTo(alias)
    const { details, data } = await until(
      () => ok('GET', `/api/url/${id}`),
      (json) => json['data'].clicks === 3,
    )
    expect(data.clicks).to.equal(3)
    expect(details.addresses.map(({ clicks }: { clicks: number }) => clicks)).to.deep.equal([1, 2])
    const { data: stats } = await ok('GET', `/api/url/${id}/stats?by=address`)
    expect(stats.by.address).to.deep.equal({ 1: 1, 2: 2 })
    const { visits } = (await ok('GET', `/api/visits?link=${id}`))['data']
    expect(visits.map(({ address }: { address: number }) => address).toSorted()).to.deep.equal([1, 2, 2])
  })

  it('keep the former one when the link is renamed, unless that is not wanted', async () => {
    const [one, two, three] = [free(), free(), free()]
    const id = await create(one)
    await ok('PUT', `/api/url/${id}/update`, { url, custom: two })
    expect(await addresses(id)).to.deep.equal([`2 ${two} main`, `1 ${one}`])
    for (const alias of [one, two]) expect(await leadsTo(alias)).to.equal(url)
    await ok('PUT', `/api/url/${id}/update`, { url, custom: three, keep_old: false })
    expect(await addresses(id)).to.deep.equal([`2 ${three} main`, `1 ${one}`])
    expect([await leadsTo(one), await leadsTo(two), await leadsTo(three)]).to.deep.equal([url, 404, url])
    // each of them can become the main one again
    const { shorturl } = await ok('PUT', `/api/url/${id}/update`, { url, custom: one })
    expect(shorturl).to.equal(`${app.app.baseUrl}/${one}`)
    expect(await addresses(id)).to.deep.equal([`1 ${one} main`, `2 ${three}`])
    const { id: number } = await add(id, { custom: two, main: true })
    expect(await addresses(id)).to.deep.equal([`${number} ${two} main`, `1 ${one}`, `2 ${three}`])
  })

  it('can be taken away but for the main one, which the answer can take back, and history says so', async () => {
    const [one, two] = [free(), free()]
    const id = await create(one)
    await add(id, { custom: two })
    const main = await ask('DELETE', `/api/url/${id}/address/1/delete`)
    expect([main.status, main.json['message']]).to.deep.equal([
      400,
      'This is the main address of the link: make another one its main address first.',
    ])
    for (const unknown of ['3', '0', 'x'])
      expect((await ask('DELETE', `/api/url/${id}/address/${unknown}/delete`)).status).to.equal(404)
    const { undo } = await ok('DELETE', `/api/url/${id}/address/2/delete`)
    expect(await leadsTo(two)).to.equal(404)
    expect(await addresses(id)).to.deep.equal([`1 ${one} main`])
    await ok(undo.method, undo.path, undo.body)
    expect(await leadsTo(two)).to.equal(url)
    expect(await addresses(id)).to.deep.equal([`1 ${one} main`, `2 ${two}`])
    const { data } = await until(
      () => ok('GET', `/api/url/${id}/history`),
      (json) => json['data'].events.length === 5,
    )
    expect(data.events.map(({ type }: { type: string }) => type)).to.deep.equal([
      'LinkAddressAdded',
      'LinkRestored',
      'LinkAddressRemoved',
      'LinkAddressAdded',
      'LinkCreated',
    ])
    expect(data.events[3].changes).to.deep.equal([
      { field: 'addresses', old: null, new: [`${app.app.baseUrl}/${two}`] },
    ])
  })

  it('end and come back with the link, but those that another link has by then', async () => {
    const [one, two, three] = [free(), free(), free()]
    const id = await create(one)
    await add(id, { custom: two })
    await add(id, { custom: three })
    const { undo } = await ok('DELETE', `/api/url/${id}/delete`)
    for (const alias of [one, two, three]) expect(await leadsTo(alias)).to.equal(404)
    await create(two, { url: 'https://example.com/other' })
    const { notRestored } = await ok(undo.method, undo.path)
    expect(notRestored).to.deep.equal([
      {
        ...{ field: 'addresses', code: 'not_restored' },
        reason: `Another link, or a bio page, has the address ${app.app.baseUrl}/${two} now.`,
        params: { what: 'taken', address: `${app.app.baseUrl}/${two}` },
      },
    ])
    expect([await leadsTo(one), await leadsTo(two), await leadsTo(three)]).to.deep.equal([
      url,
      'https://example.com/other',
      url,
    ])
    expect(await addresses(id)).to.deep.equal([`1 ${one} main`, `3 ${three}`])
  })

  it('are taken for all others', async () => {
    const [one, two] = [free(), free()]
    const id = await create(one)
    await add(id, { custom: two })
    const other = (await app.register()).key
    for (const as of [key, other]) {
      const { status, json } = await app.post('/api/url/add', { key: as, body: { url, custom: two } })
      expect([status, json['code']]).to.deep.equal([400, 'taken'])
    }
    const foreign = await app.ask('POST', `/api/url/${id}/addresses`, { key: other, body: { custom: free() } })
    expect(foreign.status).to.equal(404)
    // its own is none more
    expect(await add(id, { custom: two })).to.include({ id: 2, revision: 1 })
    expect((await ask('POST', `/api/url/${id}/addresses`, { custom: 'not an alias' })).json).to.include({
      field: 'custom',
    })
    expect((await ask('POST', `/api/url/${id}/addresses`, { domain: 'none.example.com' })).json).to.include({
      field: 'domain',
    })
  })

  it('are as a whole request left them, also where a link is restored to one of the two events of a rename', async () => {
    const [one, two] = [free(), free()]
    const id = await create(one)
    expect((await ok('PUT', `/api/url/${id}/update`, { url, custom: two }))['revision']).to.equal(2)
    await ok('PUT', `/api/url/${id}/update`, { url: 'https://example.com/b' })
    const restored = await ok('POST', `/api/url/${id}/restore`, { revision: 1 })
    expect(restored['notRestored']).to.deep.equal([])
    expect(await addresses(id)).to.deep.equal([`2 ${two} main`, `1 ${one}`])
    for (const alias of [one, two]) expect(await leadsTo(alias)).to.equal(url)
  })

  it('keep a link reachable, also in the rotation of its campaign, while one of their domains is there', async () => {
    const [one, two, slug] = [free(), free(), free()]
    const domain = Number((await ok('POST', '/api/domain/add', { domain: `https://${free()}.example` }))['id'])
    const { domain: host } = (await ok('GET', `/api/domain/${domain}`))['details']
    const campaign = (await ok('POST', '/api/campaign/add', { name: slug, slug, public: true }))['id']
    const id = await create(one, { domain: host, campaign })
    await add(id, { custom: two })
    await ok('DELETE', `/api/domain/${domain}/delete`)
    const rotated = async () => (await app.visit(`/r/${slug}`)).headers.get('Location')
    expect(await until(rotated, (to) => to === url)).to.equal(url)
    const [row] = (await ok('GET', `/api/urls?short=${two}`))['data'].urls
    expect([row.status, (await ok('GET', `/api/url/${id}`))['details'].status]).to.deep.equal(['active', 'active'])
  })

  it('get a random alias where none is sent', async () => {
    const id = await create(free())
    const { shorturl } = await add(id, {})
    expect(await leadsTo(String(shorturl).split('/').at(-1)!)).to.equal(url)
  })
})
