import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { account as accounts } from '../../commands/accounts/account.ts'
import { Refused } from '../../commands/decider.ts'
import type { Handler } from '../../commands/handle.ts'
import { type Asker, requireAsker } from '../../commands/statistics/asker.ts'
import { reclassification, type ReclassificationCommand } from '../../commands/statistics/reclassification.ts'
import { type Claim, recordReclassification, undoReclassification } from '../../commands/statistics/reclassify.ts'
import { Actor } from '../../events/event.ts'
import { problem, type Problem } from '../../lib/problems/problem.ts'
import {
  awaitStatistics,
  newerReclassification,
  nextClickedAccount,
} from '../../queries/statistics/reclassifications.ts'
import type { ClassChange, planReclassification } from '../../queries/statistics/reclassify.ts'
import { clicksKeptSince } from '../../queries/statistics/recorded.ts'
import type { Reader } from '../../queries/reader.ts'

/** A reclassification that a caller has requested. */
export interface ReclassifyJob {
  readonly id: string
  /** 0: all accounts */
  readonly account: number
  readonly work: 'count' | 'apply' | 'undo'
  readonly actor: Asker
  readonly request: string
  /** accounts up to this one are done */
  readonly done: number
  /** the reclassification that the job makes or undoes */
  readonly made: string | null
  readonly visits: number
  readonly changes: readonly Change[]
}
type Change = Omit<ClassChange, 'from' | 'to'> & { readonly from: string; readonly to: string }
type Progress = Partial<Pick<ReclassifyJob, 'done' | 'made' | 'visits' | 'changes'>> & {
  readonly part?: number
  readonly parts?: number
}

/** ms between two checks of what the statistics have applied */
const patience = 5000
/** changes that a job stores, by most visits */
const mostChanges = 500
/** Adds up changes by their classes and rule. */
export const mergeChanges = (some: readonly Change[], more: readonly Change[]): readonly Change[] => {
  const sums = new Map<string, Change>()
  for (const change of [...some, ...more]) {
    const key = JSON.stringify([change.from, change.to, change.rule])
    sums.set(key, { ...change, visits: change.visits + (sums.get(key)?.visits ?? 0) })
  }
  return [...sums.values()].toSorted((a, b) => b.visits - a.visits).slice(0, mostChanges)
}

/** The process ends, or another one continues: the job stays as it is. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** The dependencies of a job's work. */
export interface Means {
  readonly jobs: {
    readonly next: () => Promise<ReclassifyJob | undefined>
    /** Returns the current state of the caller who requested a job. */
    readonly asker: (id: string) => Promise<Asker | undefined>
    readonly save: (id: string, progress: Progress) => Promise<void>
    readonly end: (id: string, failed: boolean, problem?: Problem) => Promise<void>
  }
  /** Returns nothing while a request or a command reclassifies visits of the account. */
  readonly claim: (account: number) => Promise<Claim | undefined>
  readonly handler: Pick<Handler, 'handle' | 'load'>
  readonly reader: Reader
  readonly plan: (account: number) => ReturnType<typeof planReclassification>
  /** Throws when the process ends, or another one continues. */
  readonly ensureGoing: () => void
}

const found = ({ visits, changes: before }: ReclassifyJob, changes: readonly ClassChange[]) => ({
  visits: visits + changes.reduce((sum, change) => sum + change.visits, 0),
  changes: mergeChanges(before, changes),
})

/** Returns a writer that acts for the caller of a job, and reports progress. */
const writing =
  (means: Means, job: ReclassifyJob, account: number) =>
  (onPart: (part: number) => Promise<void>) =>
  async (command: ReclassificationCommand) => {
    const { handler, jobs, ensureGoing } = means
    const { id, actor, request } = job
    ensureGoing()
    await requireAsker(handler.load, await jobs.asker(id), job.account)
    const context = { account, actor: Actor.parse(actor), request, command: randomUUID(), at: new Date().toISOString() }
    const handled = await handler.handle(reclassification, command, context)
    await onPart(command.type === 'AddPart' ? command.part + 1 : handled.state.left)
    return handled
  }

/** Waits until the statistics have a part, without a time limit. */
const pacing =
  ({ reader, ensureGoing }: Means) =>
  async (position: bigint) => {
    while (!(await awaitStatistics(reader, position, performance.now() + patience))) ensureGoing()
    return true
  }

type Work = (means: Means, job: ReclassifyJob, account: number) => Promise<Progress>

const count: Work = async ({ plan }, job, account) => found(job, (await plan(account)).changes)

/** Records the missing parts: an interrupted job has recorded some, whose visits have changed by then. */
const apply: Work = async (means, job, account) => {
  const { jobs, handler, plan } = means
  const id = job.made ?? randomUUID()
  const pace = pacing(means)
  const { parts: recorded } = (await handler.load(reclassification, id)).state
  const { changes, parts } = await plan(account)
  const all = recorded + parts.length
  const sums = job.made === null ? found(job, changes) : {}
  await jobs.save(job.id, { made: id, part: recorded, parts: all, ...sums })
  const write = writing(means, job, account)((part) => jobs.save(job.id, { part }))
  const last = await recordReclassification(write, id, parts, pace, recorded)
  if (last !== undefined) await pace(last)
  return {}
}

const undo: Work = async (means, job, account) => {
  const { jobs, handler, reader } = means
  const id = job.made ?? ''
  const pace = pacing(means)
  const { left } = (await handler.load(reclassification, id)).state
  const check = async (part: number) => {
    const newer = await newerReclassification(reader, id, { account, part })
    if (newer !== undefined)
      throw new Refused({ ...problem('wrong_order', { what: 'newest', id: newer }), field: 'undo' })
  }
  await jobs.save(job.id, { part: 0, parts: left })
  const since = ((await clicksKeptSince(reader)) ?? new Date(0)).toISOString()
  const write = writing(means, job, account)((rest) => jobs.save(job.id, { part: left - rest }))
  await pace(await undoReclassification(write, id, { account, since, left }, { pace, check }))
  return {}
}

const works = { count, apply, undo } as const

/** Does the work of a job for an account. A job that changes visits waits until no other one does. */
const workFor = async (means: Means, job: ReclassifyJob, account: number): Promise<Progress | undefined> => {
  if (job.work === 'count') return count(means, job, account)
  const claim = await means.claim(account)
  if (!claim) return undefined
  const ensureGoing = () => {
    means.ensureGoing()
    if (claim.lost.aborted) throw new Interrupted()
  }
  try {
    while (!(await claim.caughtUp(performance.now() + patience))) ensureGoing()
    return await works[job.work]({ ...means, ensureGoing }, job, account)
  } finally {
    await claim.end()
  }
}

/** Does a job for the next account, and ends it when there is none. */
export const step = async (means: Means, job: ReclassifyJob): Promise<void> => {
  const { jobs, handler, reader } = means
  const { account: own, done } = job
  const account = own === 0 ? await nextClickedAccount(reader, done) : done === 0 ? own : undefined
  if (account === undefined) return jobs.end(job.id, false)
  const { status } = (await handler.load(accounts, account)).state
  await requireAsker(handler.load, job.actor, own)
  const isMeant = status === 'active' || (own === 0 && status === 'disabled')
  // the job of one account has no other account to continue with
  if (!isMeant && own !== 0) return jobs.end(job.id, true, problem('account_disabled'))
  const progress = isMeant ? await workFor(means, job, account) : {}
  if (progress) return jobs.save(job.id, { ...progress, done: account, made: null })
  // another job may run meanwhile
  await jobs.save(job.id, {})
  await sleep(100)
}
