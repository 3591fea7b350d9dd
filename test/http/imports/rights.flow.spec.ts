import { expect } from 'chai'
import { startWithRules } from '../../support/approvals.ts'
import { until } from '../../support/client.ts'
import { samePage } from '../../support/session.ts'

type Details = {
  readonly state: string
  readonly created: number
  readonly done: number
  readonly problem: { readonly code: string; readonly params: object } | null
}

describe('an import whose sender loses their rights', () => {
  let started: Awaited<ReturnType<typeof startWithRules>>
  before(async () => {
    started = await startWithRules()
  })
  after(() => started.app.close())

  it('given some links exist, when the sender may create none any more, then it ends with a line for each of them', async () => {
    const { account, ann, app, asked, join } = started
    const { session, number } = await join('editor')
    const rows = Array.from({ length: 1500 }, (_, n) => `https://example.com/${n},rights-${n}`)
    const { json } = await app.ask('POST', '/api/import', {
      body: ['url,alias', ...rows].join('\n'),
      headers: {
        ...samePage(app.address, session.cookie),
        'Linkledger-Account': String(account),
        'Content-Type': 'text/csv',
      },
    })
    const id = String(json['id'])
    const links = async () => Number((await asked(ann, 'GET', '/api/urls?limit=1')).json['data']['result'])
    await until(links, (n) => n > 0, 60_000)
    expect((await asked(ann, 'PUT', `/api/member/${number}/update`, { role: 'analyst' })).status).to.equal(200)
    const details = async () => (await asked(ann, 'GET', `/api/import/${id}`)).json['details'] as Details
    const ended = await until(details, ({ state }) => state !== 'running', 120_000)
    const created = await links()
    expect(created).to.be.within(1, 1499)
    expect(ended).to.include({ state: 'failed', created, done: created })
    expect(ended.problem).to.deep.include({ code: 'lacks_rights', params: { what: 'lost' } })
    const { text } = await asked(ann, 'GET', `/api/import/${id}/report`)
    expect(text.split('\r\n')).to.have.length(created + 2)
    await asked(ann, 'POST', `/api/import/${id}/start`, {})
    expect(await until(details, ({ state }) => state !== 'running', 120_000), 'goes on with the others').to.include({
      ...{ state: 'done', created: 1500, done: 1500 },
    })
    expect(await links()).to.equal(1500)
  }).timeout(300_000)
})
