import type { Claim } from '../../commands/statistics/reclassify.ts'
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Asker, askerBySession } from '../../commands/statistics/asker.ts'
import { timestamp } from '../../lib/fields.ts'
import type { Problem } from '../../lib/problems/problem.ts'
import { countClickedAccounts, listReclassifications } from '../../queries/statistics/reclassifications.ts'
import type { Reader } from '../../queries/reader.ts'
import { rulesVersion } from '../../clicks/visitor/agent.ts'
import { requireAdmitted } from '../api/admit.ts'
import { fail } from '../api/errors.ts'
import { flag } from '../api/fields.ts'
import { type Call, endpoint, type Route } from '../api/route.ts'
import { type JobChange, operatorReclassify } from './contract/reclassify.ts'

interface Job {
  readonly work: 'count' | 'apply' | 'undo'
  readonly asked: Date
  readonly ended: Date | null
  readonly failed: boolean
  readonly reason: string | null
  readonly problem: Problem | null
  readonly visits: number
  readonly changes: readonly JobChange[]
  /** accounts up to this one are done */
  readonly done: number
  readonly part: number
  readonly parts: number
}
interface Asked extends Pick<Job, 'work'> {
  readonly id: string
  /** 0: all accounts */
  readonly account: number
  readonly actor: Asker
  readonly request: string
  /** the reclassification to undo */
  readonly made: string | null
}

/** Reclassifications in the background. */
export interface ReclassifyJobs {
  /** Returns nothing while another process or request has it, or the account has a job that changes visits. */
  readonly claim: (account: number) => Promise<Claim | undefined>
  /** Returns false while the account has a job, or another process or request has its claim. */
  readonly begin: (job: Asked) => Promise<boolean>
  /** Returns the last job of an account; for 0, that of all accounts. */
  readonly of: (account: number) => Promise<Job | undefined>
}
export interface ReclassifyServices {
  readonly reclassifyJobs: ReclassifyJobs
}

const stillRunning = () => fail(409, 'still_running', { what: 'reclassification' }, { 'Retry-After': '5' })

/** Runs work that changes visits of an account. Fails with 409 while other such work runs. */
export const claimed = async <T>(
  { reclassifyJobs }: ReclassifyServices,
  account: number,
  work: (claim: Claim) => Promise<T>,
): Promise<T> => {
  const claim = (await reclassifyJobs.claim(account)) ?? stillRunning()
  try {
    return await work(claim)
  } finally {
    await claim.end()
  }
}

/** Begins a job. Fails with 409 while one runs. */
export const beginJob = async (
  { reclassifyJobs }: ReclassifyServices,
  call: Pick<Call, 'account' | 'isAdmitted' | 'load' | 'session'>,
  job: Omit<Asked, 'id' | 'request'>,
) => {
  const id = randomUUID()
  const { session } = call
  const actor =
    job.actor.kind === 'key' ? job.actor : await askerBySession(call.load, call.account, { ...job.actor, session })
  // the password may have changed before it was read
  await requireAdmitted(call)
  const has = await reclassifyJobs.begin({ ...job, actor, id, request: `background ${id}` })
  if (!has) stillRunning()
  return { message: 'It has begun, and goes on in the background.' }
}

const presented = (job: Job, accounts: { readonly done: number; readonly of: number }) => ({
  work: job.work,
  asked: timestamp(job.asked),
  ended: job.ended && timestamp(job.ended),
  failed: job.failed,
  reason: job.reason,
  code: job.problem?.code ?? null,
  params: job.problem?.params ?? {},
  visits: job.visits,
  changes: [...job.changes],
  accounts,
  parts: { done: job.part, of: job.parts },
})

/** Returns the last job of an account, or of all accounts for 0, and the newest reclassifications. */
export const reclassificationsOf = async ({ reclassifyJobs }: ReclassifyServices, reader: Reader, account: number) => {
  const [job, made] = [await reclassifyJobs.of(account), await listReclassifications(reader, account || undefined)]
  const accounts = async ({ done }: Job) =>
    account === 0 ? countClickedAccounts(reader, done) : { done: done > 0 ? 1 : 0, of: 1 }
  return {
    data: {
      rules: rulesVersion,
      job: job ? presented(job, await accounts(job)) : null,
      made: made.map(({ id, account: of, at, rules, visits, undone }) => ({
        ...{ id, account: of, date: timestamp(at), rules, visits, undone },
      })),
    },
  }
}

/** The same for all accounts, for operators. */
export const operatorReclassifyRoutes = (services: ReclassifyServices): readonly Route[] => [
  endpoint(operatorReclassify, 'GET /api/operator/reclassify', {
    scope: 'operator',
    nowOnly: 'operator',
    run: ({ reader }) => reclassificationsOf(services, reader, 0),
  }),
  endpoint(operatorReclassify, 'POST /api/operator/reclassify', {
    scope: 'operator',
    body: z.object({ dryRun: flag.default(false) }),
    run: (call: Call<unknown, unknown, { readonly dryRun: boolean }>) =>
      beginJob(services, call, {
        account: 0,
        work: call.body.dryRun ? 'count' : 'apply',
        actor: { kind: 'operator', name: `account ${call.account}` },
        made: null,
      }),
  }),
]
