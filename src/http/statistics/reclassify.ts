import { v4 as uuid } from 'uuid'
import { z } from 'zod'
import { account as accounts } from '../../commands/accounts/account.ts'
import { type Claim, recordReclassification, undoReclassification } from '../../commands/statistics/reclassify.ts'
import { reclassification, type ReclassificationCommand } from '../../commands/statistics/reclassification.ts'
import { requireOwned } from '../../commands/owned/owned.ts'
import { orStop, says } from '../../lib/fields.ts'
import { clicksKeptSince } from '../../queries/statistics/recorded.ts'
import { awaitStatistics, newerReclassification, visitsLeft } from '../../queries/statistics/reclassifications.ts'
import { planReclassification, type Rules } from '../../queries/statistics/reclassify.ts'
import { NotReady } from '../../lib/unavailable.ts'
import type { Reader } from '../../queries/reader.ts'
import { rulesVersion } from '../../clicks/visitor/agent.ts'
import { decideByWords } from '../../clicks/visitor/words.ts'
import { readAccount } from '../accounts/account.ts'
import { requireAdmitted } from '../api/admit.ts'
import { failField } from '../api/errors.ts'
import { bodyId, flag } from '../api/fields.ts'
import { limitToOne } from '../api/limits/concurrency.ts'
import { endpoint, type Call, type Reading, type Route } from '../api/route.ts'
import { readLink } from '../links/link.ts'
import { reclassifyContract } from './contract/reclassify.ts'
import { ExclusionsBody } from './exclusions.ts'
import { beginJob, claimed, reclassificationsOf, type ReclassifyServices } from './background.ts'

/** The rules of this release. */
export const currentRules: Rules = { version: rulesVersion, decide: decideByWords }

const begin = limitToOne('reclassification', 2)

/** ms that a request waits between the parts of a reclassification altogether */
const timeoutMs = 10_000

type Request = Reading & Pick<Call, 'isAdmitted' | 'seed' | 'write'>

/** Returns what writes the parts of a reclassification, for as long as the caller is admitted. */
export const writePart = (call: Pick<Request, 'isAdmitted' | 'write'>) => async (command: ReclassificationCommand) => {
  await requireAdmitted(call)
  return call.write(reclassification, command)
}

/** Reclassifies under a claim. Without one, it says what that would change. */
const reclassify = async (call: Request, link: number | undefined, claim?: Claim) => {
  const { account, load } = call
  const dryRun = claim === undefined
  const until = performance.now() + timeoutMs
  if (link !== undefined) await readLink(call, link)
  // a plan from tables without the reclassification before would keep what that has changed
  if (claim && !(await claim.caughtUp(until))) throw new NotReady()
  const { exclusions } = (await load(accounts, account)).state
  const { changes, parts } = await planReclassification(call.reader, currentRules, { account, link, exclusions })
  const visits = changes.reduce((sum, change) => sum + change.visits, 0)
  const rules = currentRules.version
  if (dryRun) return { id: '', dryRun, rules, visits, changes }
  // repeated under its Idempotency-Key, it is the same one
  const seed = await call.seed()
  const id = seed ? uuid({ random: seed }) : uuid()
  const before = await recordedBefore(call, id)
  const [first] = parts
  if (first) {
    const pace = (position: bigint) => awaitStatistics(call.reader, position, until)
    // a part that is recorded already is not recorded again: only its number counts
    const there = Array.from({ length: before.parts }, () => first)
    await recordReclassification(writePart(call), id, [...there, ...parts], pace)
  }
  const isNone = before.parts + parts.length === 0
  return { id: isNone ? '' : id, dryRun, rules, visits: before.visits + visits, changes }
}

/** Returns how many parts an earlier execution under the same Idempotency-Key has recorded, with their visits left. */
const recordedBefore = async ({ load, reader }: Request, id: string) => {
  const { parts, left } = (await load(reclassification, id)).state
  return { parts, visits: left === 0 ? 0 : await visitsLeft(reader, id) }
}

/** Fails with 400 while a newer reclassification has to be taken back first. */
const requireNewest = async (reader: Reader, account: number, id: string, part: number) => {
  const newer = await newerReclassification(reader, id, { account, part })
  if (newer !== undefined) failField('undo', 'wrong_order', { what: 'newest', id: newer })
}

