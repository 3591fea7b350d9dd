import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { linkClient } from '../../support/clients/link.ts'
import { appendNewer } from '../../support/newer.ts'

describe('a link that a newer release has changed in a way that this one cannot read', () => {
  let app: TestApp
  let key: string
  let id: number
  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
    id = (await add({ custom: 'kept' })).id
    await appendNewer(app.app.ledger.store, `link-${id}`)
  })
  after(() => app.close())
  const { add, update, details, leadsTo } = linkClient(
    () => app,
    () => key,
  )

  it('cannot be changed: the response is 503 with Retry-After and names the resource', async () => {
    const { status, headers, json } = await update(id, { metatitle: 'x' })
    expect(status).to.equal(503)
    expect(headers.get('Retry-After')).to.match(/^\d+$/)
    const message = `The link ${id} was changed by a newer version of Linkledger. This process cannot change it. Try again shortly.`
    expect(json).to.deep.equal({
      error: 1,
      message,
      code: 'changed_by_newer',
      params: { resource: `The link ${id}` },
    })
    expect((await app.del(`/api/url/${id}/delete`, { key })).status).to.equal(503)
  })

  it('is read and redirected from the tables, which stay up to date', async () => {
    expect((await add({ custom: 'later' })).id).to.be.above(id)
    expect(await details(id)).to.include({ id })
    expect(await leadsTo('kept')).to.equal('https://example.com/a?b=c#d')
    expect(await leadsTo('later')).to.equal('https://example.com/a?b=c#d')
  })

  it('does not exist for another account', async () => {
    const other = (await app.register()).key
    expect((await app.get(`/api/url/${id}`, { key: other })).status).to.equal(404)
    expect((await update(id, {}, other)).status).to.equal(404)
  })

  it('is counted by a metric', async () => {
    const skipped = 'linkledger_unknown_events_total{subscription="domain"} 1'
    expect(
      (
        await until(
          () => app.operator.get('/metrics'),
          ({ text }) => text.includes(skipped),
        )
      ).text,
    ).to.include(skipped)
  })
})
