import { expect } from 'chai'
import type * as BulkModule from '../../../src/web/core/bulk.ts'
import type * as ApiModule from '../../../src/web/core/api.ts'
import { usePage } from '../page.ts'

let bulk: typeof BulkModule
let api: typeof ApiModule

describe('changing many links', () => {
  const page = usePage(async () => {
    bulk = await import('../../../src/web/core/bulk.ts')
    api = await import('../../../src/web/core/api.ts')
  })
  const rows = (n: number) => Array.from({ length: n }, (_, id) => ({ id: id + 1 }))

  it('sends as many in each request as the service takes, each of them once', async () => {
    page.answer(() => ({ body: { error: 0, failed: 0, rows: [] } }))
    await bulk.changeLinks('delete', rows(2001))
    expect(page.asked.map(({ method, path }) => `${method} ${path}`)).to.deep.equal(
      Array.from({ length: 3 }, () => 'POST /api/urls/bulk?op=delete'),
    )
    const sent = page.asked.map(({ body }) => (body as { rows: object[] }).rows)
    expect(sent.map((one) => one.length)).to.deep.equal([1000, 1000, 1])
    expect(sent.flat()).to.deep.equal(rows(2001))
  })

  it('sends no request when there is nothing to change', async () => {
    page.answer(() => ({ status: 500, body: {} }))
    await bulk.changeLinks('update', [])
    expect(page.asked).to.have.lengthOf(0)
  })

  it('stops at the first request with a refused row, and says why', async () => {
    const message = '`tags.0` must not contain a comma.'
    page.answer(() => ({ body: { error: 0, failed: 1, rows: [{ error: 0 }, { error: 1, message, field: 'tags.0' }] } }))
    const failure = await bulk.changeLinks('update', rows(1001)).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(api.ApiError)
    expect(failure).to.include({ status: 400, field: 'tags', message })
    expect(page.asked).to.have.lengthOf(1)
  })
})
