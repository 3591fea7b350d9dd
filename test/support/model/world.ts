import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import type { Connection } from '../../../src/postgres/database.ts'
import { checkpoints } from '../../../src/projections/engine/tables.ts'
import { urlOf } from '../app.ts'
import { type Answer, type Ask, until } from '../client.ts'
import { freshDatabase } from '../database.ts'
import type { openStage } from '../faults.ts'
import type { Service } from '../process.ts'

/** The state that the service is expected to have. Each resource keeps its part of an account here. */
export interface Model {
  /** prefix of every name of this run, because names stay reserved */
  readonly run: string
  readonly accounts: AccountModel[]
  /** aliases in lower case that are or were in use */
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
  /** as they were last sent */
  fields: Readonly<Record<string, unknown>>
  /** the write that produced this state; undefined if its response was lost */
  written: Pick<Written, 'by' | 'notified'> | undefined
  /** clicks that got a redirect, and how many more may have been counted although the response was lost */
  clicks: number
  unsure: number
  readonly visitors: Set<number>
}

export interface Instance {
  readonly n: number
  readonly service: Service
}

/** `by` is the instance that responded, `notified` are the processes that were notified. */
export type Written = Answer & { readonly by: Instance; readonly notified: ReadonlySet<Service> }

/** Two instances of the service on one database, in processes of their own. */
export interface World {
  readonly connection: Connection
  readonly settings: Readonly<Record<string, string>>
  /** Returns the instance or, while it starts, the other one. */
  readonly up: (n: number) => Promise<Instance>
  /** Ends an instance, which then starts again. Resolves when the process has exited. */
  readonly end: (instance: Instance, signal: NodeJS.Signals) => Promise<void>
  readonly isUp: (instance: Instance) => boolean
  /** Sends a write request and expects the status. */
  readonly write: (n: number, method: string, path: string, ask: Ask, status: number) => Promise<Written>
  /**
   * Runs a check that must pass at once; while the projector lags, it may pass later in a process that was not
   * notified.
   */
  readonly holds: (
    n: number,
    check: (service: Service) => Promise<unknown>,
    notified?: ReadonlySet<Service>,
  ) => Promise<void>
  /** Blocks the projector until the work is done. */
  readonly whileBlocked: (work: () => Promise<unknown>) => Promise<void>
  /** Waits until both instances are up and all writes are projected. */
  readonly settled: () => Promise<readonly Instance[]>
  /** Waits until every visit that got a response is counted. */
  readonly counted: () => Promise<void>
  /** Expects that the id was never allocated before. */
  readonly newId: (kind: string, id: unknown) => void
}

/** One step of a random run. `name` appears in the report of a failure. */
export const command = (
  name: string,
  run: (model: Model, world: World) => Promise<unknown>,
): fc.AsyncCommand<Model, World> => ({
  check: () => true,
  run: async (model, world) => void (await run(model, world)),
  toString: () => name,
})
export type Command = fc.AsyncCommand<Model, World>
/** A kind of step and its relative frequency. */
export interface Step {
  readonly weight: number
  readonly arbitrary: fc.Arbitrary<Command>
}

/** The part of a resource in the runs: its steps, and the expectations that every instance must meet at the end. */
export interface ResourceModel {
  readonly steps: readonly Step[]
  readonly expectAll: (model: Model, service: Service) => Promise<void>
}

export const instance = fc.integer({ min: 0, max: 1 })
/** Chooses one of the items that exist when the step runs. */
export const chosen = fc.nat(1000)
export const choose = <T>(items: readonly T[], n: number): T | undefined => items[n % items.length]

/** Repeats a check until it passes; rejects with its failure after `ms`. */
export const soon = async (check: () => Promise<unknown>, ms = 30_000) => {
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
    // once a write is projected, all writes before it are
    if (status === 200) late = answer.headers.has('X-Projection-Pending')
    return {
      ...answer,
      by,
      notified: new Set(before.filter((service) => running.some((of) => of?.service === service))),
    }
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
      expect(late, 'the projector lags').to.equal(false)
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
    holds: async (n, check, notified) => {
      const { service } = await up(n)
      await (late && !notified?.has(service) ? soon(() => check(service)) : check(service))
    },
    whileBlocked: async (work) => {
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
      // a spool keeps the order of its clicks: those answered before these are counted before them
      await soon(async () => {
        const { json } = await (await up(0)).service.get(`/api/url/${kept.json['id']}`, { key })
        expect(json['data'].clicks, 'clicks of the last link').to.equal(visits)
      }, 30_000)
    },
    newId: (kind, id) => {
      expect(id, `id of a new ${kind}`).to.be.a('number')
      expect(ids.has(`${kind} ${String(id)}`), `${kind} ${String(id)} was allocated before`).to.equal(false)
      ids.add(`${kind} ${String(id)}`)
    },
  }
}
