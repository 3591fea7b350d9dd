import { expect } from 'chai'
import { proposed, startWithRules } from '../../support/approvals.ts'
import { until } from '../../support/client.ts'
import { visitAt } from '../../support/host.ts'

type Started = Awaited<ReturnType<typeof startWithRules>>
type Session = Started['ann']

describe('a deleted link that had an address on a domain', () => {
  let started: Started
  let limited: Session
  let domain: number
  const site = 'https://printed.example'
  const ok = async (who: Session, method: string, path: string, body?: object) => {
    const answer = await started.asked(who, method, path, body)
    expect(answer.status, `${method} ${path} ${answer.text}`).to.equal(200)
    return answer
  }
  before(async () => {
    started = await startWithRules()
    domain = Number((await ok(started.ann, 'POST', '/api/domain/add', { domain: site })).json['id'])
    limited = (await started.join('editor', { domains: [domain] })).session
  })
  after(() => started.app.close())

  /** Returns a new link with another address on the domain, and one on none. */
  const linkAt = async (alias: string, more: object = {}) => {
    const id = await started.add({ custom: `${alias}-own`, tags: [], ...more })
    const added = await started.asked(started.ann, 'POST', `/api/url/${id}/addresses`, { custom: alias, domain: site })
    if (added.status === 202)
      expect((await started.decide(started.ben, 'approve', proposed(added))).status).to.equal(200)
    return id
  }
  const lines = async (who: Session, path: string) =>
    (await ok(who, 'GET', path)).text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { readonly stream?: string; readonly type?: string; readonly link?: number })
  const typesOf = async (id: number) =>
    (await lines(started.ann, `/api/events?domain=${site}&limit=1000`)).flatMap(({ stream, type }) =>
      stream === `link-${id}` ? [type] : [],
    )
  const clicksOf = async (who: Session, id: number, query = '') =>
    (await lines(who, `/api/clicks?limit=1000${query}`)).filter(({ link }) => link === id).length
  const listed = async (query: string) =>
    (await ok(limited, 'GET', `/api/urls?limit=100&${query}`)).json['data'].urls.map((one: { id: number }) => one.id)
  const at = (alias: string) => visitAt(started.app.address, 'printed.example', `/${alias}`, {})

  it('keeps its events and clicks there, and is found there by members who are limited to it', async () => {
    const { ann } = started
    const id = await linkAt('kept')
    expect((await at('kept')).status).to.equal(302)
    await until(
      () => clicksOf(ann, id),
      (n) => n === 1,
    )
    const before = new Date(Date.now() + 1000).toISOString()
    await until(
      async () => new Date().toISOString(),
      (now) => now > before,
    )
    await ok(ann, 'DELETE', `/api/url/${id}/delete`)
    const types = ['LinkCreated', 'LinkAddressAdded', 'LinkDeleted']
    await until(
      () => typesOf(id),
      (found) => found.length === types.length,
    )
    expect(await typesOf(id)).to.deep.equal(types)
    expect(await clicksOf(ann, id, `&domain=${site}`)).to.equal(1)
    expect(await clicksOf(limited, id)).to.equal(1)
    expect(await listed(`at=${before}`)).to.include(id)
    expect((await ok(limited, 'GET', `/api/url/${id}?at=${before}`)).json['details']).to.include({ id })
    expect(await listed('order=date')).to.not.include(id)
  })

  it('shows the proposal of its restore to members who are limited to it', async () => {
    const { ann, ben, asked, decide } = started
    const id = await linkAt('asked', { tags: ['printed'] })
    const deletion = proposed(await asked(ann, 'DELETE', `/api/url/${id}/delete`))
    expect((await decide(ben, 'approve', deletion)).status).to.equal(200)
    const number = proposed(await asked(ann, 'POST', `/api/url/${id}/restore`, {}))
    const shown = async () =>
      (await ok(limited, 'GET', '/api/proposals?status=open')).json['data'].proposals.map(
        (one: { id: number }) => one.id,
      )
    await until(shown, (numbers) => numbers.includes(number))
    expect(await shown()).to.include(number)
  })

  it('gives its name to another link, and leaves the domain where it comes back without it', async () => {
    const { ann } = started
    const id = await linkAt('given')
    await ok(ann, 'DELETE', `/api/url/${id}/delete`)
    expect((await at('given')).status).to.equal(404)
    const other = await started.add({ url: 'https://example.com/other', custom: 'given', domain: site, tags: [] })
    expect(await at('given')).to.include({ status: 302, location: 'https://example.com/other' })
    await until(
      () => listed('short=given'),
      (ids) => ids.length > 0,
    )
    expect(await listed('short=given')).to.deep.equal([other])
    const { json } = await ok(ann, 'POST', `/api/url/${id}/restore`, {})
    expect(json['notRestored']).to.have.length(1)
    await until(
      () => typesOf(id),
      (found) => found.length === 0,
    )
    expect(await typesOf(id)).to.deep.equal([])
    expect(await clicksOf(limited, id)).to.equal(0)
    expect(await at('given')).to.include({ status: 302, location: 'https://example.com/other' })

    await ok(ann, 'DELETE', `/api/url/${other}/delete`)
    await ok(ann, 'POST', `/api/url/${id}/addresses`, { custom: 'given', domain: site })
    await ok(ann, 'DELETE', `/api/url/${id}/delete`)
    expect((await ok(ann, 'POST', `/api/url/${id}/restore`, {})).json['notRestored']).to.deep.equal([])
    expect(await at('given')).to.include({ status: 302, location: 'https://example.com/a' })
    await until(
      () => listed(`domain=${site}`),
      (ids) => ids.includes(id),
    )
    expect(await listed(`domain=${site}`)).to.include(id)
  })
})