const takeBack = async (call: Request, id: string, { caughtUp }: Claim) => {
  const { account, load, reader } = call
  const until = performance.now() + timeoutMs
  const pace = (position: bigint) => awaitStatistics(reader, position, until)
  if (!(await caughtUp(until))) throw new NotReady()
  const { left } = (await load(reclassification, id)).state
  const since = ((await clicksKeptSince(reader)) ?? new Date(0)).toISOString()
  const check = (part: number) => requireNewest(reader, account, id, part)
  await undoReclassification(writePart(call), id, { account, since, left }, { pace, check })
  return { message: 'The reclassification has been taken back.' }
}

const inBackground = async (
  services: ReclassifyServices,
  call: Request & Pick<Call, 'key' | 'session'>,
  { dryRun, undo }: { readonly dryRun: boolean; readonly undo: string | undefined },
) => {
  const { account, key, load, reader } = call
  if (undo !== undefined) {
    const { state } = await load(reclassification, undo)
    requireOwned(state, account, 'reclassification')
    await requireNewest(reader, account, undo, state.left - 1)
  }
  return beginJob(services, call, {
    account,
    work: undo === undefined ? (dryRun ? 'count' : 'apply') : 'undo',
    actor: key ? { kind: 'key', key: key.key } : { kind: 'session' },
    made: undo ?? null,
  })
}

const inForeground = async (
  services: ReclassifyServices,
  call: Request & Parameters<typeof begin>[0],
  {
    dryRun,
    link,
    undo,
  }: { readonly dryRun: boolean; readonly link: number | undefined; readonly undo: string | undefined },
) => {
  const { lost, end } = begin(call)
  const requestWith = (claim?: Claim): Request => ({
    ...call,
    isAdmitted: async () => {
      lost.throwIfAborted()
      if (claim?.lost.aborted) throw new NotReady()
      return call.isAdmitted()
    },
  })
  try {
    if (dryRun) return await reclassify(requestWith(), link)
    return await claimed(services, call.account, async (claim) =>
      undo === undefined ? reclassify(requestWith(claim), link, claim) : takeBack(requestWith(claim), undo, claim),
    )
  } finally {
    end()
  }
}

/** An account's own rules for what counts as a click. */
export const reclassifyRoutes = (services: ReclassifyServices): readonly Route[] => [
  endpoint(reclassifyContract, 'GET /api/account/exclusions', {
    scope: ['read', 'account'],
    run: async (call) => ({ data: (await readAccount(call)).exclusions }),
  }),

  endpoint(reclassifyContract, 'PUT /api/account/exclusions', {
    scope: 'account',
    body: ExclusionsBody,
    run: async ({ account: id, body, write }) => {
      const { state, revision } = await write(accounts, { type: 'SetExclusions', id, changes: body })
      return {
        message: 'Exclusions have been set. They count from the next reclassification on.',
        data: state.exclusions,
        revision,
      }
    },
  }),

  endpoint(reclassifyContract, 'GET /api/account/reclassify', {
    scope: ['read', 'account'],
    nowOnly: 'reclassifications',
    run: ({ account, reader }) => reclassificationsOf(services, reader, account),
  }),

  endpoint(reclassifyContract, 'POST /api/account/reclassify', {
    scope: 'account',
    body: z
      .object({
        dryRun: flag.default(false),
        background: flag.default(false),
        link: bodyId.optional(),
        undo: z.uuid(says('wrong_form', { what: 'reclassification' })).optional(),
      })
      .refine(({ dryRun, link, undo }) => undo === undefined || (!dryRun && link === undefined), {
        path: ['undo'],
        ...orStop(says('not_alone')),
      })
      .refine(({ background, link }) => !background || link === undefined, {
        path: ['background'],
        error: says('not_alone'),
      }),
    run: async (call) => {
      const { dryRun, background, link, undo } = call.body
      if (background) return inBackground(services, call, { dryRun, undo })
      return inForeground(services, call, { dryRun, link, undo })
    },
  }),
]
