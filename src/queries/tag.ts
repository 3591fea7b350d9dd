import { type Listed, offset, type Page } from './page.ts'
import type { Reader } from './reader.ts'

export interface TagRow {
  readonly tag: string
  /** links in the list, which leaves out archived ones */
  readonly links: number
  readonly archived: number
}

/** Returns the tags of an account's links in alphabetical order. */
export const listTags = async ({ db, table }: Reader, account: number, page: Page): Promise<Listed<TagRow>> => {
  const { rows } = await db.raw<{ rows: { total: string; rows: readonly TagRow[] }[] }>(
    `with counted as materialized (
       select tag, count(*) filter (where not l.archived) as links, count(*) filter (where l.archived) as archived
       from ${table('links')} l cross join unnest(l.tags) as tag
       where l.account = ? and l.deleted is null and l.tags <> '{}' group by tag
     )
     select (select count(*) from counted) as total,
       (select coalesce(json_agg(p), '[]') from (select * from counted order by tag limit ? offset ?) p) as rows`,
    [account, page.limit, offset(page)],
  )
  const [found] = rows
  return { total: Number(found?.total ?? 0), rows: found?.rows ?? [] }
}
