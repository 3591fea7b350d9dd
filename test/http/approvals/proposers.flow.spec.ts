import { expect } from 'chai'
import { failure, proposed, startWithRules } from '../../support/approvals.ts'

type World = Awaited<ReturnType<typeof startWithRules>>

describe('the proposer of a change', () => {
  let world: World
  before(async () => {
    world = await startWithRules()
  })
  after(() => world.app.close())

  const own = [403, 'lacks_rights', 'own_proposal']
  const other = { url: 'https://example.com/other' }
  const invite = async () => {
    const { json } = await world.asked(world.ann, 'POST', '/api/member/invite', { role: 'editor' })
    return { token: new URL(String(json['link'])).searchParams.get('t') }
  }

  it('does not approve it under a new number that the tables do not have yet', async () => {
    const { add, app, change, decide, detailsOf, join, leave } = world
    const { session } = await join('editor')
    const id = await add()
    const number = proposed(await change(id, other, session))
    expect((await leave(session)).status).to.equal(200)
    const invitation = await invite()
    const { db, reader } = app.app.ledger
    const held = await db.transaction()
    try {
      await held.raw(`lock table ${reader.table('members')} in share mode`)
      const accepted = await session.ask('POST', '/api/invitation/accept', invitation)
      expect([accepted.status, accepted.headers.get('X-Projection-Pending')]).to.deep.equal([200, '1'])
      expect(failure(await decide(session, 'approve', number))).to.deep.equal(own)
    } finally {
      await held.rollback()
    }
    expect((await detailsOf(id)).longurl).to.equal('https://example.com/a')
  })

  it('cannot approve a proposal made with a key of theirs that was handed over', async () => {
    const { add, ann, app, asked, ben, decide, detailsOf, join } = world
    const { session, number: maker } = await join('admin')
    const heir = await join('editor')
    const made = await asked(session, 'POST', '/api/key/add', { name: 'work', scopes: ['read', 'write'] })
    expect(made.status, made.text).to.equal(200)
    const key = String(made.json['key'])
    const removed = await asked(ann, 'DELETE', `/api/member/${maker}/delete?to=${heir.number}`, {
      current_password: 'correct horse 1',
    })
    expect(removed.status, removed.text).to.equal(200)
    await join('editor', { session })
    const propose = async () => {
      const id = await add()
      return { id, number: proposed(await app.put(`/api/url/${id}/update`, { key, body: other })) }
    }
    const one = await propose()
    expect((await asked(session, 'GET', `/api/proposal/${one.number}`)).json['details'].own).to.equal(true)
    expect(failure(await decide(session, 'approve', one.number))).to.deep.equal(own)
    expect(failure(await decide(heir.session, 'approve', one.number))).to.deep.equal(own)
    expect((await detailsOf(one.id)).longurl).to.equal('https://example.com/a')
    expect((await decide(ben, 'approve', one.number)).status).to.equal(200)
  })
})
