import { expect } from 'chai'
import type { Connection } from '../../src/postgres/database.ts'
import { type client, until } from './client.ts'
import { query } from './faults.ts'
import { listed, type Sent, type LoadRequest } from './load.ts'

export interface CreateRequest extends LoadRequest {
  readonly url: string
}
/** Returns requests that create links, each with a URL of its own. */
export const creations =
  (key: string, name = Math.random().toString(36).slice(2, 8)) =>
  (n: number): CreateRequest => {
    const url = `https://example.com/${name}/${n}`
    return { method: 'POST', path: '/api/url/add', key, body: { url, custom: `${name}-${n}` }, url }
  }

interface Event {
  readonly position: string
  readonly stream: string
  readonly revision: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}
export const readLog = (connection: Connection) =>
  query<Event>(connection, 'select position, stream, revision, type, data from log.events order by position')

/** Expects that positions, and the revisions of each stream, have no gaps. */
export const expectWholeLog = (events: readonly Event[]) => {
  const revisions = new Map<string, number>()
  events.forEach(({ position, stream, revision }, i) => {
    expect(Number(position)).to.equal(i + 1, 'a position of the log')
    expect(Number(revision)).to.equal((revisions.get(stream) ?? -1) + 1, `a revision of ${stream}`)
    revisions.set(stream, Number(revision))
  })
}

/**
 * Checks links that were created during a fault: acknowledged links are in the log, links in the log were requested and
 * are complete, and the tables have each of them once.
 */
export const expectLedger = async (
  service: Pick<ReturnType<typeof client>, 'get'>,
  connection: Connection,
  key: string,
  sent: readonly Sent<CreateRequest>[],
) => {
  const events = await readLog(connection)
  expectWholeLog(events)
  const tokens = events.flatMap(({ type, stream, data }) =>
    type === 'NameClaimed' && stream.startsWith('claim-alias-') ? [data['token']] : [],
  )
  const named = events.filter(({ type }) => type === 'LinkCreated' || type === 'BioCreated')
  expect(named.map(({ data }) => data['token'])).to.have.members(tokens, 'names and their links and pages')
  const created = named.flatMap(({ type, data }) => (type === 'LinkCreated' ? [data] : []))

  const requested = new Set(sent.map(({ request }) => request.url))
  const mine = created.filter(({ url }) => requested.has(String(url)))
  const ids = new Map(mine.map(({ url, id }) => [String(url), Number(id)]))
  expect(ids.size).to.equal(mine.length, 'each request is carried out at most once')
  const acknowledged = sent.filter(({ status }) => status === 200)
  for (const { request, text } of acknowledged)
    expect(ids.get(request.url)).to.equal((JSON.parse(text) as { id: number }).id, request.url)

  const ours = async () => (await listed(service, key)).filter((row) => requested.has(String(row['longurl'])))
  // a link that was stored but not acknowledged may not be projected yet
  const rows = await until(ours, ({ length }) => length >= mine.length)
  const ofRow = (row: (typeof rows)[number]) => `${row['id']} ${row['longurl']}`
  const ofLog = ({ id, url }: (typeof mine)[number]) => `${Number(id)} ${String(url)}`
  expect(rows.map(ofRow).toSorted()).to.deep.equal(mine.map(ofLog).toSorted(), 'the tables and the log')
  return { acknowledged: acknowledged.length, stored: mine.length, asked: sent.length }
}
