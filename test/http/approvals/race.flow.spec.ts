import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { signIn } from '../../support/session.ts'

type Event = { type: string; actor: { approved_by?: object }; changes: { field: string; new: unknown }[] }

describe('an approval at the moment of other changes', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp({ SESSION_RATE_LIMIT_PER_MINUTE: '0' })
  })
  after(() => app.close())

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
})
