import { expect } from 'chai'
import { failure, proposed, startWithRules } from '../../support/approvals.ts'

type Started = Awaited<ReturnType<typeof startWithRules>>

describe('the addresses of a link that needs approvals, or that only some may change', () => {
  let started: Started
  before(async () => {
    started = await startWithRules()
  })
  after(() => started.app.close())

  const aliases = async (id: number) =>
    ((await started.detailsOf(id))['addresses'] as { alias: string }[]).map(({ alias }) => alias)

  it('wait for a second person, whether they are added, changed or taken away', async () => {
    const { ann, ben, asked, add, change, decide } = started
    const id = await add({ custom: 'printed-1' })
    for (const [send, then] of [
      [() => asked(ann, 'POST', `/api/url/${id}/addresses`, { custom: 'printed-2' }), ['printed-1', 'printed-2']],
      [() => change(id, { custom: 'printed-2' }), ['printed-2', 'printed-1']],
      [() => change(id, { custom: 'printed-3', keep_old: false }), ['printed-3', 'printed-1']],
      [() => asked(ann, 'DELETE', `/api/url/${id}/address/1/delete`), ['printed-3']],
    ] as const) {
      const before = await aliases(id)
      const number = proposed(await send())
      expect(await aliases(id)).to.deep.equal(before)
      const { status, text } = await decide(ben, 'approve', number)
      expect(status, text).to.equal(200)
      expect(await aliases(id)).to.deep.equal(then)
    }
  })

  it('are out of the reach of members who may not use their domain', async () => {
    const { ann, asked, add, join } = started
    const domain = Number((await asked(ann, 'POST', '/api/domain/add', { domain: 'https://own.example' })).json['id'])
    const { session } = await join('editor', { domains: [0] })
    const id = await add({ custom: 'limited-1', tags: [] })
    const on = { custom: 'limited-2', domain: 'own.example' }
    expect((await asked(ann, 'POST', `/api/url/${id}/addresses`, on)).status).to.equal(200)
    const revision = Number((await started.detailsOf(id))['revision'])
    expect(failure(await asked(session, 'DELETE', `/api/url/${id}/address/2/delete`))).to.deep.equal([
      ...[403, 'lacks_rights', 'domain'],
    ])
    const without = await asked(session, 'POST', `/api/url/${id}/restore`, { revision: 0 })
    expect(failure(without)).to.deep.equal([403, 'lacks_rights', 'domain'])
    const more = { custom: 'limited-3', domain: 'own.example' }
    expect((await asked(session, 'POST', `/api/url/${id}/addresses`, more)).status).to.be.oneOf([400, 403])
    expect((await asked(session, 'POST', `/api/url/${id}/addresses`, { custom: 'limited-4' })).status).to.equal(200)
    expect((await asked(ann, 'DELETE', `/api/url/${id}/address/2/delete`)).status).to.equal(200)
    // to bring it back would give the link an address there
    const restored = await asked(session, 'POST', `/api/url/${id}/restore`, { revision })
    expect(failure(restored)).to.deep.equal([403, 'lacks_rights', 'domain'])
    expect(await aliases(id)).to.deep.equal(['limited-1', 'limited-4'])
    expect(domain).to.be.above(0)
  })
})
