import { isRefused } from '../../../commands/decider.ts'
import { kinds, type OwnedKind, ownedKinds } from '../../../events/kinds.ts'
import { mapAhead } from '../../../lib/async/ahead.ts'
import type { Call, Route } from '../../api/route.ts'

/** A list of the API that an export has. */
interface ExportedList {
  /** of its files, as the screen is called */
  readonly folder: string
  readonly list: string
  readonly query?: object
  /** the address of one entry, where that shows more */
  readonly details?: string
  /** the address of the entries that belong to one; its id is added to each, under this name */
  readonly within?: { readonly folder: string; readonly list: string; readonly as: string }
}

/** What is beside the list of a kind, or asked of it. */
const special: Readonly<Partial<Record<OwnedKind, Pick<ExportedList, 'query' | 'within'>>>> = {
  link: { query: { archived: 'all' } },
  channel: { within: { folder: 'channel-items', list: '/api/channel/:id', as: 'channel' } },
  webhook: { within: { folder: 'webhook-deliveries', list: '/api/webhook/:id/deliveries', as: 'webhook' } },
}

const listOf = (kind: OwnedKind): ExportedList => {
  const { path, list, screen } = kinds[kind]
  const [, folder = path] = screen.split('/')
  return { folder, list, ...('details' in kinds[kind] && { details: `/api/${path}/:id` }), ...special[kind] }
}

/**
 * Every list of the API, except that of answers to an overlay, since those to deleted overlays are exported too, and
 * histories and revisions, which follow from the events and clicks.
 */
export const exportedLists: readonly ExportedList[] = [
  ...ownedKinds.map(listOf),
  { folder: 'tags', list: '/api/tags' },
  { folder: 'keys', list: '/api/keys' },
  { folder: 'members', list: '/api/members' },
  { folder: 'proposals', list: '/api/proposals' },
  { folder: 'imports', list: '/api/imports' },
]

/** Returns what GET answers at a path of the API, on behalf of a call. */
export type Ask = (path: string, params?: object, query?: object) => Promise<Readonly<Record<string, unknown>>>

/** Answers are those of the routes themselves, so that an export never differs from the API. */
export const askRoutes =
  (routes: readonly Route[], call: Call): Ask =>
  async (path, params = {}, query = {}) => {
    const route = routes.find((one) => one.method === 'get' && one.path === path)
    if (!route) throw new Error(`there is no GET ${path} to be exported`)
    const asked = { ...call, path, params, query: route.query?.parse(query) }
    return (await route.run(asked)) as Readonly<Record<string, unknown>>
  }

type Row = Readonly<Record<string, unknown>>

/** rows in one answer */
const limit = '100'
/** entries that are read at the same time: more would take the connections to PostgreSQL from others */
const atOnce = 4

/** Returns the rows of a list, page by page. */
const rowsOf = async function* (ask: Ask, path: string, params: object, query: object): AsyncGenerator<Row> {
  for (let cursor: unknown = ''; typeof cursor === 'string';) {
    const { data } = await ask(path, params, { ...query, limit, cursor })
    const page = data as Row
    yield* Object.values(page).find((value): value is Row[] => Array.isArray(value)) ?? []
    cursor = page['next_cursor']
  }
}

/** Returns one entry; undefined when it was deleted since it was listed. */
const detailsOf = async (ask: Ask, path: string, { id }: Row) => {
  try {
    return await ask(path, { id })
  } catch (error) {
    if (isRefused(error, 'not_found')) return undefined
    throw error
  }
}

/** Returns the entries of a list, as the API answers them. */
export const resourcesOf = async function* (ask: Ask, { list, query = {}, details }: ExportedList) {
  const rows = rowsOf(ask, list, {}, query)
  if (details === undefined) return yield* rows
  for await (const found of mapAhead(rows, atOnce, (row) => detailsOf(ask, details, row))) if (found) yield found
}

/** Returns what belongs to the entries of a list. */
export const partsOf = async function* (ask: Ask, { list, query = {}, within }: ExportedList) {
  if (!within) return
  for await (const { id } of rowsOf(ask, list, {}, query))
    for await (const row of rowsOf(ask, within.list, { id }, {})) yield { [within.as]: id, ...row }
}
