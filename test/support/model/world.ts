import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import type { Connection } from '../../../src/postgres/database.ts'
import { checkpoints } from '../../../src/projections/tables.ts'
import { urlOf } from '../app.ts'
import { type Answer, type Ask, until } from '../client.ts'
import { freshDatabase } from '../database.ts'
import type { openStage } from '../faults.ts'
import type { Service } from '../process.ts'

/** What the service should come to: each resource keeps its part of an account here. */
export interface Model {
  /** stands in every name of this run, for names are unique for ever */
  readonly run: string
  readonly accounts: AccountModel[]
  /** aliases in lower case, as long as anybody has them or had them */
  readonly names: Map<string, { readonly account: AccountModel; readonly link: LinkModel | undefined }>
}
export interface AccountModel {
  readonly id: number
  readonly key: string
  readonly username: string
  email: string
  readonly links: LinkModel[]
}
export interface LinkModel {
  readonly id: number
  alias: string
  /** as they were sent last */
  fields: Readonly<Record<string, unknown>>
  /** what is known of the write that made it what it is; undefined if that was never answered */
  written: Pick<Written, 'by' | 'told'> | undefined
  /** clicks by people that were answered with the destination, and how many may have been counted without an answer */
  clicks: number
  unsure: number
  readonly visitors: Set<number>
}

export interface Instance {
  readonly n: number
  readonly service: Service
}

/** `by` is who answered, `told` are the processes that know of it. */
export type Written = Answer & { readonly by: Instance; readonly told: ReadonlySet<Service> }

/** Two instances of the service on one database, in processes of their own. */
export interface World {
  readonly connection: Connection
  readonly settings: Readonly<Record<string, string>>
  /** That instance or, while it starts, the other. */
  readonly up: (n: number) => Promise<Instance>
  /** Ends it; it starts again by itself. Resolves when it is gone. */
  readonly end: (instance: Instance, signal: NodeJS.Signals) => Promise<void>
  readonly isUp: (instance: Instance) => boolean
  /** A write that is answered, with the status that it must have. */
  readonly write: (n: number, method: string, path: string, ask: Ask, status: number) => Promise<Written>
  /** Holds at once, wherever it is asked; or soon, while the tables are known to be late, of a process that was not told so. */
  readonly holds: (
    n: number,
    check: (service: Service) => Promise<unknown>,
    told?: ReadonlySet<Service>,
  ) => Promise<void>
  /** The tables stand still until the work is done. */
  readonly whileLate: (work: () => Promise<unknown>) => Promise<void>
  /** Both instances are up, and all that was ever written can be read. */
  readonly settled: () => Promise<readonly Instance[]>
  /** Every visit that was answered is counted. */
  readonly counted: () => Promise<void>
  /** No id that was given out is ever given out again. */
  readonly newId: (kind: string, id: unknown) => void
}

/** One step of a random run. `name` tells it in the report of a failure. */
export const command = (
  name: string,
  run: (model: Model, world: World) => Promise<unknown>,
): fc.AsyncCommand<Model, World> => ({
  check: () => true,
  run: async (model, world) => void (await run(model, world)),
  toString: () => name,
})
export type Command = fc.AsyncCommand<Model, World>
/** A kind of steps, and how often it comes beside the others. */
export interface Step {
  readonly weight: number
  readonly arbitrary: fc.Arbitrary<Command>
}

/** What a resource adds to the runs: its steps, and what must hold of it in the end, asked of every instance. */
export interface ResourceModel {
  readonly steps: readonly Step[]
  readonly expectAll: (model: Model, service: Service) => Promise<void>
}

export const instance = fc.integer({ min: 0, max: 1 })
/** Picks one of those that are there when the step is run. */
export const chosen = fc.nat(1000)
export const choose = <T>(items: readonly T[], n: number): T | undefined => items[n % items.length]

/** Becomes true before the time is up. */
export const soon = async (check: () => Promise<unknown>, ms = 10_000) => {
  const failure = await until(
    () =>
      check().then(
        () => undefined,
        (error: unknown) => error,
      ),
    (error) => error === undefined,
    ms,
  )
  if (failure !== undefined) throw failure
}

export const openWorld = async (stage: ReturnType<typeof openStage>): Promise<World> => {
  const connection = await freshDatabase()
  const settings = {
    DATABASE_URL: urlOf(connection),
    SECRET: 'a secret for tests only',
    BASE_URL: 'http://short.test',
    TRUST_PROXY: '1',
  }
  const dirs = [await stage.dir(), await stage.dir()]
  const start = async (n: number): Promise<Instance> => ({
    n,
    service: await stage.start({ ...settings, DATA_DIR: dirs[n]! }),
  })
  const starting = [start(0), start(1)]
  const running: (Instance | undefined)[] = await Promise.all(starting)
  let late = false
  const ids = new Set<string>()

  const up = async (n: number) => running[n] ?? running[1 - n] ?? (await Promise.race(starting))
  const isUp = (of: Instance) => running[of.n] === of
  const write: World['write'] = async (n, method, path, ask, status) => {
    const by = await up(n)
    const before = running.flatMap((of) => of?.service ?? [])
    const answer = await by.service.ask(method, path, ask)
    expect(answer.status, `${method} ${path} ${answer.text}`).to.equal(status)
    // what is readable is all that stands before it, too
    if (status === 200) late = answer.headers.has('X-Projection-Pending')
    return { ...answer, by, told: new Set(before.filter((service) => running.some((of) => of?.service === service))) }
  }

  const { key } = await running[0]!.service.register('keeper')
  await soon(async () => expect((await running[0]!.service.get('/api/account', { key })).status).to.equal(200))
  const kept = await write(
    0,
    'POST',
    '/api/url/add',
    { key, body: { url: 'https://example.com/', custom: 'keeper' } },
    200,
  )
  let visits = 0

  const settled = async () => {
    const both = await Promise.all(starting)
    await soon(async () => {
      const body = { url: 'https://example.com/', title: randomUUID() }
      await write(0, 'PUT', `/api/url/${kept.json['id']}/update`, { key, body }, 200)
      expect(late, 'the read tables are late').to.equal(false)
    }, 30_000)
    return both
  }

  return {
    connection,
    settings,
    up,
    isUp,
    write,
    settled,
    end: async (of, signal) => {
      if (!isUp(of)) return
      running[of.n] = undefined
      const ended = of.service.end(signal)
      starting[of.n] = ended.then(async () => (running[of.n] = await start(of.n)))
      await ended
    },
    holds: async (n, check, told) => {
      const { service } = await up(n)
      await (late && !told?.has(service) ? soon(() => check(service)) : check(service))
    },
    whileLate: async (work) => {
      const client = await stage.connect(connection)
      await client.query(`begin; lock table ${checkpoints} in exclusive mode`)
      try {
        await work()
      } finally {
        await client.end()
      }
    },
    counted: async () => {
      for (const { service } of await settled()) {
        expect((await service.visit('/keeper')).status).to.equal(302)
        visits++
      }
      // clicks of a spool keep their order: what was answered before these is counted with them
      await soon(async () => {
        const { json } = await (await up(0)).service.get(`/api/url/${kept.json['id']}`, { key })
        expect(json['data'].clicks, 'clicks of the last link').to.equal(visits)
      }, 30_000)
    },
    newId: (kind, id) => {
      expect(id, `id of a new ${kind}`).to.be.a('number')
      expect(ids.has(`${kind} ${String(id)}`), `${kind} ${String(id)} was given out before`).to.equal(false)
      ids.add(`${kind} ${String(id)}`)
    },
  }
}
