import { expect } from 'chai'
import pg from 'pg'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { signIn } from '../../support/session.ts'

type Event = { type: string; actor: { approved_by?: object }; changes: { field: string; new: unknown }[] }

describe('an approval at the moment of other changes', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp({ SESSION_RATE_LIMIT_PER_MINUTE: '0' })
  })
  after(() => app.close())

  it('is needed as soon as the rules are saved, while the read tables are behind', async () => {
    const own = await app.register()
    const [ann, ben] = [await signIn(app, own.email), await signIn(app, (await app.register()).email)]
    const { json } = await ann.ask('POST', '/api/member/invite', { role: 'editor' })
    await ben.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
    const url = 'https://example.com/'
    const made = await ann.ask('POST', '/api/url/add', { url, tags: ['printed'] })
    const update = (to: string) => ann.ask('PUT', `/api/url/${made.json['id']}/update`, { url: to, tags: ['printed'] })
    // the process knows from now on that the account has no rules
    expect((await update(`${url}a`)).status).to.equal(200)
    const holder = new pg.Client(app.connection)
    await holder.connect()
    try {
      await holder.query('begin; select * from read.checkpoints for update')
      expect((await ann.ask('PUT', '/api/account/approval', { tags: ['printed'] })).status).to.equal(200)
      expect((await update(`${url}b`)).status).to.equal(202)
    } finally {
      await holder.end()
    }
  })

  it('is not undone by a request that changed nothing when it was judged', async () => {
    const own = await app.register()
    const [ann, ben] = [await signIn(app, own.email), await signIn(app, (await app.register()).email)]
    const { json } = await ann.ask('POST', '/api/member/invite', { role: 'editor' })
    await ben.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
    await ann.ask('PUT', '/api/account/approval', { tags: ['printed'] })
    const [before, after] = ['https://example.com/before', 'https://example.com/after']
    for (let round = 1; round <= 5; round++) {
      const made = await ann.ask('POST', '/api/url/add', { url: before, tags: ['printed'] })
      const link = `/api/url/${made.json['id']}`
      const { proposal } = (await ann.ask('PUT', `${link}/update`, { url: after })).json as { proposal: number }
      let isOver = false
      const repeat = async () => {
        // it is as it was, until the approval; then it is proposed
        while (!isOver && (await app.put(`${link}/update`, { ...own, body: { url: before } })).status === 200);
      }
      const repeating = Array.from({ length: 12 }, repeat)
      const path = `/api/proposal/${proposal}/approve`
      const approved = await ben.ask('POST', path, {}, { 'Linkledger-Account': String(own.id) })
      isOver = true
      await Promise.all(repeating)
      expect(approved.status, JSON.stringify(approved.json)).to.equal(200)
      const { events } = (await ann.ask('GET', `${link}/history`)).json['data'] as { events: Event[] }
      const changes = events.filter(({ type }) => type === 'LinkUpdated').map(({ actor }) => 'approved_by' in actor)
      expect(changes, `changes of round ${round}, and whether they were approved`).to.deep.equal([true])
    }
  })

  it('demanded by new rules is not avoided by rules that were no less when they were judged', async () => {
    for (const initial of [{}, { tags: ['a'] }]) {
      const own = await app.register()
      const [ann, ben] = [await signIn(app, own.email), await signIn(app, (await app.register()).email)]
      const { json } = await ann.ask('POST', '/api/member/invite', { role: 'admin' })
      await ben.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
      const path = '/api/account/approval'
      const ofAnn = { 'Linkledger-Account': String(own.id) }
      await ann.ask('PUT', path, initial)
      let isOver = false
      const repeat = async () => {
        // they are as they were, until ann sets others; then it is proposed
        while (!isOver && (await ben.ask('PUT', path, initial, ofAnn)).status === 200);
      }
      const repeating = Array.from({ length: 6 }, repeat)
      const set = await ann.ask('PUT', path, { tags: ['a', 'b'] })
      await Promise.race([Promise.all(repeating), new Promise((resolve) => setTimeout(resolve, 2000))])
      isOver = true
      expect(set.status, set.text).to.equal(200)
      expect((await ann.ask('GET', path)).json['data'].tags).to.deep.equal(['a', 'b'])
    }
  })

  it('is needed where two owners save rules at once, of which the later ones leave out those before', async () => {
    const own = await app.register()
    const [ann, ben] = [await signIn(app, own.email), await signIn(app, (await app.register()).email)]
    const { json } = await ann.ask('POST', '/api/member/invite', { role: 'owner', current_password: 'correct horse 1' })
    await ben.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
    const saved = await Promise.all([
      ann.ask('PUT', '/api/account/approval', { tags: ['ann'] }),
      ben.ask('PUT', '/api/account/approval', { tags: ['ben'] }, { 'Linkledger-Account': String(own.id) }),
    ])
    expect(saved.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 202])
  })
})
