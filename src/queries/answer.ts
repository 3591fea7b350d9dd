import { type Listed, offset, type Page } from './page.ts'
import type { Reader } from './reader.ts'

export interface AnswerRow {
  /** 1 for the first answer to the overlay, 2 for the second: an answer is never deleted, so its number never changes */
  readonly number: number
  /** a JSON object of strings; null after its account was erased */
  readonly fields: string | null
  readonly created: Date
}

/** Returns one page of the answers to an overlay, newest first. */
export const listAnswers = async ({ db, table }: Reader, overlay: number, page: Page): Promise<Listed<AnswerRow>> => {
  // one statement, so that an answer that is projected meanwhile is in both or in neither
  const rows = (await db({ c: table('answer_counts') })
    .leftJoin(
      db(table('answers'))
        .where({ overlay })
        .select('overlay', 'id', 'fields', 'created')
        .orderBy('id', 'desc')
        .limit(page.limit)
        .offset(offset(page))
        .as('a'),
      'a.overlay',
      'c.overlay',
    )
    .where({ 'c.overlay': overlay })
    .select('c.n', 'a.id', 'a.fields', 'a.created')
    .orderBy('a.id', 'desc')) as (Omit<AnswerRow, 'number'> & { readonly n: string; readonly id: string | null })[]
  const total = Number(rows[0]?.n ?? 0)
  const found = rows.filter(({ id }) => id !== null)
  return {
    total,
    rows: found.map(({ fields, created }, i) => ({ number: total - offset(page) - i, fields, created })),
  }
}
