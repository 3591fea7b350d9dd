import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { signIn } from '../../support/session.ts'

type Session = Awaited<ReturnType<typeof signIn>>

describe('changes that a second person approves', () => {
  let app: TestApp
  let account: number
  let key: string
  let [ann, ben, author]: Session[] = []
  let domain: number
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off', SESSION_RATE_LIMIT_PER_MINUTE: '0', RATE_LIMIT_PER_MINUTE: '0' })
    const registered = await app.register()
    account = registered.id
    key = registered.key
    ann = await signIn(app, registered.email)
    domain = Number((await asAnn('POST', '/api/domain/add', { domain: 'https://brand.example' })).json['id'])
  })
  after(() => app.close())

  const asked = (who: Session, method: string, path: string, body?: object) =>
    who.ask(method, path, body, { 'Linkledger-Account': String(account) })
  const asAnn = (method: string, path: string, body?: object) => asked(ann!, method, path, body)
  const asBen = (method: string, path: string, body?: object) => asked(ben!, method, path, body)
  const failure = ({ status, json }: Answer) => [status, json['code'], json['params']?.what]
  const join = async (role: string) => {
    const made = await app.register()
    const session = await signIn(app, made.email)
    const { json } = await asAnn('POST', '/api/member/invite', { role })
    await session.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
    return session
  }
  const rules = (given: object) => asAnn('PUT', '/api/account/approval', given)
  const add = async (body: object = {}) =>
    Number(
      (await asAnn('POST', '/api/url/add', { url: 'https://example.com/a', tags: ['printed'], ...body })).json['id'],
    )
  const detailsOf = async (id: number) => (await asAnn('GET', `/api/url/${id}`)).json['details']
  const proposed = ({ status, json }: Answer) => {
    expect(status, JSON.stringify(json)).to.equal(202)
    expect(json).to.include({ error: 0 })
    return Number(json['proposal'])
  }
  const found = async (number: number) => (await asBen('GET', `/api/proposal/${number}`)).json['details']
  const approve = (who: Session, number: number, body: object = {}) =>
    asked(who, 'POST', `/api/proposal/${number}/approve`, body)
  const refuse = (who: Session, number: number, body: object = {}) =>
    asked(who, 'POST', `/api/proposal/${number}/refuse`, body)

  it('need another member who can approve them', async () => {
    expect(failure(await rules({ tags: ['printed'] }))).to.deep.equal([403, 'lacks_rights', 'alone'])
    await join('analyst')
    author = await join('author')
    expect(failure(await rules({ tags: ['printed'] }))).to.deep.equal([403, 'lacks_rights', 'alone'])
    ben = await join('editor')
    expect((await rules({ tags: ['printed'] })).status).to.equal(200)
    expect((await asAnn('GET', '/api/account/approval')).json['data']).to.deep.equal({
      tags: ['printed'],
      domains: [],
      live: false,
    })
  })

  it('are made once another member has approved them, and history shows both', async () => {
    const id = await add()
    const answer = await asAnn('PUT', `/api/url/${id}/update`, { url: 'https://example.com/b', title: 'New' })
    const number = proposed(answer)
    expect(answer.json).to.include({ id })
    expect(answer.json['short']).to.equal(answer.json['shorturl'])
    expect((await detailsOf(id)).longurl).to.equal('https://example.com/a')

    const list = (await asBen('GET', '/api/proposals?status=open')).json
    expect(list['guarded']).to.equal(true)
    expect(list['data'].proposals[0]).to.include({ id: number, status: 'open' })
    const details = await found(number)
    expect(details).to.deep.include({ resource: { type: 'url', id }, own: false, stale: false, deletes: false })
    expect(details.changes).to.deep.include.members([
      { field: 'longurl', old: 'https://example.com/a', new: 'https://example.com/b' },
      { field: 'title', old: '', new: 'New' },
    ])

    expect(failure(await approve(ann!, number))).to.deep.equal([403, 'lacks_rights', 'own_proposal'])
    expect((await approve(ben!, number, { note: 'Checked.' })).status).to.equal(200)
    expect((await detailsOf(id)).longurl).to.equal('https://example.com/b')
    expect(await found(number)).to.include({ status: 'approved', note: 'Checked.' })
    const { actor } = (await asAnn('GET', `/api/url/${id}/history`)).json['data'].events[0]
    expect(actor).to.include({ kind: 'session' })
    expect(actor.approved_by).to.include({ id: 4, role: 'editor', proposal: number })
    expect(failure(await approve(ben!, number))).to.deep.equal([404, 'not_found', 'proposal'])
  })

  it('of nothing that visitors meet are made at once', async () => {
    const id = await add()
    const changed = await asAnn('PUT', `/api/url/${id}/update`, {
      url: 'https://example.com/a',
      notes: 'for us',
      tags: ['printed', 'more'],
    })
    expect(changed.status).to.equal(200)
    const other = await add({ tags: ['free'] })
    expect((await asAnn('PUT', `/api/url/${other}/update`, { url: 'https://example.com/c' })).status).to.equal(200)
  })

  it('are the ways in which a link stops to need an approval, or to answer', async () => {
    const id = await add()
    const without = proposed(await asAnn('PUT', `/api/url/${id}/update`, { url: 'https://example.com/a', tags: [] }))
    const deletion = proposed(await asAnn('DELETE', `/api/url/${id}/delete`))
    expect(await found(deletion)).to.include({ deletes: true })
    expect((await approve(ben!, deletion)).status).to.equal(200)
    expect((await asAnn('GET', `/api/url/${id}`)).status).to.equal(404)
    // made on a link that has changed
    expect(await found(without)).to.include({ stale: true })
    expect(failure(await approve(ben!, without)).slice(0, 2)).to.deep.equal([409, 'stale'])
    expect(proposed(await asAnn('POST', `/api/url/${id}/restore`, {}))).to.be.greaterThan(deletion)
  })

  it('end as out of date when the link was changed meanwhile', async () => {
    const id = await add()
    const [first, second] = [
      proposed(await asAnn('PUT', `/api/url/${id}/update`, { url: 'https://example.com/1' })),
      proposed(await asBen('PUT', `/api/url/${id}/update`, { url: 'https://example.com/2' })),
    ]
    expect((await approve(ann!, second)).status).to.equal(200)
    expect(failure(await approve(ben!, first)).slice(0, 2)).to.deep.equal([409, 'stale'])
    expect(await found(first)).to.include({ status: 'stale' })
    expect((await detailsOf(id)).longurl).to.equal('https://example.com/2')
  })

  it('end when the name that they want was taken meanwhile', async () => {
    const id = await add()
    const number = proposed(
      await asAnn('PUT', `/api/url/${id}/update`, { url: 'https://example.com/a', custom: 'wanted' }),
    )
    await add({ custom: 'wanted', tags: [] })
    expect(failure(await approve(ben!, number))).to.deep.equal([400, 'taken', 'alias'])
    expect(await found(number)).to.include({ status: 'stale' })
    expect(failure(await approve(ben!, number))).to.deep.equal([404, 'not_found', 'proposal'])
  })

  it('show that they cannot be made any more', async () => {
    const id = await add()
    const expiry = new Date(Date.now() + 2000).toISOString().slice(0, 19).replace('T', ' ')
    const number = proposed(await asAnn('PUT', `/api/url/${id}/update`, { url: 'https://example.com/a', expiry }))
    await until(
      () => found(number),
      ({ stale }) => stale,
    )
    expect(failure(await approve(ben!, number)).slice(0, 2)).to.deep.equal([400, 'in_past'])
    expect((await refuse(ben!, number)).status).to.equal(200)
  })

  it('are refused with a note, and withdrawn by who proposed them, also with a key', async () => {
    const id = await add()
    const byKey = async () =>
      proposed(await app.ask('PUT', `/api/url/${id}/update`, { key, body: { url: 'https://example.com/k' } }))
    const number = await byKey()
    expect((await refuse(ben!, number, { note: 'Wrong page.' })).status).to.equal(200)
    expect(await found(number)).to.deep.include({ status: 'refused', note: 'Wrong page.' })
    const again = await byKey()
    const withdrawn = await app.ask('POST', `/api/proposal/${again}/refuse`, { key, body: {} })
    expect(withdrawn.status).to.equal(200)
    expect(await found(again)).to.deep.include({ status: 'withdrawn' })
    expect((await detailsOf(id)).longurl).to.equal('https://example.com/a')
  })

  it('are approved by people who are signed in, never by a key', async () => {
    const id = await add()
    const number = proposed(await asBen('PUT', `/api/url/${id}/update`, { url: 'https://example.com/k' }))
    const answer = await app.ask('POST', `/api/proposal/${number}/approve`, { key, body: {} })
    expect(failure(answer)).to.deep.equal([403, 'not_dashboard', 'session'])
    expect((await refuse(ben!, number)).status).to.equal(200)
  })

  it('of many links have a result for each row, and are all proposed or none with `atomic`', async () => {
    const [guarded, free] = [await add(), await add({ tags: [] })]
    const rows = [guarded, free].map((id) => ({ id, url: 'https://example.com/bulk' }))
    const { json } = await asAnn('POST', '/api/urls/bulk?op=update', { rows })
    expect(json['rows'][0]).to.include({ error: 0 }).and.to.have.property('proposal')
    expect(json['rows'][1]).to.include({ error: 0 }).and.not.to.have.property('proposal')
    expect((await detailsOf(guarded)).longurl).to.equal('https://example.com/a')
    expect((await detailsOf(free)).longurl).to.equal('https://example.com/bulk')
    const before = (await asAnn('GET', '/api/proposals?status=open')).json['data'].result
    const broken = [{ id: guarded, url: 'https://example.com/x' }, { id: 0 }]
    expect((await asAnn('POST', '/api/urls/bulk?op=update&atomic=true', { rows: broken })).status).to.equal(400)
    expect((await asAnn('GET', '/api/proposals?status=open')).json['data'].result).to.equal(before)
  })

  it('are refused together with `atomic` where only some need an approval', async () => {
    const [guarded, free, other] = [await add(), await add({ tags: [] }), await add()]
    const counted = async () => (await asAnn('GET', '/api/proposals?status=open')).json['data'].result
    const before = await counted()
    const send = (op: string, ids: readonly number[]) =>
      asAnn('POST', `/api/urls/bulk?op=${op}&atomic=true`, {
        rows: ids.map((id) => ({ id, ...(op === 'update' && { url: 'https://example.com/atomic' }) })),
      })
    for (const op of ['update', 'delete']) {
      const { status, json } = await send(op, [free, guarded, other])
      expect([status, json['code'], json['params']]).to.deep.equal([400, 'partly_proposed', { row: 2 }])
    }
    expect(await counted()).to.equal(before)
    expect((await detailsOf(free)).longurl).to.equal('https://example.com/a')
    const { json } = await send('update', [guarded, other])
    for (const row of json['rows']) expect(row).to.have.property('proposal')
    expect((await send('update', [free])).status).to.equal(200)
  })

  it('of resources that links use are proposed, too', async () => {
    const splash = Number(
      (await asAnn('POST', '/api/splash/add', { name: 'one', title: 'one', counter: 5 })).json['id'],
    )
    await add({ type: `splash-${splash}`, domain: 'https://brand.example' })
    const one = proposed(await asAnn('PUT', `/api/splash/${splash}/update`, { name: 'one', title: 'two', counter: 5 }))
    const two = proposed(await asAnn('PUT', `/api/domain/${domain}/update`, { redirect404: 'https://example.com/404' }))
    const three = proposed(await asAnn('DELETE', `/api/domain/${domain}/delete`))
    for (const number of [one, two]) expect((await approve(ben!, number)).status).to.equal(200)
    expect((await asAnn('GET', `/api/splash/${splash}`)).json['details'].title).to.equal('two')
    expect((await refuse(ben!, three)).status).to.equal(200)
  })

  it('of the rules need a second person where fewer links would', async () => {
    expect((await rules({ tags: ['printed', 'legal'] })).status).to.equal(200)
    const number = proposed(await rules({ tags: ['legal'] }))
    expect((await asAnn('GET', '/api/account/approval')).json['data'].tags).to.deep.equal(['legal', 'printed'])
    // an editor may not set rules, nor approve them
    expect(failure(await approve(ben!, number))).to.deep.equal([403, 'lacks_rights', 'role'])
    const admin = await join('admin')
    expect((await approve(admin, number)).status).to.equal(200)
    expect((await asAnn('GET', '/api/account/approval')).json['data'].tags).to.deep.equal(['legal'])
    expect((await rules({ tags: ['legal', 'printed'] })).status).to.equal(200)
  })

  it('are proposed by authors, who see their own proposals only and approve none', async () => {
    const made = await asked(author!, 'POST', '/api/url/add', { url: 'https://example.com/own', tags: ['printed'] })
    const id = Number(made.json['id'])
    const own = proposed(await asked(author!, 'PUT', `/api/url/${id}/update`, { url: 'https://example.com/own2' }))
    const byAnn = proposed(await asAnn('PUT', `/api/url/${id}/update`, { url: 'https://example.com/own3' }))
    expect((await asked(author!, 'POST', `/api/proposal/${byAnn}/approve`, {})).status).to.equal(404)
    const others = proposed(await asAnn('PUT', `/api/url/${await add()}/update`, { url: 'https://example.com/o' }))
    const list = (await asked(author!, 'GET', '/api/proposals')).json['data'].proposals as { id: number }[]
    expect(list.map((one) => one.id)).to.deep.equal([own])
    for (const path of ['', '/approve', '/refuse'])
      expect(
        (await asked(author!, path === '' ? 'GET' : 'POST', `/api/proposal/${others}${path}`, {})).status,
      ).to.equal(404)
    expect((await asked(author!, 'POST', `/api/proposal/${own}/refuse`, {})).status).to.equal(200)
  })

  it('are rehearsed with the clicks of the last days', async () => {
    const id = await add({ custom: 'rehearsed' })
    const number = proposed(await asAnn('PUT', `/api/url/${id}/update`, { url: 'https://example.com/then' }))
    const { status, json } = await asBen('POST', `/api/url/${id}/rehearse`, { proposal: number })
    expect([status, json['data'].draft]).to.deep.equal([200, true])
    expect((await asBen('POST', `/api/url/${await add()}/rehearse`, { proposal: number })).status).to.equal(404)
  })

  it('obey If-Match, and answer a repeated request with the same proposal', async () => {
    const id = await add()
    const headers = { 'Linkledger-Account': String(account) }
    const change = (more: object, url: string) =>
      ann!.ask('PUT', `/api/url/${id}/update`, { url }, { ...headers, ...more } as Record<string, string>)
    expect((await change({ 'If-Match': '"9"' }, 'https://example.com/m')).status).to.equal(412)
    const keyed = { 'Idempotency-Key': 'propose once' }
    const [one, two] = [await change(keyed, 'https://example.com/i'), await change(keyed, 'https://example.com/i')]
    expect([one.status, two.status]).to.deep.equal([202, 202])
    expect(two.json['proposal']).to.equal(one.json['proposal'])
  })

  it('are approved once, however many do at the same moment', async () => {
    const id = await add()
    const number = proposed(await asAnn('PUT', `/api/url/${id}/update`, { url: 'https://example.com/once' }))
    const admin = await join('admin')
    const answers = await Promise.all([ben!, admin, ben!, admin].map((who) => approve(who, number)))
    expect(answers.map(({ status }) => status)).to.include(200)
    for (const { status } of answers) expect(status).to.be.oneOf([200, 404])
    const { events } = (await asAnn('GET', `/api/url/${id}/history`)).json['data']
    expect(events.map(({ type }: { type: string }) => type)).to.deep.equal(['LinkUpdated', 'LinkCreated'])
  })
})
