import { expect } from 'chai'
import { fold } from '../../../src/commands/decider.ts'
import { recordReclassification, undoReclassification } from '../../../src/commands/statistics/reclassify.ts'
import { reclassification, type ReclassificationCommand } from '../../../src/commands/statistics/reclassification.ts'
import type { ReclassificationEvent } from '../../../src/events/statistics/reclassification.ts'
import { noExclusions } from '../../../src/events/statistics/exclusions.ts'
import { spec } from '../../support/given.ts'

describe('recording a reclassification', () => {
  const id = '0197b0c2-6a3e-7c1d-9a55-0f2f6c0d1e11'
  const since = '2026-01-01T00:00:00.000Z'
  const data = {
    ...{ account: 1, link: [7], qr: [], bio: [], view: [], from: since, to: since, since, rules: 1 },
    ...{ agents: [], exclusions: noExclusions },
  }
  /** What is written and waited for, in this order. */
  const run = async (timeoutMs: number) => {
    const seen: string[] = []
    let state = reclassification.initialState
    let position = 0n
    const write = async (command: ReclassificationCommand) => {
      for (const event of reclassification.decide(command, state)) {
        seen.push(`${event.type === 'ClicksReclassified' ? 'add' : 'undo'} ${event.data.part}`)
        state = reclassification.evolve(state, event)
        position = BigInt(event.data.part)
      }
      return { state, position }
    }
    const pace = async (part: bigint) => seen.push(`wait for ${part}`) <= timeoutMs
    await recordReclassification(write, id, [data, data, data], pace)
    const check = async (part: number) => void expect(seen.at(-1), 'before a part').not.to.equal(`undo ${part}`)
    await undoReclassification(write, id, { account: data.account, since, left: state.left }, { pace, check })
    return seen.join(', ')
  }

  it('appends a part when the statistics have the one before, so that new clicks come between', async () => {
    expect(await run(Infinity)).to.equal(
      'add 0, wait for 0, add 1, wait for 1, add 2, undo 2, wait for 2, undo 1, wait for 1, undo 0',
    )
  })

  it('appends the rest at once when that takes too long', async () => {
    expect(await run(0)).to.equal('add 0, wait for 0, add 1, add 2, undo 2, wait for 2, undo 1, undo 0')
  })
})

describe('a reclassification', () => {
  const [id, account, since] = ['0197b0c2-6a3e-7c1d-9a55-0f2f6c0d1e11', 1, '2026-01-01T00:00:00.000Z']
  const part = {
    ...{ account, link: [7], qr: [], bio: [], view: [], from: since, to: since, since, rules: 1 },
    ...{ agents: [], exclusions: noExclusions },
  }
  const { given } = spec(reclassification)
  const added = (n: number): ReclassificationEvent => ({
    type: 'ClicksReclassified',
    data: { reclassification: id, part: n, ...part },
  })
  const undone = (n: number): ReclassificationEvent => ({
    type: 'ReclassificationUndone',
    data: { reclassification: id, account, part: n, since },
  })
  const add = (n: number): ReclassificationCommand => ({ type: 'AddPart', id, part: n, data: part })
  const undo = (by?: number): ReclassificationCommand => ({ type: 'UndoPart', id, account: by, since })

  it('records each part once', () => {
    given().when(add(0)).thenEvents(added(0))
    given(added(0)).when(add(1)).thenEvents(added(1))
    given(added(0), added(1), undone(1)).when(add(1)).thenNothing()
  })
  it('is taken back from its newest part on, and then no more', () => {
    expect(reclassification.decide(undo(), fold(reclassification, [added(0), added(1)]))).to.deep.equal([undone(1)])
    given(added(0)).when(undo(account)).thenEvents(undone(0))
    given(added(0), undone(0)).when(undo()).thenNothing()
  })
  it('is found by its account, and by an operator', () => {
    given().when(undo()).thenRefused('not_found', 'reclassification')
    given(added(0)).when(undo(2)).thenRefused('not_found', 'reclassification')
  })
})
