import { expect } from 'chai'
import { openProjection } from '../../src/app/log/projector.ts'
import { fill } from '../../src/projections/engine/fill.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { long, note, randomFrom, repeatable, seed } from '../support/faults.ts'
import { countChanged, expectSame, openWorkload, type Saved } from '../support/workload.ts'

describe(`answers of a moment of the past (${repeatable})`, function () {
  this.timeout(900_000)
  let app: TestApp
  before(async () => (app = await startTestApp()))
  after(() => app.close())

  it('are those that were given then, byte by byte, also after a rebuild', async () => {
    const random = randomFrom(seed)
    const workload = await openWorkload(() => app, random)
    const moments = long ? 50 : 3
    const saved: Saved[] = []
    for (let moment = 0; moment < moments; moment++) {
      // answers are saved while others write, too
      const steps = (async () => {
        for (let n = 20 + random(20); n > 0; n--) await workload.step()
      })()
      if (random(3) > 0) await steps
      saved.push(...(await workload.save(long ? 40 : 10)))
      await steps
    }
    await expectSame(app, saved)

    const { db } = openProjection(app.app.ledger)
    const before = app.app.ledger.tables.name('past_links')
    await fill({ ...app.app.ledger, db }, app.app.ledger.projections, new AbortController().signal)
    await until(
      async () => app.app.ledger.tables.name('past_links'),
      (name) => name !== before,
    )
    await expectSame(app, saved)
    const changed = await countChanged(app, saved)
    note(`${saved.length} answers of ${moments} moments, ${changed} of them different by now`)
    expect(changed).to.be.above(0)
  })
})
