import { expect } from 'chai'
import fc from 'fast-check'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import { openLedger } from '../../src/app/log/ledger.ts'
import { projections } from '../../src/projections/index.ts'
import { fill } from '../../src/projections/engine/fill.ts'
import { long, longestMs, note, openStage, repeatable, seed } from '../support/faults.ts'
import { expectWholeLog, readLog } from '../support/ledger.ts'
import { dump } from '../support/log.ts'
import { accounts, register } from '../support/model/account.ts'
import { links } from '../support/model/link.ts'
import {
  command,
  instance,
  type Model,
  openWorld,
  type ResourceModel,
  type Step,
  type World,
} from '../support/model/world.ts'

/** What clients can do; a new resource is added here. */
const resources: readonly ResourceModel[] = [accounts, links]
/** What can happen to the service. */
const faults: readonly Step[] = [
  {
    weight: 4,
    arbitrary: fc
      .tuple(instance, fc.constantFrom('SIGKILL', 'SIGKILL', 'SIGTERM'))
      .map(([n, signal]) =>
        command(`instance ${n} is ended by ${signal}`, async (_, world) => world.end(await world.up(n), signal)),
      ),
  },
]
const steps = fc.commands([fc.oneof(...faults, ...resources.flatMap((resource) => resource.steps))], {
  maxCommands: 60,
  size: 'max',
})

describe(`two instances compared with a model (${repeatable})`, function () {
  const [enough, rounds] = long ? [Math.min(300_000, longestMs), 200] : [5000, 10]
  this.timeout(enough + 300_000)
  const stage = openStage()
  let world: World
  before(async () => (world = await openWorld(stage)))
  after(stage.clear)

  it('behave as the model does, through kills and outages', async () => {
    const end = Date.now() + enough
    let [run, done] = [0, 0]
    // on a slow machine some steps are done, too
    const isEnough = () => done >= 20 && Date.now() > end
    await fc.assert(
      fc.asyncProperty(steps, async (commands) => {
        if (isEnough()) return
        const model: Model = { run: `run${++run}`, accounts: [], names: new Map() }
        await register(model, world, 0)
        await register(model, world, 1)
        const inTime: fc.AsyncCommand<Model, World>[] = [...commands].map((step) => ({
          check: () => !isEnough(),
          run: async (...args) => (done++, step.run(...args)),
          toString: () => step.toString(),
        }))
        await fc.asyncModelRun(() => ({ model, real: world }), inTime)
        await world.counted()
        for (const { service } of await world.settled())
          for (const { expectAll } of resources) await expectAll(model, service)
      }),
      { seed, numRuns: rounds, endOnFailure: true },
    )
    note(`${done} steps in ${run} runs`)
    expect(done).to.be.above(10)
    await expectLog(world)
  })
})

/** Expects a log without gaps, unique ids, and tables equal to a replay of the log. */
const expectLog = async ({ connection, settings }: World) => {
  const log = await readLog(connection)
  expectWholeLog(log)
  for (const type of ['LinkCreated', 'AccountRegistered']) {
    const ids = log.filter((event) => event.type === type).map(({ data }) => data['id'])
    expect(new Set(ids).size).to.equal(ids.length)
  }
  const dir = await mkdtemp(join(tmpdir(), 'linkledger-model-'))
  const ledger = await openLedger(readConfig({ ...settings, DATA_DIR: dir }), pino({ level: 'silent' }), 'command')
  try {
    for (const projection of projections) {
      const tables = await dump(ledger.db, projection)
      await fill(ledger, [projection], new AbortController().signal)
      expect(await dump(ledger.db, projection), projection.name).to.deep.equal(tables)
    }
  } finally {
    await ledger.close()
    await rm(dir, { recursive: true })
  }
}
