import { expect } from 'chai'
import { failure, proposed, startWithRules } from '../../support/approvals.ts'
import { type Answer, until } from '../../support/client.ts'

/** Returns the failed row of a bulk request as an answer of its own. */
const rowOf = ({ json }: Pick<Answer, 'json'>) => {
  const [row] = json['rows'] as { readonly status: number }[]
  return { status: row!.status, json: row as unknown as Answer['json'] }
}

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
    // what changes the link would show on the other domain, too
    const changes = [
      await asked(session, 'POST', `/api/url/${id}/addresses`, { custom: 'limited-4' }),
      await asked(session, 'PUT', `/api/url/${id}/update`, { url: 'https://evil.example/' }),
      await asked(session, 'DELETE', `/api/url/${id}/delete`),
      await asked(session, 'POST', `/api/urls/bulk?op=delete`, { rows: [{ id }] }),
    ].map((answer) => (answer.json['rows'] ? failure({ ...answer, ...rowOf(answer) }) : failure(answer)))
    expect(changes).to.deep.equal(changes.map(() => [403, 'lacks_rights', 'domain']))
    expect((await asked(ann, 'DELETE', `/api/url/${id}/address/2/delete`)).status).to.equal(200)
    expect((await asked(session, 'POST', `/api/url/${id}/addresses`, { custom: 'limited-4' })).status).to.equal(200)
    // to bring it back would give the link an address there
    const restored = await asked(session, 'POST', `/api/url/${id}/restore`, { revision })
    expect(failure(restored)).to.deep.equal([403, 'lacks_rights', 'domain'])
    expect(await aliases(id)).to.deep.equal(['limited-1', 'limited-4'])

    expect((await asked(ann, 'POST', `/api/url/${id}/addresses`, on)).status).to.equal(200)
    expect((await asked(ann, 'DELETE', `/api/url/${id}/delete`)).status).to.equal(200)
    // nor does a deleted link come back with one there
    const back = await asked(session, 'POST', `/api/url/${id}/restore`, {})
    expect(failure(back)).to.deep.equal([403, 'lacks_rights', 'domain'])

    const { session: other } = await join('editor', { domains: [domain] })
    expect((await asked(ann, 'POST', `/api/url/${id}/restore`, {})).status).to.equal(200)
    expect((await asked(other, 'GET', `/api/url/${id}`)).json['details'].id).to.equal(id)
    const listed = async (who: Parameters<typeof asked>[0], query: string) =>
      (await asked(who, 'GET', `/api/urls?${query}`)).json['data'].urls.map((one: { id: number }) => one.id)
    await until(
      () => listed(other, 'limit=100'),
      (ids) => ids.includes(id),
    )
    for (const query of ['q=mited-2', 'domain=https://own.example'])
      expect(await listed(ann, query), query).to.deep.equal([id])
  })

  it('protect a link by each of their domains, and by the domains that these are on', async () => {
    const { ann, ben, asked, add, change, decide } = started
    const domain = async (name: string) =>
      Number((await asked(ann, 'POST', '/api/domain/add', { domain: `https://${name}` })).json['id'])
    const [guarded, used] = [await domain('guarded.example'), await domain('used.example')]
    const id = await add({ custom: 'on-guarded', tags: [] })
    const more = { custom: 'guarded-2', domain: 'guarded.example' }
    expect((await asked(ann, 'POST', `/api/url/${id}/addresses`, more)).status).to.equal(200)
    expect(
      (await asked(ann, 'PUT', '/api/account/approval', { tags: ['printed'], domains: [guarded] })).status,
    ).to.equal(200)
    proposed(await change(id, { url: 'https://evil.example/', tags: [] }, ben))
    proposed(await asked(ben, 'DELETE', `/api/url/${id}/address/2/delete`))

    const tagged = await add({ custom: 'tagged-1' })
    const onUsed = { custom: 'tagged-2', domain: 'used.example' }
    const adding = proposed(await asked(ann, 'POST', `/api/url/${tagged}/addresses`, onUsed))
    expect((await decide(ben, 'approve', adding)).status).to.equal(200)
    const usedByTable = async () =>
      (await asked(ann, 'GET', '/api/urls?domain=https://used.example')).json['data'].result
    await until(usedByTable, (n) => n === 1)
    proposed(await asked(ben, 'DELETE', `/api/domain/${used}/delete`))

    const third = await domain('third.example')
    const onThird = proposed(
      await asked(ann, 'POST', `/api/url/${tagged}/addresses`, { custom: 'tagged-3', domain: 'third.example' }),
    )
    expect((await asked(ann, 'DELETE', `/api/domain/${third}/delete`)).status).to.equal(200)
    expect(failure(await decide(ben, 'approve', onThird)).slice(0, 2)).to.deep.equal([409, 'stale'])
  })

  it('protect a deleted link by each of the domains that it would come back to', async () => {
    const { ann, ben, asked, add, change, decide, detailsOf } = started
    const domain = Number((await asked(ann, 'POST', '/api/domain/add', { domain: 'https://back.example' })).json['id'])
    const id = await add({ custom: 'back-1', tags: [] })
    const more = { custom: 'back-2', domain: 'back.example' }
    expect((await asked(ann, 'POST', `/api/url/${id}/addresses`, more)).status).to.equal(200)
    for (const url of ['https://evil.example/', 'https://good.example/'])
      expect((await change(id, { url, tags: [] })).status).to.equal(200)
    const { data: rules } = (await asked(ann, 'GET', '/api/account/approval')).json
    const domains = [...rules.domains, domain]
    expect((await asked(ann, 'PUT', '/api/account/approval', { ...rules, domains })).status).to.equal(200)
    const deletion = proposed(await asked(ann, 'DELETE', `/api/url/${id}/delete`))
    expect((await decide(ben, 'approve', deletion)).status).to.equal(200)

    for (const body of [{ revision: 2 }, {}]) proposed(await asked(ann, 'POST', `/api/url/${id}/restore`, body))
    const back = proposed(await asked(ann, 'POST', `/api/url/${id}/restore`, { revision: 3 }))
    expect((await decide(ben, 'approve', back)).status).to.equal(200)
    expect(await detailsOf(id)).to.include({ longurl: 'https://good.example/' })
    expect(await aliases(id)).to.deep.equal(['back-1', 'back-2'])
  })
})
