import { problem } from '../../lib/problems/problem.ts'
import { UnreadableSource } from '../records.ts'
import type { Ask } from './client.ts'

type Fields = Readonly<Record<string, unknown>>
/** Links as an API answers them, and the cursor of those that follow; undefined when there are no more. */
export interface Page {
  readonly rows: readonly Fields[]
  readonly next: string | undefined
  /** how many links there are, where the API says so and may leave some out */
  readonly total?: number
}
export interface Api {
  readonly headers: (key: string) => Readonly<Record<string, string>>
  /** ms between two requests at least */
  readonly interval: number
  /** the field that identifies a link, where pages can overlap: their numbers shift once a link is added */
  readonly identifiedBy?: string
  readonly page: (ask: Ask, after: string | undefined, key: string) => Promise<Page>
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** Returns what is at a path of keys; undefined when nothing is. */
export const at = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce((found, key) => (isObject(found) ? found[key] : undefined), value)
/** Returns the objects in a list; fails when there is no list. */
export const listIn = (value: unknown): readonly Fields[] => {
  if (!Array.isArray(value)) throw new UnreadableSource(problem('wrong_body', { what: 'list' }))
  return value.filter(isObject)
}
export const textIn = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })

/** The lists of an account, which are asked for once. */
const knownLists = new WeakMap<Ask, readonly Fields[]>()

/**
 * Pages of lists one after another, such as the groups of an account: a cursor has the number of the list, and that in
 * the list.
 */
const throughLists = async (
  ask: Ask,
  readLists: () => Promise<readonly Fields[]>,
  after: string | undefined,
  pageOf: (list: Fields, after: string) => Promise<Page>,
): Promise<Page> => {
  const lists = knownLists.get(ask) ?? (await readLists())
  knownLists.set(ask, lists)
  const [, number = '0', inside = ''] = /^(\d{1,6}):(.*)$/s.exec(after ?? '') ?? []
  const list = lists[Number(number)]
  if (!list) return { rows: [], next: undefined }
  const { rows, next } = await pageOf(list, inside)
  if (next !== undefined) return { rows, next: `${number}:${next}` }
  return { rows, next: Number(number) + 1 < lists.length ? `${Number(number) + 1}:` : undefined }
}

const startIn = (after: string | undefined) => (/^\d{1,9}$/.test(after ?? '') ? Number(after) : 0)

/** The APIs as their services document them; their addresses are https://api-ssl.bitly.com and the like. */
export const apis = {
  // 150 requests a minute; those of an hour show by 429
  bitly: {
    headers: bearer,
    interval: 400,
    page: async (ask, after) => {
      const groups = async () => listIn(at(await ask('v4/groups'), 'groups'))
      return throughLists(ask, groups, after, async ({ guid }, inside) => {
        const cursor: Readonly<Record<string, string>> = inside === '' ? {} : { search_after: inside }
        const query = { size: '100', archived: 'both', ...cursor }
        const answer = await ask(`v4/groups/${encodeURIComponent(textIn(guid))}/bitlinks`, query)
        const next = at(answer, 'pagination', 'next') ? textIn(at(answer, 'pagination', 'search_after')) : ''
        return { rows: listIn(at(answer, 'links')), next: next || undefined }
      })
    },
  },
  shlink: {
    headers: (key) => ({ 'X-Api-Key': key }),
    interval: 0,
    page: async (ask, after) => {
      const page = startIn(after) || 1
      const query = { page: String(page), itemsPerPage: '100', orderBy: 'dateCreated-ASC' }
      const { shortUrls } = (await ask('rest/v3/short-urls', query)) as { readonly shortUrls?: unknown }
      const last = Number(at(shortUrls, 'pagination', 'pagesCount') ?? 0)
      return { rows: listIn(at(shortUrls, 'data')), next: page < last ? String(page + 1) : undefined }
    },
  },
  kutt: {
    headers: (key) => ({ 'X-API-KEY': key }),
    interval: 0,
    identifiedBy: 'id',
    page: async (ask, after) => {
      const skip = startIn(after)
      const answer = await ask('api/v2/links', { limit: '50', skip: String(skip) })
      const rows = listIn(at(answer, 'data'))
      const [end, total] = [skip + rows.length, Number(at(answer, 'total') ?? 0)]
      const next = rows.length > 0 && end < total ? String(end) : undefined
      return { rows, next, total }
    },
  },
  yourls: {
    headers: () => ({}),
    interval: 0,
    identifiedBy: 'shorturl',
    page: async (ask, after, key) => {
      // MySQL sorts links of the same second in another order for another page: most services have one page
      const [start, limit] = [startIn(after), 5000]
      const form = {
        signature: key,
        action: 'stats',
        format: 'json',
        filter: 'last',
        limit: String(limit),
        start: String(start),
      }
      const answer = await ask('yourls-api.php', {}, { form })
      const [links, total] = [at(answer, 'links'), Number(at(answer, 'stats', 'total_links'))]
      // behind the last link, the answer has no `links`
      const isBehind = links === undefined && total <= start
      const rows = isBehind ? [] : listIn(isObject(links) ? Object.values(links) : links)
      const next = rows.length === limit ? String(start + limit) : undefined
      return { rows, next, total }
    },
  },
  rebrandly: {
    headers: (key) => ({ apikey: key }),
    interval: 100,
    page: async (ask, after) => {
      const limit = 25
      const cursor: Readonly<Record<string, string>> = after === undefined ? {} : { last: after }
      const query = { orderBy: 'createdAt', orderDir: 'desc', limit: String(limit), ...cursor }
      const rows = listIn(await ask('v1/links', query))
      return { rows, next: rows.length === limit ? textIn(rows.at(-1)?.['id']) || undefined : undefined }
    },
  },
  shortio: {
    headers: (key) => ({ Authorization: key }),
    interval: 250,
    page: async (ask, after) => {
      const domains = async () => listIn(await ask('api/domains'))
      return throughLists(ask, domains, after, async ({ id, hostname }, inside) => {
        const cursor: Readonly<Record<string, string>> = inside === '' ? {} : { pageToken: inside }
        const answer = await ask('api/links', { domain_id: textIn(id), limit: '50', ...cursor })
        const rows = listIn(at(answer, 'links')).map((row) => ({ ...row, domain: hostname }))
        return { rows, next: textIn(at(answer, 'nextPageToken')) || undefined }
      })
    },
  },
  // 30 requests a minute, of which each link needs one: the list has neither ends nor targets
  gempixel: {
    headers: bearer,
    interval: 2000,
    page: async (ask, after) => {
      const page = startIn(after) || 1
      const data = at(await ask('api/urls', { limit: '100', page: String(page), order: 'date' }), 'data')
      const rows: Fields[] = []
      for (const row of listIn(at(data, 'urls'))) {
        const one = await ask(`api/url/${encodeURIComponent(textIn(row['id']))}`, {}, { isOptional: true })
        const [details, counts] = [at(one, 'details'), at(one, 'data')]
        rows.push({ ...row, ...(isObject(details) && details), ...(isObject(counts) && counts) })
      }
      return { rows, next: page < Number(at(data, 'maxpage') ?? 0) ? String(page + 1) : undefined }
    },
  },
} as const satisfies Readonly<Record<string, Api>>
export type ApiFormat = keyof typeof apis
export const apiFormats = Object.keys(apis) as readonly ApiFormat[]
