import { filtered, inOrder, isFiltered, type Listed, type ListRequest, readPositions } from './page.ts'
import type { Reader } from './reader.ts'

export interface AnswerRow {
  /** 1 for the first answer to the overlay, 2 for the second: an answer is never deleted, so its number never changes */
  readonly number: number
  /** a JSON object of strings; null after its account was erased */
  readonly fields: string | null
  readonly created: Date
}
type Raw = Omit<AnswerRow, 'number'> & { readonly id: string; readonly number: string }

/** What visitors entered, without the names of the fields. */
const searched = `(select string_agg(value, E'\\n') from json_each_text(x.fields::json))`

/** Returns answers by their ids. They are counted from the newest, so that this is as fast as finding them. */
const readAnswers = async ({ db, table }: Reader, overlay: number, ids: readonly number[]) => {
  if (ids.length === 0) return []
  const answers = table('answers')
  const { rows } = await db.raw<{ rows: Raw[] }>(
    `select * from (
       select id, fields, created, row_number() over (order by id)
         + (select n from ${table('answer_counts')} where overlay = :overlay)
         - (select count(*) from ${answers} where overlay = :overlay and id >= :first) as number
       from ${answers} where overlay = :overlay and id between :first and :last
     ) numbered where id = any(:ids)`,
    { overlay, ids, first: Math.min(...ids), last: Math.max(...ids) },
  )
  return rows
}

/** Returns one page of the answers to an overlay. */
export const listAnswers = async (
  reader: Reader,
  overlay: number,
  request: ListRequest,
): Promise<Listed<AnswerRow>> => {
  const { db, table } = reader
  const source = {
    matching: () =>
      filtered(db, db({ x: table('answers') }).where({ 'x.overlay': overlay }), request, {
        searched,
        created: 'x.created',
      }),
    position: ['x.id'],
    kept: isFiltered(request) ? undefined : () => countAnswers(reader, overlay),
  }
  const found = await readPositions(source, reader, request)
  const rows = await readAnswers(
    reader,
    overlay,
    found.rows.map(([id]) => Number(id)),
  )
  const { rows: sorted, ...listed } = inOrder(found, rows, ({ id }) => Number(id))
  return {
    ...listed,
    rows: sorted.map(({ number, fields, created }) => ({ number: Number(number), fields, created })),
  }
}

const countAnswers = async ({ db, table }: Reader, overlay: number) => {
  const [counted] = await db<{ overlay: number; n: string }>(table('answer_counts')).where({ overlay }).select('n')
  return Number(counted?.n ?? 0)
}
