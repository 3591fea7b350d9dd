import { expect } from 'chai'
import { recordReclassification, undoReclassification } from '../../../src/commands/statistics/reclassify.ts'
import { reclassification, type ReclassificationCommand } from '../../../src/commands/statistics/reclassification.ts'
import { noExclusions } from '../../../src/events/statistics/exclusions.ts'

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
    const write = async (command: ReclassificationCommand) => {
      for (const event of reclassification.decide(command, state)) {
        seen.push(`${event.type === 'ClicksReclassified' ? 'add' : 'undo'} ${event.data.part}`)
        state = reclassification.evolve(state, event)
      }
      return { state }
    }
    const pace = async (part: number) => seen.push(`wait for ${part}`) <= timeoutMs
    await recordReclassification(write, id, [data, data, data], pace)
    await undoReclassification(write, id, { since }, pace)
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
