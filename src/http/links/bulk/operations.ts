import pLimit from 'p-limit'
import type { z } from 'zod'
import { aliasKey } from '../../../lib/short/alias.ts'
import { hasBy } from '../../../commands/links/brought.ts'
import { requireOwn } from '../../../commands/caller.ts'
import { link } from '../../../commands/links/link.ts'
import type { Load } from '../../../commands/load.ts'
import { firstProblem } from '../../../lib/fields.ts'
import { inOrder } from '../../../lib/async/inorder.ts'
import { turnsForAll } from '../../../lib/async/pause.ts'
import { createSemaphore } from '../../../lib/async/semaphore.ts'
import { problem, type Problem } from '../../../lib/problems/problem.ts'
import { Proposed } from '../../approvals/guard.ts'
import { answerOf, failField, Failure, failureOf } from '../../api/errors.ts'
import type { Reading, Writer } from '../../api/route.ts'
import type { Row, UnreadableRow } from './rows.ts'
import { BulkRow, LinkChanges, NewLink } from '../body.ts'
import { addAddress, NewAddress } from '../moreaddresses.ts'
import type { BulkRowDone, BulkRowFailed } from '../contract/bulk.ts'
import { knowingTaken } from './taken.ts'
import { addLink, deleteLink, type LinkWriter, type LinkWriting, updateLink } from '../write.ts'

/** Operations on rows; imports also give links more addresses. */
export type Operation = 'create' | 'update' | 'delete' | 'address'

/** Each takes about 50 ms of a processor, and other requests hash passwords meanwhile. */
const passwordLimit = 50

/** The result of one row. */
export type Done = RowDone | BulkRowFailed
/** `had`: the link had the address before, and not by this import */
type RowDone = BulkRowDone & { readonly had?: boolean }
type RowAnswer = Omit<RowDone, 'row' | 'line' | 'error'>

const parse = <T>(schema: z.ZodType<T>, value: unknown): T => {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw new Failure(400, firstProblem(parsed.error))
  return parsed.data
}

interface Sources {
  readonly services: LinkWriting
  readonly hash: (row: Row, password: string) => Promise<string>
  /** whether an earlier execution may have done the rows */
  readonly resumed: boolean
  /** the import that creates the links */
  readonly origin: string | undefined
}

/** Does one row as the single route would, in the same order of checks. */
const write: Readonly<Record<Operation, (writer: LinkWriter, row: Row, sources: Sources) => Promise<RowAnswer>>> = {
  create: (writer, row, { services, hash, origin }) => {
    const { date, clicks, uniqueclicks, source = 'bulk', ...body } = parse(NewLink, row.value)
    // a visitor of the unique clicks has at least one click
    if ((uniqueclicks ?? 0) > (clicks ?? 0)) failField('uniqueclicks', 'out_of_range', { min: 0, max: clicks ?? 0 })
    const imported = clicks || uniqueclicks ? { source, clicks: clicks ?? 0, uniques: uniqueclicks ?? null } : undefined
    const from = { imported, import: origin, ...(date && { created: date }) }
    return addLink(writer, body, services, (password) => hash(row, password), from)
  },
  update: async (writer, row, { services, hash, resumed }) => {
    const { id } = parse(BulkRow.delete, row.value)
    // one that was changed then, and is deleted now, is not missing
    if (!resumed) await requireOwn(writer, link, id)
    return updateLink(writer, id, parse(LinkChanges, row.value), services, (password) => hash(row, password))
  },
  address: async (writer, row, { services, origin }) => {
    const { id, ...body } = parse(NewAddress.extend(BulkRow.delete.shape), row.value)
    const { state, added, revision } = await addAddress(writer, id, body, services, origin)
    return { id, revision, had: origin === undefined || !hasBy(origin, state, added.address) }
  },
  delete: async (writer, row) => {
    const { id } = parse(BulkRow.delete, row.value)
    const { undo } = await deleteLink(writer, id)
    return { id, undo }
  },
}

/** Returns the result of a valid row that is not stored. */
export const withoutAnswer = ({ row, line }: Pick<Done, 'row' | 'line'>): BulkRowDone => ({
  row,
  ...(line !== undefined && { line }),
  error: 0,
})

const failed = ({ number, line }: Pick<Row, 'number' | 'line'>, failure: Failure): BulkRowFailed => {
  const { error: _, ...answer } = answerOf(failure)
  return { row: number, ...(line !== undefined && { line }), error: 1, status: failure.status, ...answer }
}

