import { expect } from 'chai'
import { projections } from '../../../src/projections/index.ts'
import { loadMembers } from '../../../src/projections/engine/members.ts'
import type { Database } from '../../../src/postgres/database.ts'

/** The live tables of all projections, at the same position. */
const liveRows = projections.map(({ name, version }) => ({
  projection: name,
  version,
  generation: 1,
  log_id: 'log',
  position: '7',
  event_id: 'seventh',
  live: true,
}))
const db = (() => ({ where: async () => liveRows })) as unknown as Database

describe('the projections of a process that starts', () => {
  it('are compared with the log by one question for each position, and not one by one', async () => {
    const asked: bigint[] = []
    let [reading, together] = [0, 0]
    const store = {
      logId: 'log',
      idAt: async (position: bigint) => {
        asked.push(position)
        return 'seventh'
      },
      read: () => ({
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            together = Math.max(together, ++reading)
            await new Promise((turned) => setImmediate(turned))
            reading--
            return { done: true as const, value: undefined }
          },
        }),
      }),
    }
    const members = await loadMembers(db, store, projections)
    expect(members.map(({ projection }) => projection.name)).to.deep.equal(projections.map(({ name }) => name))
    expect(asked).to.deep.equal([7n])
    expect(together).to.equal(projections.length)
  })
})
