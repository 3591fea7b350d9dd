import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { startWithRules } from '../../../support/approvals.ts'

const url = 'https://example.com/'

describe('a request that is sent again because its answer was lost', () => {
  let started: Awaited<ReturnType<typeof startWithRules>>
  let key: string
  before(async () => {
    started = await startWithRules()
    key = (await started.app.register()).key
  })
  after(() => started.app.close())

  const byKey = (method: string, path: string, body?: object, headers = {}) =>
    started.app.ask(method, path, { key, headers, ...(body && { body }) })
  const send: typeof byKey = async (...request) => {
    const answer = await byKey(...request)
    expect(answer.status, `${request[1]} ${answer.text}`).to.equal(200)
    return answer
  }
  const add = async (body: object = {}) => Number((await send('POST', '/api/url/add', { url, ...body })).json['id'])
  const aliasesOf = async (id: number) =>
    ((await send('GET', `/api/url/${id}`)).json['details'].addresses as { alias: string }[]).map(({ alias }) => alias)
  /** Sends a request twice. Its process looks killed before it could store the answer, and `meanwhile` happens. */
  const twice = async (
    method: string,
    path: string,
    body?: object,
    meanwhile: () => Promise<unknown> = async () => {},
    by = byKey,
  ) => {
    const { app } = started
    const headers = { 'Idempotency-Key': randomUUID() }
    const first = await by(method, path, body, headers)
    await app.app.ledger.db.raw(`update state.idempotency set sealed = null, account = null, instance = 'killed'
      where began_at = (select max(began_at) from state.idempotency)`)
    await meanwhile()
    const written = await app.domainHead()
    const again = await by(method, path, body, headers)
    expect([again.status, again.text], path).to.deep.equal([first.status, first.text])
    expect(await app.domainHead(), path).to.equal(written)
    return first.json
  }

  it('gives a link one random address, and answers with it each time', async () => {
    const id = await add({ custom: 'first' })
    for (const body of [{}, { main: true }]) {
      const { shorturl } = await twice('POST', `/api/url/${id}/addresses`, body)
      expect(await aliasesOf(id)).to.include(new URL(shorturl).pathname.slice(1))
    }
    expect(await aliasesOf(id)).to.have.lengthOf(3)
  })

  it('has restored what was deleted or changed, and says so', async () => {
    const link = await add()
    await send('PUT', `/api/url/${link}/update`, { title: 'b', url })
    const restored = await twice('POST', `/api/url/${link}/restore`, { revision: 0 })
    expect(restored['changes'].map(({ field }: { field: string }) => field)).to.deep.equal(['title'])
    const domain = Number((await send('POST', '/api/domain/add', { domain: 'https://back.example' })).json['id'])
    const pixel = Number(
      (await send('POST', '/api/pixel/add', { type: 'gtmpixel', name: 'p', tag: 'GTM-ABC123' })).json['id'],
    )
    for (const path of [`url/${link}`, `domain/${domain}`, `pixel/${pixel}`]) {
      await send('DELETE', `/api/${path}/delete`)
      expect((await twice('POST', `/api/${path}/restore`, {}))['message']).to.include('has been restored')
    }
    await send('PUT', `/api/domain/${domain}/update`, { redirect404: `${url}lost` })
    const changed = await twice('POST', `/api/domain/${domain}/restore`, { revision: 0 })
    expect(changed['changes']).to.have.lengthOf(1)
  })

  it('answers with its own change, not with those that came after it', async () => {
    const id = await add({ custom: 'mine' })
    const rename = () => send('PUT', `/api/url/${id}/update`, { url, custom: `later-${randomUUID().slice(0, 8)}` })
    await twice('PUT', `/api/url/${id}/update`, { url: `${url}2` }, rename)
    const { id: number } = await twice('POST', `/api/url/${id}/addresses`, {}, rename)
    await twice('POST', `/api/url/${id}/addresses`, { custom: 'gone' }, () =>
      send('DELETE', `/api/url/${id}/address/${number}/delete`),
    )
    const again = () => send('PUT', `/api/url/${id}/update`, { url: `${url}3`, title: 'c' })
    expect((await twice('POST', `/api/url/${id}/restore`, { revision: 0 }, again))['changes']).to.not.deep.equal([])
  })

  it('has approved, refused or withdrawn a proposal, and says so', async () => {
    const { add: protect, account, ann, ben, change, detailsOf } = started
    const as =
      (who: typeof ann): typeof byKey =>
      (method, path, body, headers) =>
        who.ask(method, path, body, { ...headers, 'Linkledger-Account': String(account) })
    const id = await protect()
    const propose = async (to: string) => Number((await change(id, { url: `${url}${to}` })).json['proposal'])
    const [approved, path] = [await propose('approved'), '/api/proposal']
    const sent = await twice('POST', `${path}/${approved}/approve`, {}, undefined, as(ben))
    expect(sent['message']).to.include('approved and made')
    expect((await detailsOf(id)).longurl).to.equal(`${url}approved`)
    const refused = await twice('POST', `${path}/${await propose('b')}/refuse`, {}, undefined, as(ben))
    expect(refused['message']).to.include('refused')
    const withdrawn = await twice('POST', `${path}/${await propose('c')}/refuse`, {}, undefined, as(ann))
    expect(withdrawn['message']).to.include('withdrawn')
    // a request that has failed fails again
    const stale = await propose('d')
    await as(ben)('POST', `${path}/${await propose('e')}/approve`, {}, {})
    expect(await twice('POST', `${path}/${stale}/approve`, {}, undefined, as(ben))).to.include({ code: 'stale' })
    const other = await as(ben)('POST', `${path}/${approved}/approve`, {}, { 'Idempotency-Key': randomUUID() })
    expect(other.status).to.equal(404)
  })

  it('has rotated a key, and answers with the new one, also where the old one has ended', async () => {
    const number = Number((await send('POST', '/api/key/add', { name: 'k', scopes: ['read'] })).json['id'])
    const { key: secret, id } = await twice('POST', `/api/key/${number}/rotate`, { overlap: 0 })
    expect((await started.app.ask('GET', '/api/urls', { key: secret })).status).to.equal(200)
    await twice('POST', `/api/key/${id}/rotate`, {})
    expect((await byKey('POST', `/api/key/${number}/rotate`, { overlap: 0 })).status).to.equal(404)
  })

  it('given rows that were stored together, and a link deleted since, then it answers as before', async () => {
    const [one, two] = [await add(), await add()]
    const rows = [one, two].map((id) => ({ id, title: 'together', url }))
    const remove = (id: number) => () => send('DELETE', `/api/url/${id}/delete`)
    const path = '/api/urls/bulk?op=update&atomic=true'
    expect(await twice('POST', path, { rows }, remove(one))).to.include({ succeeded: 2 })
    // a domain that the row names
    const host = 'https://rows.example'
    const domain = Number((await send('POST', '/api/domain/add', { domain: host })).json['id'])
    const headers = { 'Idempotency-Key': randomUUID() }
    const named = { rows: [{ id: two, domain: host, url }] }
    expect((await byKey('POST', path, named, headers)).status).to.equal(200)
    await started.app.app.ledger.db.raw(`update state.idempotency set sealed = null, account = null, instance = 'killed'
      where began_at = (select max(began_at) from state.idempotency)`)
    await send('PUT', `/api/url/${two}/update`, { url, domain: '' })
    await send('DELETE', `/api/domain/${domain}/delete`)
    const again = await byKey('POST', path, named, headers)
    expect([again.status, again.json['params']?.what]).to.deep.equal([400, 'again'])
    expect(again.json['message']).to.include('The first request may have stored all of them')
  })

  it('is not judged again by the rules for approvals, and is the same proposal', async () => {
    const { add: protect, account, ann, change } = started
    const other = { 'Linkledger-Account': String(account) }
    const by: typeof byKey = (method, path, body, headers) => ann.ask(method, path, body, { ...headers, ...other })
    const free = await protect({ tags: [] })
    const [one, two] = [await protect(), await protect()]
    await twice('DELETE', `/api/url/${free}/delete`, undefined, undefined, by)
    const body = { url: `${url}2` }
    const { proposal } = await twice('PUT', `/api/url/${one}/update`, body, () => change(two, body), by)
    expect(proposal).to.be.a('number')
  })
})
