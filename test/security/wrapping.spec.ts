import { expect } from 'chai'
import type { Database } from '../../src/postgres/database.ts'
import { isWrappedUnder, openWrapping, WrongSecret } from '../../src/security/wrapping.ts'

describe('keys under SECRET', () => {
  /** A database whose reads of keys have these outcomes, one after another. */
  const answering = (outcomes: readonly (() => Promise<readonly object[]>)[]) => {
    const left = [...outcomes]
    const table = () => ({ whereIn: () => (left.shift() ?? (async () => []))() })
    return table as unknown as Database
  }
  const outage = async () => Promise.reject(new Error('timeout expired'))
  const problemOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error)

  it('are not said to be under another one because the database did not answer, at a start or later', async () => {
    const [atStart, later] = [answering([outage]), answering([async () => [], outage])]
    expect(await problemOf(openWrapping(atStart, 'a secret'))).to.have.property('message', 'timeout expired')
    const { read } = await openWrapping(later, 'a secret')
    expect(await problemOf(read(['service']))).to.have.property('message', 'timeout expired')
  })

  it('are said to be so when they do not open', async () => {
    const { wrap } = await openWrapping(answering([]), 'a secret')
    const row = { name: 'service', wrapped: wrap('service', Buffer.alloc(32)) }
    expect([isWrappedUnder('a secret', row), isWrappedUnder('another', row)]).to.deep.equal([true, false])
    expect(await problemOf(openWrapping(answering([async () => [row]]), 'another'))).to.be.instanceOf(WrongSecret)
  })
})