/** Returns the problem of a row in view of the others, by the number of the row. */
const problemsAmong = (op: Operation, rows: readonly Row[]): ReadonlyMap<number, Problem> => {
  const problems = new Map<number, Problem>()
  const ids = new Map<string, number>()
  let passwords = 0
  for (const { number, value } of rows) {
    const { id, password } = value
    if (typeof password === 'string' && password !== '' && ++passwords > passwordLimit)
      problems.set(number, problem('too_many', { what: 'passwords', field: 'password', max: passwordLimit }))
    if (op === 'create' || op === 'address' || (typeof id !== 'number' && typeof id !== 'string')) continue
    const first = ids.get(String(id))
    if (first !== undefined) problems.set(number, problem('repeated', { what: 'row', field: 'id', row: first }))
    else ids.set(String(id), number)
  }
  return problems
}

/**
 * Rows with the same alias take turns: the first one gets it. In a transaction, all rows that change an alias do,
 * because one may get an alias that another one has given up. Addresses of one link are added in the order of their
 * rows.
 */
const turnsOf = (op: Operation, inTransaction: boolean) => (row: Row | UnreadableRow) => {
  const { custom, id } = 'value' in row ? row.value : {}
  const ofLink = op === 'address' ? [`link ${String(id)}`] : []
  if (typeof custom !== 'string' || custom === '') return ofLink
  return [...ofLink, inTransaction && op === 'update' ? '' : aliasKey(custom)]
}

/** Loads a resource that many rows refer to, such as a campaign, once. */
const loadingOnce = (load: Load): Load => {
  const loaded = new Map<string, ReturnType<Load>>()
  return (async (decider, id) => {
    if (decider.kind === 'link' || decider.kind === 'channelitem') return load(decider, id)
    const key = `${decider.kind} ${id}`
    const found = loaded.get(key) ?? load(decider, id)
    loaded.set(key, found)
    return found
  }) as Load
}

export interface Bulk {
  readonly op: Operation
  readonly rows: readonly (Row | UnreadableRow)[]
  readonly dryRun: boolean
  readonly inTransaction: boolean
  /** Rejects when the caller loses the right, or the client no longer waits for the answer. */
  readonly requireAdmitted: () => Promise<void>
  /** sources of the channels of links */
  readonly from: Pick<Reading, 'reader' | 'pending'>
  readonly sources: Sources
  /** network of the client */
  readonly network: string
  /** Called with the reason why a valid row cannot be stored now. */
  readonly onOutage: (error: unknown) => void
}

/**
 * Concurrent rows of all requests in a process: enough for the store to combine their appends, and few enough that
 * other changes are stored and read soon. Accounts take turns, and so do networks.
 */
const takeTurn = createSemaphore<number>({ total: 64, perKey: 48, kept: 16, waiting: 50_000 })

/** Processes all rows and returns the result of each. Rejects only for an unexpected error. */
export const doRows = async (
  { op, rows, dryRun, inTransaction, requireAdmitted, from, sources, network, onOutage }: Bulk,
  given: Writer,
): Promise<Done[]> => {
  const writer = { ...given, load: loadingOnce(given.load) }
  const problems = problemsAmong(
    op,
    rows.filter((row): row is Row => 'value' in row),
  )
  const part = op === 'create' ? knowingTaken() : (own: Writer) => own
  // rows are checked one after another
  const looked = turnsForAll()
  const doRow = async (row: Row | UnreadableRow): Promise<Done> => {
    if (!('value' in row)) return failed(row, new Failure(400, row.problem))
    const found = problems.get(row.number)
    if (found) return failed(row, new Failure(400, found))
    try {
      await looked()
      await requireAdmitted()
      const answer = await write[op]({ ...part(given.part(row.number), row), load: writer.load, ...from }, row, sources)
      const done = withoutAnswer({ row: row.number, line: row.line })
      return dryRun ? done : { ...done, ...answer }
    } catch (error) {
      if (error instanceof Proposed)
        return { ...withoutAnswer({ row: row.number, line: row.line }), ...error.details, proposal: error.proposal }
      const failure = failureOf(error)
      if (failure.status === 500) throw error
      if (failure.status > 500) onOutage(error)
      return failed(row, failure)
    }
  }
  return inOrder(rows, turnsOf(op, inTransaction), async (row) => {
    const end = await takeTurn(given.account, network)
    return doRow(row).finally(end)
  })
}

/** Returns a hash function for passwords: one at a time, and once for each row. */
export const hashing = (dryRun: boolean, hashNewPassword: (password: string) => Promise<string>): Sources['hash'] => {
  const limit = pLimit(1)
  const hashes = new Map<number, Promise<string>>()
  return async ({ number }, password) => {
    if (dryRun) return ''
    const found = hashes.get(number) ?? limit(() => hashNewPassword(password))
    hashes.set(number, found)
    return found
  }
}
