import { filtered, inOrder, isFiltered, type Listed, type ListRequest, readPositions } from '../page.ts'
import type { Reader } from '../reader.ts'

export interface AnswerRow {
  /** number within the overlay, from 1; an erased answer keeps its row, so a number never changes */
  readonly number: number
  /** a JSON object of strings; null after it or its account was erased */
  readonly fields: string | null
  readonly created: Date
}
type Raw = Omit<AnswerRow, 'number'> & { readonly id: string; readonly number: string }

/** The values that visitors entered, without the names of the fields. */
const searched = `(select string_agg(value, E'\\n') from json_each_text(x.fields::json))`

/** Returns answers by their ids. Numbers are counted from the newest, so that this is as fast as finding them. */
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
        // a caller who may see the overlay may see its answers
        isIn: () => 'true',
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

/** An answer, by the id of its stream. */
export interface AnswerRef {
  readonly answer: string
  readonly overlay: number
  readonly account: number
}
const refOf = ({ answer, overlay, account }: Readonly<Record<keyof AnswerRef, string>>): AnswerRef => ({
  answer,
  overlay: Number(overlay),
  account: Number(account),
})

/** Returns an answer to an overlay of an account, also of a deleted one, by its number; undefined if there is none. */
export const findAnswer = async (
  { db, table }: Reader,
  { account, overlay, number }: { readonly account: number; readonly overlay: number; readonly number: number },
): Promise<AnswerRef | undefined> => {
  if (number < 1) return undefined
  const [row] = await db(table('answers'))
    .where({ account, overlay })
    .orderBy('id')
    .offset(number - 1)
    .limit(1)
    .select('answer', 'overlay', 'account')
  return row && refOf(row as Readonly<Record<keyof AnswerRef, string>>)
}

/** Returns answers from before a time that are not erased, oldest first. */
export const answersBefore = async (
  { db, table }: Reader,
  time: Date,
  limit: number,
): Promise<readonly AnswerRef[]> => {
  const rows = await db(table('answers'))
    .where('created', '<', time)
    .whereNotNull('fields')
    .orderBy('created')
    .limit(limit)
    .select('answer', 'overlay', 'account')
  return (rows as Readonly<Record<keyof AnswerRef, string>>[]).map(refOf)
}

/** Returns erased answers whose keys are not destroyed yet, by the ids of their streams. */
export const erasedAnswers = async ({ db, table }: Reader, limit: number): Promise<readonly string[]> =>
  db({ a: table('answers') })
    .whereNotNull('erased')
    .whereRaw(`not exists (select from state.destroyed_keys k where k.name = 'answer-' || a.answer)`)
    .limit(limit)
    .pluck<string[]>('answer')

const countAnswers = ({ db, table }: Reader, overlay: number) =>
  db(table('answer_counts')).where({ overlay }).select('n')

/** maximum number of answers to count, newest first */
export const mostCounted = 500_000
/** maximum number of choices to list: current and former ones of a poll */
const mostChoices = 100

export interface ChoiceCounts {
  /** answers to the overlay, and how many of them were counted */
  readonly answers: number
  readonly counted: number
  /** how often each choice was made, most often first; null: erased */
  readonly choices: readonly { readonly choice: string | null; readonly n: number }[]
}

/** Counts the choices of visitors in a poll. */
export const countChoices = async (reader: Reader, overlay: number): Promise<ChoiceCounts> => {
  const { db, table } = reader
  const { rows } = await db.raw<{ rows: { choice: string | null; n: string; all: string; total: string | null }[] }>(
    `select choice, n, sum(n) over () as all, (:total) as total
     from (
       select fields::json->>'choice' as choice, count(*) as n
       from (select fields from ${table('answers')} where overlay = :overlay order by id desc limit ${mostCounted}) newest
       group by 1
     ) chosen order by n desc, choice limit ${mostChoices}`,
    { overlay, total: countAnswers(reader, overlay) },
  )
  const [first] = rows
  return {
    answers: Number(first?.total ?? 0),
    counted: Number(first?.all ?? 0),
    choices: rows.map(({ choice, n }) => ({ choice, n: Number(n) })),
  }
}
