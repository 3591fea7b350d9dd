import { expect } from 'chai'
import { approval } from '../../../src/commands/approvals/approval.ts'
import type { Handler } from '../../../src/commands/handle.ts'
import { abandoned, storeApproval } from '../../../src/http/approvals/made.ts'
import type { Waiting } from '../../../src/http/approvals/proposed.ts'

const minute = 60_000
const of = { account: 7, number: 1 }

/** A log whose events at these revisions are so many minutes old. */
const logOf = (ages: Readonly<Record<number, number>>) => ({
  outcome: async () => undefined,
  steps: async function* (_: unknown, __: unknown, { from = 0 }: { readonly from?: number } = {}) {
    const at = new Date(Date.now() - (ages[from] ?? 0) * minute).toISOString()
    yield { event: { type: 'ChangeApproved', data: of, metadata: { at } } }
  } as unknown as Handler['steps'],
})
const stateOf = (approved: number) => {
  const proposal = { kind: 'link', target: 1, revision: 0, member: 2, at: 0, approved }
  return { state: { ...approval.initialState, open: { 1: proposal } } }
}

describe('the approval of a change', () => {
  it('counts as interrupted by its newest approval', async () => {
    const log = logOf({ 1: 20, 2: 1, 3: 11 })
    const found = (approved?: number) => abandoned(log, { approved } as Waiting, of)
    expect([await found(), await found(1), await found(2), await found(3)]).to.deep.equal([undefined, 1, undefined, 3])
  })

  it('is stored once more by a repeated request that finds its own approval of long ago', async () => {
    const stored = (ages: Readonly<Record<number, number>>) => {
      const written: number[] = []
      const write = async () => stateOf(written.push(written.length + 1))
      return storeApproval(logOf(ages), of, write).then(() => written)
    }
    expect(await stored({})).to.deep.equal([1])
    expect(await stored({ 1: 3 })).to.deep.equal([1])
    expect(await stored({ 1: 30, 2: 6 })).to.deep.equal([1, 2, 3])
  })
})
