import { expect } from 'chai'
import type { Context } from 'koa'
import { answerAt, type Past } from '../../../../src/http/api/past/past.ts'

describe('an answer that waits for its turn to read', () => {
  /** Answers a request, whose response has this state when its turn comes. */
  const ask = async (res: { writableEnded: boolean; closed: boolean }) => {
    const done: string[] = []
    const past = {
      present: async () => ({
        contained: { domain: 1n, clicks: 1n },
        reader: {},
        end: async () => void done.push('ended'),
      }),
      ordinals: { of: async () => new Map() },
    } as unknown as Past
    const ctx = { query: {}, res, set: () => {} } as unknown as Context
    const from = { account: 1 } as Parameters<typeof answerAt>[3]
    await answerAt(ctx, {}, past, from, async () => done.push('read')).catch((error: Error) => done.push(error.name))
    return done
  }

  it('is read while its client waits', async () => {
    expect(await ask({ writableEnded: false, closed: false })).to.deep.equal(['read', 'ended'])
  })

  it('is not read for a request that was answered while it waited for its turn, or whose client is gone', async () => {
    expect(await ask({ writableEnded: true, closed: false })).to.deep.equal(['ended', 'Unavailable'])
    expect(await ask({ writableEnded: false, closed: true })).to.deep.equal(['ended', 'Unavailable'])
  })
})
