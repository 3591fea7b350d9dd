import { filtered, inOrder, type Listed, type ListRequest, readPositions } from '../page.ts'
import type { Reader } from '../reader.ts'

export interface TagRow {
  readonly tag: string
  /** links in the list, which leaves out archived ones */
  readonly links: number
  readonly archived: number
}

/**
 * Returns the tags of an account's links in alphabetical order. They are counted with each request: few links of a
 * large account have any.
 */
export const listTags = async (reader: Reader, account: number, request: ListRequest): Promise<Listed<TagRow>> => {
  const { db, table } = reader
  const tags = () =>
    db.from(
      db.raw(
        `(select tag, count(*) filter (where not l.archived)::int as links, count(*) filter (where l.archived)::int as archived
          from ${table('links')} l cross join unnest(l.tags) as tag
          where l.account = ? and l.deleted is null and l.tags <> '{}' group by tag) as x`,
        [account],
      ),
    )
  const matching = () => filtered(db, tags(), request, { searched: 'x.tag', created: 'null::timestamptz' })
  const found = await readPositions({ matching, position: ['x.tag'], isComputed: true }, reader, request)
  const rows = (await tags()
    .whereIn(
      'x.tag',
      found.rows.map(([tag]) => String(tag)),
    )
    .select('x.*')) as TagRow[]
  return inOrder(found, rows, ({ tag }) => tag)
}
