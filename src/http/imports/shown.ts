import { refuse } from '../../commands/decider.ts'
import { streamId } from '../../events/streams.ts'
import { csvLine } from '../../lib/csv.ts'
import { timestamp } from '../../lib/fields.ts'
import { findImport, type ListedImport, type StoredLine } from '../../queries/imports/import.ts'
import { answerOf, Failure } from '../api/errors.ts'
import type { Call } from '../api/route.ts'
import type { FoundImport, ImportLine } from './contract.ts'
import type { ImportServices, Stored } from './job.ts'

type ById = Call<{ readonly id: string }>

const isId = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

interface Found {
  readonly stored: Stored | undefined
  readonly listed: ListedImport | undefined
  /** Whether the tables lack events of the import. */
  readonly isPending: boolean
}

/** Returns a file of the account, and what the log says of its import. */
export const found = async (
  { account, params, pending, reader }: ById,
  { imports: { files } }: ImportServices,
): Promise<Found> => {
  if (!isId.test(params.id)) return refuse('not_found', { what: 'import' })
  // in this order: work that has ended appended its events before, and tables that lack none have them all
  const stored = await files.find(account, params.id)
  const isPending = pending.has(streamId('import', params.id))
  const listed = await findImport(reader, account, params.id)
  return stored || listed ? { stored, listed, isPending } : refuse('not_found', { what: 'import' })
}

const stateOf = ({ stored, listed, isPending }: Found): FoundImport['details']['state'] => {
  if (stored?.running) return ({ check: 'checking', import: 'running', undo: 'undoing' } as const)[stored.work]
  if (stored?.interrupted) return 'interrupted'
  if (stored?.problem) return 'failed'
  // how many links stay is in the tables, which may not have it yet
  if (stored?.work === 'undo') return isPending || (listed && !listed.undone) ? 'undoing' : 'undone'
  // its work has ended, also where the tables do not have that yet
  if (stored) return ({ check: 'checked', import: 'done' } as const)[stored.work]
  if (listed?.undone) return 'undone'
  return listed?.finished ? 'done' : 'interrupted'
}

const presentLine = ({ place, outcome, alias, url, message, left }: StoredLine): ImportLine => ({
  place,
  outcome: outcome as ImportLine['outcome'],
  alias,
  url,
  message,
  left,
})
const notesShown = 100

export const present = async (call: ById, services: ImportServices) => {
  const { files } = services.imports
  const { id } = call.params
  const file = await found(call, services)
  const { stored, listed } = file
  const [counts, notes] = await Promise.all([files.counts(id), files.lines(id, 0, notesShown, true)])
  const { error: _, ...problem } = stored?.problem ? answerOf(new Failure(400, stored.problem)) : { error: 1 as const }
  const { created = 0, kept: existing = 0, renamed = 0, conflict = 0, skipped = 0, failed = 0 } = counts
  return {
    details: {
      ...{
        id,
        state: stateOf(file),
        format: stored?.format || listed?.format || '',
      },
      ...{ name: stored?.name ?? '', date: timestamp((listed?.started ?? stored?.began)!) },
      total: stored?.total ?? null,
      done: Object.values(counts).reduce((sum, n) => sum + n, 0),
      ...{ created, existing, renamed, conflicts: conflict, skipped, failed, kept: listed?.kept ?? 0 },
      problem: 'code' in problem ? problem : null,
      notes: notes.map(presentLine),
    },
  }
}

const linesAtOnce = 1000

/** Returns the report of an import as CSV. */
export const report = async function* (files: ImportServices['imports']['files'], id: string) {
  yield `${csvLine(['place', 'alias', 'url', 'outcome', 'message', 'left out'])}\r\n`
  for (let from = 0; ;) {
    const lines = await files.lines(id, from, linesAtOnce)
    const last = lines.at(-1)
    if (!last) return
    from = last.n + 1
    yield lines
      .map(({ place, alias, url, outcome, message, left }) =>
        csvLine([place, alias, url, outcome, message, left.join(' ')]),
      )
      .join('\r\n')
      .concat('\r\n')
  }
}
