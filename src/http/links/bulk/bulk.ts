import { z } from 'zod'
import { AppendTooLarge } from '../../../events/store.ts'
import { must, says } from '../../../lib/fields.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { requireAdmitted } from '../../api/admit.ts'
import { answerOf, failField, Failure } from '../../api/errors.ts'
import type { Transactions } from '../../../commands/transaction.ts'
import { type Call, endpoint, type Route, type Writer } from '../../api/route.ts'
import { addressSite } from '../../../lib/address.ts'
import { problem } from '../../../lib/problems/problem.ts'
import { bulkContract } from '../contract/bulk.ts'
import { readRows, type Row, type UnreadableRow } from './rows.ts'
import { BulkRow } from '../body.ts'
import type { LinkWriting } from '../write.ts'
import { type Bulk, type Done, doRows, hashing, withoutAnswer } from './operations.ts'
import { linkOwner } from '../../../security/passwords.ts'

const truth = z
  .enum(['true', 'false'], must('wrong_type', { what: 'boolean' }))
  .optional()
  .transform((text) => text === 'true')
/** An unknown parameter is refused: with `dryrun`, a client believes that nothing is stored. */
const BulkQuery = z.strictObject(
  {
    op: z.enum(['create', 'update', 'delete'], must('not_one_of', { what: 'operation' })),
    dryRun: truth,
    atomic: truth,
  },
  {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? says('not_supported', { what: 'parameter', field: String((keys as readonly unknown[])[0]) })
        : undefined,
  },
)

/** Requests of the rate limit: one for every so many rows. */
const rowsPerRequest = 50

const isOutage = (row: Done) => row.error === 1 && row.status >= 500
const countFailed = (rows: readonly Done[]) => rows.filter(({ error }) => error === 1).length

/** Some rows are stored and some may be: the same rows have to be sent again. */
const unavailable = (rows: readonly Done[], cause: unknown) =>
  new Failure(
    503,
    problem('unavailable', { what: 'rows', stored: rows.length - countFailed(rows), rows: rows.length }),
    { 'Retry-After': '2' },
    { rows },
    cause,
  )

class NotAll extends Error {
  override readonly name = 'NotAll'
  readonly rows: readonly Done[]
  constructor(rows: readonly Done[]) {
    super('some rows cannot be stored')
    this.rows = rows
  }
}

/** What bulk requests need besides what links are written with. */
export interface BulkServices extends LinkWriting {
  readonly transactions: Pick<Transactions, 'supported'>
}

const requireAtomicLog = ({ transactions }: BulkServices) => {
  if (!transactions.supported) failField('atomic', 'not_supported', { what: 'atomic' })
}

/** A row that could have been stored has no id and no address then: nothing is there. */
const nothingStored = (all: readonly Done[], cause: unknown) => {
  const rows = all.map((done) => (done.error === 1 ? done : withoutAnswer(done)))
  const outage = rows.find(isOutage)
  const nothing = problem('nothing_stored', { failed: countFailed(rows), rows: rows.length })
  return outage
    ? new Failure(503, nothing, { 'Retry-After': '2' }, { rows }, cause)
    : new Failure(400, nothing, {}, { rows })
}

/** Decides all rows, then stores all of them or none. A dry run stores none. */
const doInTransaction = async (
  bulk: Bulk,
  call: Pick<Call, 'transaction'>,
  atomic: boolean,
  outage: { readonly cause?: unknown },
): Promise<readonly Done[]> => {
  try {
    const decide = async (writer: Writer) => {
      const rows = await doRows(bulk, writer)
      await bulk.requireAdmitted()
      if (atomic && !bulk.dryRun && countFailed(rows) > 0) throw new NotAll(rows)
      return rows
    }
    return await call.transaction(decide, { dryRun: bulk.dryRun })
  } catch (error) {
    if (error instanceof NotAll) throw nothingStored(error.rows, outage.cause)
    if (error instanceof AppendTooLarge) failField('atomic', 'too_much', { what: 'append' })
    throw error
  }
}

/** Returns the same work, of which all calls within a second share one. */
const onceASecond = (work: () => Promise<void>) => {
  let last = { at: -Infinity, done: Promise.resolve() }
  return () => {
    const now = performance.now()
    if (now - last.at > 1000) last = { at: now, done: work() }
    return last.done
  }
}

/** fields that are named in the warnings */
const mostWarnings = 100

/** Returns what is left out of rows: fields that they cannot have. */
const warningsFor = (op: z.output<typeof BulkQuery>['op'], rows: readonly (Row | UnreadableRow)[]) => {
  const known = BulkRow[op].shape
  const names = new Set(rows.flatMap((row) => ('value' in row ? Object.keys(row.value) : [])))
  const unknown = [...names].filter((name) => !Object.hasOwn(known, name)).slice(0, mostWarnings)
  return unknown.map((name) => {
    const left = new Failure(400, problem('not_supported', { what: 'column', field: name.slice(0, 64) }))
    const { error: _, ...warning } = answerOf(left)
    return warning
  })
}

const run = async (
  call: Call<unknown, z.output<typeof BulkQuery>, readonly (Row | UnreadableRow)[]>,
  services: BulkServices,
) => {
  const { op, dryRun, atomic } = call.query
  if (atomic) requireAtomicLog(services)
  await call.charge(Math.ceil(call.body.length / rowsPerRequest))
  /** the links whose frames are to be checked once they are stored */
  const framed: Parameters<BulkServices['frameChecks']['checkSoon']>[0][] = []
  const noted: BulkServices = { ...services, frameChecks: { checkSoon: (link) => void framed.push(link) } }
  const inTransaction = dryRun || atomic
  const { reader, pending } = call
  const [signal, admitted] = [call.gone(), onceASecond(() => requireAdmitted(call))]
  const stillAdmitted = async () => {
    if (signal.aborted) throw new Unavailable('nobody waits for the answer of these rows any more')
    await admitted()
  }
  const hashNew = async (password: string) => {
    await stillAdmitted()
    return services.hashNewPassword(password, linkOwner(call.account))
  }
  const sources = { services: noted, hash: hashing(dryRun, hashNew) }
  const from = { reader, pending }
  const outage: { cause?: unknown } = {}
  const onOutage = (error: unknown) => (outage.cause ??= error)
  const turn = { requireAdmitted: stillAdmitted, network: addressSite(call.from), onOutage }
  const bulk = { op, rows: call.body, dryRun, inTransaction, from, sources, ...turn }
  const rows = inTransaction
    ? await doInTransaction(bulk, call, atomic, outage)
    : await call.withoutWaiting((writer) => doRows(bulk, writer))
  if (rows.some(isOutage)) throw dryRun ? nothingStored(rows, outage.cause) : unavailable(rows, outage.cause)
  if (!dryRun) for (const link of framed) services.frameChecks.checkSoon(link)
  const failures = countFailed(rows)
  const warnings = warningsFor(op, call.body)
  return {
    ...{ op, dryRun, atomic, succeeded: rows.length - failures, failed: failures, rows },
    ...(warnings.length > 0 && { warnings }),
  }
}

export const bulkRoutes = (services: BulkServices): readonly Route[] => [
  endpoint(bulkContract, 'POST /api/urls/bulk', {
    scope: 'links:write',
    limited: true,
    query: BulkQuery,
    read: (ctx, charge) => readRows(ctx, charge, BulkRow.update),
    body: z.custom<readonly (Row | UnreadableRow)[]>(),
    run: (call) => run(call, services),
  }),
]
