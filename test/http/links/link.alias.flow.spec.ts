import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { linkClient } from '../../support/clients/link.ts'

const long = 'https://example.com/a?b=c#d'

describe('an alias of a link', () => {
  let app: TestApp
  let key: string

  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
  })
  after(() => app.close())
  const { add, update, details, leadsTo, free } = linkClient(
    () => app,
    () => key,
  )

  let other: string
  before(async () => (other = (await app.register()).key))
  const taken = async (custom: string, by: string) => {
    const { status, json } = await app.post('/api/url/add', { key: by, body: { url: long, custom } })
    expect([status, json['error']]).to.deep.equal([400, 1])
    expect(json['message']).to.include('alias is taken')
  }

  it('is shown as typed and compared case-insensitively', async () => {
    const { short } = await add({ custom: 'MixedCase' })
    expect(short).to.equal(`${app.app.baseUrl}/MixedCase`)
    for (const alias of ['MixedCase', 'mixedcase', 'MIXEDCASE']) expect(await leadsTo(alias)).to.equal(long)
    await taken('mixedCASE', key)
    await taken('mixedCASE', other)
  })

  it('can change its case', async () => {
    const alias = free()
    const { id } = await add({ custom: alias })
    const { json } = await update(id, { custom: alias.toUpperCase() })
    expect(json['short']).to.equal(`${app.app.baseUrl}/${alias.toUpperCase()}`)
    expect(await leadsTo(alias)).to.equal(long)
  })

  it('stops working after a change and stays reserved for its owner', async () => {
    const [old, now] = [free(), free()]
    const { id } = await add({ custom: old })
    expect(await leadsTo(old)).to.equal(long)
    expect((await update(id, { custom: now, keep_old: false })).json['short']).to.equal(`${app.app.baseUrl}/${now}`)
    expect([await leadsTo(old), await leadsTo(now)]).to.deep.equal([404, long])
    await taken(old, other)
    const again = await add({ custom: old, url: 'https://example.org/' })
    expect(await leadsTo(old)).to.equal('https://example.org/')
    expect(again.id).not.to.equal(id)
  })

  it('can be reused by the same link', async () => {
    const [old, now] = [free(), free()]
    const { id } = await add({ custom: old })
    await update(id, { custom: now, keep_old: false })
    expect((await update(id, { custom: old, keep_old: false })).status).to.equal(200)
    expect([await leadsTo(old), await leadsTo(now)]).to.deep.equal([long, 404])
  })

  it('never goes to another account after its link is deleted, but its owner may reuse it', async () => {
    const alias = free()
    const { id } = await add({ custom: alias })
    expect(await leadsTo(alias)).to.equal(long)
    await app.del(`/api/url/${id}/delete`, { key })
    expect(await leadsTo(alias)).to.equal(404)
    await taken(alias, other)
    const theirs = await add({}, other)
    const renamed = await update(theirs.id, { custom: alias }, other)
    expect(renamed.status).to.equal(400)
    expect(renamed.json['message']).to.include('alias is taken')
    await add({ custom: alias, url: 'https://example.org/' })
    expect(await leadsTo(alias)).to.equal('https://example.org/')
  })

  it('is rejected on update too when it is taken', async () => {
    const alias = free()
    await add({ custom: alias })
    const { id } = await add()
    const before = await details(id)
    const { status, json } = await update(id, { custom: alias, title: 'Not this either' })
    expect([status, json['error']]).to.deep.equal([400, 1])
    expect(json['message']).to.include('alias is taken')
    expect(await details(id)).to.deep.equal(before)
  })
})
