import { expect } from 'chai'
import { jsonOf, type Parts } from '../../../src/projections/engine/row.ts'

describe('rows as JSON', () => {
  const rowsOf = (amount: number): Parts[] =>
    Array.from({ length: amount }, (_, n) => [
      { id: n },
      { title: '', tags: [], url: `https://example.com/${n}`, notes: n === 5 ? 'x' : null, since: 2n ** 60n },
      n === 3 ? {} : { until: 7 },
    ])
  const parse = (text: string) => JSON.parse(text) as unknown

  it('have shared values once, so that a rebuild does not repeat the empty columns of each link', () => {
    const [common, rows] = jsonOf(rowsOf(20))
    expect(parse(common)).to.deep.equal({ title: '', tags: [], since: String(2n ** 60n) })
    expect((parse(rows) as object[])[0]).to.deep.equal({ id: 0, url: 'https://example.com/0', notes: null, until: 7 })
  })

  it('are the same rows when PostgreSQL puts them together', () => {
    const given = rowsOf(20).map((parts) => Object.assign({}, ...parts) as Record<string, unknown>)
    const [common, rows] = jsonOf(rowsOf(20))
    const together = (parse(rows) as object[]).map((row) => ({ ...(parse(common) as object), ...row }))
    expect(together).to.deep.equal(given.map((row) => ({ ...row, since: String(row['since']) })))
  })

  it('are written in full when they are few', () => {
    const [common, rows] = jsonOf(rowsOf(2))
    expect(common).to.equal('{}')
    expect((parse(rows) as object[])[0]).to.include.keys('title', 'tags', 'since')
  })
})
