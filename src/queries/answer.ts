import { type Listed, offset, type Page } from './page.ts'
import type { Reader } from './reader.ts'

export interface AnswerRow {
  readonly id: number
  /** a JSON object of strings; null after its account was erased */
  readonly fields: string | null
  readonly created: Date
}

/** Returns one page of the answers to an overlay, newest first. */
export const listAnswers = async ({ db, table }: Reader, overlay: number, page: Page): Promise<Listed<AnswerRow>> => {
  const rows = (await db(table('answers'))
    .where({ overlay })
    .select('id', 'fields', 'created')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(offset(page))) as AnswerRow[]
  const [counted] = (await db(table('answer_counts')).where({ overlay }).select('n')) as { n: string }[]
  return { total: Number(counted?.n ?? 0), rows: rows.map((row) => ({ ...row, id: Number(row.id) })) }
}
