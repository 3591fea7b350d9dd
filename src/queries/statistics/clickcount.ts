import type { Reader } from '../reader.ts'

/** Returns the clicks of some links, in their order. */
export const countClicks = async ({ db, table }: Reader, links: readonly number[]): Promise<readonly number[]> => {
  const rows = (await db(table('link_stats')).whereIn('link', links).select('link', 'clicks')) as {
    link: string
    clicks: string
  }[]
  const clicks = new Map(rows.map((row) => [Number(row.link), Number(row.clicks)]))
  return links.map((link) => clicks.get(link) ?? 0)
}
