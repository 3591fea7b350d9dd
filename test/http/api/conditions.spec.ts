import { expect } from 'chai'
import type { Context } from 'koa'
import { allowedRevisions, sendTagged, tagOf } from '../../../src/http/api/conditions.ts'
import { Failure } from '../../../src/http/api/errors.ts'
import { turnGrowth } from '../../support/turns.ts'

const answer = { data: { revision: 7 } }
const own = tagOf(answer)

/** Returns the status of an answer to a request with a header, and the revisions that it may change. */
const statusFor = (name: 'if-match' | 'if-none-match', value: string) => {
  const ctx = { status: 200, set: () => {}, get: () => value, req: { headers: { [name]: value } } }
  try {
    if (name === 'if-none-match') sendTagged(ctx as unknown as Context, answer)
    else return { status: 200, allowed: allowedRevisions(ctx as unknown as Context, { method: 'put', single: true }) }
    return { status: ctx.status }
  } catch (error) {
    if (error instanceof Failure) return { status: error.status, message: error.message }
    throw error
  }
}

describe('a header with ETags', () => {
  const names = ['if-match', 'if-none-match'] as const
  const tags = (n: number) => Array.from({ length: n }, (_, i) => `"${i}-x"`)

  it('may have 50 of them in 2,048 characters, and elements that are empty', () => {
    for (const list of [`${own}`, `W/"x" , ${own}`, `, ,${own},, , `, [...tags(49), own].join()]) {
      expect(statusFor('if-none-match', list), list).to.deep.equal({ status: 304 })
      expect(statusFor('if-match', list).allowed, list).to.include(7)
    }
    expect(statusFor('if-none-match', own.padEnd(2048, ','))).to.deep.equal({ status: 304 })
  })

  it('is refused when it is longer, in a sentence that names it', () => {
    for (const list of [[...tags(50), own].join(), own.padEnd(2049, ',')]) {
      expect(statusFor('if-none-match', list)).to.deep.equal({
        status: 431,
        message: '`If-None-Match` must have at most 2,048 characters and 50 ETags.',
      })
      expect(statusFor('if-match', list)).to.deep.equal({
        status: 431,
        message: '`If-Match` must have at most 2,048 characters and 50 ETags.',
      })
    }
  })

  it('takes time in proportion to its length, for any content', async () => {
    const hard: readonly ((size: number) => string)[] = [
      (size) => `${'"",'.repeat(size / 9)}${','.repeat((size / 3) * 2)}"x"`,
      (size) => `"x"${','.repeat(size)}!`,
      (size) => `"x"${' '.repeat(size)}!`,
      (size) => `${'"x" , '.repeat(size / 6)}!`,
      (size) => '"'.repeat(size),
    ]
    for (const name of names)
      for (const listOf of hard) {
        const growth = await turnGrowth(listOf, (list) => statusFor(name, list), { from: 250, to: 16_000 })
        expect(growth, listOf(50)).to.be.at.most(3)
      }
  })
})
