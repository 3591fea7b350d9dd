import { AppendTooLarge } from '../../../events/store.ts'
import { addressSite } from '../../../lib/address.ts'
import { problem } from '../../../lib/problems/problem.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { linkOwner } from '../../../security/passwords.ts'
import type { Transactions } from '../../../commands/transaction.ts'
import { requireAdmitted } from '../../api/admit.ts'
import { failField, Failure } from '../../api/errors.ts'
import type { Call, Writer } from '../../api/route.ts'
import type { LinkWriting } from '../write.ts'
import { type Bulk, type Done, doRows, hashing, withoutAnswer } from './operations.ts'

const isOutage = (row: Done) => row.error === 1 && row.status >= 500
export const countFailed = (rows: readonly Done[]) => rows.filter(({ error }) => error === 1).length

/** Some rows are stored and others may be: the client must send the same rows again. */
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

/** Dependencies of bulk requests, besides those of writing links. */
export interface BulkServices extends LinkWriting {
  readonly transactions: Pick<Transactions, 'supported'>
}

/** Fails unless the log can store the rows as one. */
export const requireAtomicLog = ({ transactions }: BulkServices) => {
  if (!transactions.supported) failField('atomic', 'not_supported', { what: 'atomic' })
}

/** A row that could have been stored has no id and no address then, because nothing was stored. */
const nothingStored = (all: readonly Done[], cause: unknown, resumed = false) => {
  const rows = all.map((done) => (done.error === 1 ? done : withoutAnswer(done)))
  const outage = rows.find(isOutage)
  const counts = { failed: countFailed(rows), rows: rows.length }
  const nothing = resumed ? problem('nothing_stored', { what: 'again', ...counts }) : problem('nothing_stored', counts)
  return outage
    ? new Failure(503, nothing, { 'Retry-After': '2' }, { rows }, cause)
    : new Failure(400, nothing, {}, { rows })
}

/** Fails when some rows wait for an approval and others do not: these would be stored at once, and those later. */
const requireAlike = (rows: readonly Done[]) => {
  const isWaiting = (row: Done) => 'proposal' in row && row.proposal !== undefined
  const waiting = rows.find(isWaiting)
  if (waiting && !rows.every(isWaiting)) throw new Failure(400, problem('partly_proposed', { row: waiting.row }))
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
      if (atomic && !bulk.dryRun) requireAlike(rows)
      return rows
    }
    return await call.transaction(decide, { dryRun: bulk.dryRun })
  } catch (error) {
    if (error instanceof NotAll) throw nothingStored(error.rows, outage.cause, bulk.sources.resumed)
    if (error instanceof AppendTooLarge) failField('atomic', 'too_much', { what: 'append' })
    throw error
  }
}

/** Returns a function that runs the work at most once a second: all calls within a second share a run. */
const onceASecond = (work: () => Promise<void>) => {
  let last = { at: -Infinity, done: Promise.resolve() }
  return () => {
    const now = performance.now()
    if (now - last.at > 1000) last = { at: now, done: work() }
    return last.done
  }
}

/** The caller of rows: a request, or an import that continues after one. */
export type BulkCall = Pick<
  Call,
  'account' | 'from' | 'isAdmitted' | 'pending' | 'reader' | 'resumed' | 'transaction' | 'withoutWaiting'
>
type Asked = Pick<Bulk, 'op' | 'rows' | 'dryRun'> & {
  readonly atomic?: boolean
  /** aborts when the client no longer wants the rows */
  readonly signal: AbortSignal
  /** the import that creates the links */
  readonly origin?: string
}

/**
 * Processes rows, each like a request of its own, and returns the result of each. Fails with 503 while one cannot be
 * stored, and with `atomic` unless all can be.
 */
export const doBulk = async (
  call: BulkCall,
  services: BulkServices,
  { op, rows, dryRun, atomic = false, signal, origin }: Asked,
): Promise<readonly Done[]> => {
  /** the links whose frames are checked once they are stored */
  const framed: Parameters<BulkServices['frameChecks']['checkSoon']>[0][] = []
  const noted: BulkServices = { ...services, frameChecks: { checkSoon: (link) => void framed.push(link) } }
  const inTransaction = dryRun || atomic
  const { reader, pending, resumed } = call
  const admitted = onceASecond(() => requireAdmitted(call))
  const stillAdmitted = async () => {
    if (signal.aborted) throw new Unavailable('the client no longer waits for the answer of these rows')
    await admitted()
  }
  const hashNew = async (password: string) => {
    await stillAdmitted()
    return services.hashNewPassword(password, linkOwner(call.account))
  }
  const sources = { services: noted, hash: hashing(dryRun, hashNew), origin, resumed }
  const from = { reader, pending }
  const outage: { cause?: unknown } = {}
  const onOutage = (error: unknown) => (outage.cause ??= error)
  const turn = { requireAdmitted: stillAdmitted, network: addressSite(call.from), onOutage }
  const bulk = { op, rows, dryRun, inTransaction, from, sources, ...turn }
  const done = inTransaction
    ? await doInTransaction(bulk, call, atomic, outage)
    : await call.withoutWaiting((writer) => doRows(bulk, writer))
  if (done.some(isOutage)) throw dryRun ? nothingStored(done, outage.cause) : unavailable(done, outage.cause)
  if (!dryRun) for (const link of framed) services.frameChecks.checkSoon(link)
  return done
}
