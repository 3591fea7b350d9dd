import { expect } from 'chai'
import { recordReclassification, undoReclassification } from '../../../src/commands/statistics/reclassify.ts'
import type { Call } from '../../../src/http/api/route.ts'
import { writePart } from '../../../src/http/statistics/reclassify.ts'

describe('the parts', () => {
  /** Returns a call that is admitted so many times, and what it has written. */
  const admitted = (times: number) => {
    let left = times
    const written: string[] = []
    const write = async (_: unknown, { type }: { readonly type: string }) => {
      written.push(type)
      return { state: { left: 9 } }
    }
    const call = { isAdmitted: async () => left-- > 0, write } as unknown as Pick<Call, 'isAdmitted' | 'write'>
    return { written, write: writePart(call) }
  }
  const pace = async () => true

  it('of a reclassification are written only while the caller is admitted', async () => {
    const forward = admitted(2)
    const parts = Array.from({ length: 5 }, () => ({}) as never)
    const ended = await recordReclassification(forward.write, 'a', parts, pace).catch(String)
    expect([ended, forward.written.length]).to.deep.equal([
      'Failure: A valid API key is required to use this service.',
      2,
    ])
    const back = admitted(3)
    const stopped = await undoReclassification(
      back.write,
      'a',
      { account: 1, since: '', left: 9 },
      { pace, check: async () => {} },
    ).catch(String)
    expect([stopped, back.written.length]).to.deep.equal([ended, 3])
  })
})
