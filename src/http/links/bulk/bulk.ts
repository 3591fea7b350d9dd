import { z } from 'zod'
import { must, says } from '../../../lib/fields.ts'
import { problem } from '../../../lib/problems/problem.ts'
import { answerOf, Failure } from '../../api/errors.ts'
import { truthText } from '../../api/fields.ts'
import { type Call, endpoint, type Route } from '../../api/route.ts'
import { BulkRow } from '../body.ts'
import { bulkContract } from '../contract/bulk.ts'
import { type BulkServices, countFailed, doBulk, requireAtomicLog } from './request.ts'
import { readRows, type Row, type UnreadableRow } from './rows.ts'

/** An unknown parameter is refused: with `dryrun`, a client believes that nothing is stored. */
const BulkQuery = z.strictObject(
  {
    op: z.enum(['create', 'update', 'delete'], must('not_one_of', { what: 'operation' })),
    dryRun: truthText,
    atomic: truthText,
  },
  {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? says('not_supported', { what: 'parameter', field: String((keys as readonly unknown[])[0]) })
        : undefined,
  },
)

/** All fields of rows, for all operations. */
const anyRow = BulkRow.create.extend(BulkRow.update.shape)

/** Requests of the rate limit: one for every so many rows. */
const rowsPerRequest = 50

/** fields that are named in the warnings */
const mostWarnings = 100

/** Returns the ignored fields of rows, which the operation does not know. */
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
  const rows = await doBulk(call, services, { op, rows: call.body, dryRun, atomic, signal: call.gone() })
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
    read: (ctx, charge) => readRows(ctx, charge, anyRow),
    body: z.custom<readonly (Row | UnreadableRow)[]>(),
    run: (call) => run(call, services),
  }),
]
