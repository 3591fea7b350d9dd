import { expect } from 'chai'
import { Unreadable } from '../../../src/events/codec.ts'
import type { Member } from '../../../src/projections/engine/members.ts'
import { batchSize } from '../../../src/projections/engine/batchsize.ts'
import { links } from '../../../src/projections/links/link.ts'
import { applyLog } from '../../../src/projections/engine/pass.ts'
import { checkpoints, newGeneration } from '../../../src/projections/engine/tables.ts'
import { linkCreated, recorded } from '../../support/events.ts'
import { openTestLog, type TestLog } from '../../support/log.ts'

describe('one pass over the log', () => {
  let log: TestLog
  before(async () => (log = await openTestLog()))
  after(() => log.close())

  it('skips no event when it is stopped before one that cannot be read', async () => {
    const events = recorded([1, 2, 3, 4].map((id) => linkCreated({ id, alias: `a-${id}` })))
    const member: Member = {
      projection: links,
      checkpoint: await newGeneration(log.db, links, log.store.logId),
      parked: new Set(),
    }
    const stop = new AbortController()
    // like an engine: what comes before the unreadable event is returned first
    const read = async function* () {
      yield events.slice(0, 3)
      throw new Unreadable({ ...events[3]!, type: 'AccountRenamed' }, 'damaged')
    }
    await applyLog(log.db, [member], read, {
      size: batchSize(1),
      signal: stop.signal,
      onApplied: () => stop.abort(),
      onHalted: () => {},
    })
    const [checkpoint] = await log.db(checkpoints).where({ projection: 'links' })
    expect((checkpoint as { position: string }).position).to.equal('1')
  })
})
