import { z } from 'zod'
import type { failures } from './failures.ts'
import { problemCodes } from '../../lib/problems/problem.ts'
import type { Open } from '../../events/openenum.ts'
import { problemProperties } from './failures.ts'

export type FailureStatus = keyof typeof failures
export interface OwnFailure {
  readonly description: string
  readonly shape?: z.ZodRawShape
}

/** The description of a route, in addition to its schemas. */
export interface Description {
  /** a short description */
  readonly summary: string
  readonly description?: string
  /** the meaning of fields in the body or the query, by name */
  readonly fields?: Readonly<Record<string, string>>
  /** a body that the service accepts */
  readonly example?: object
  /** the query that goes with it, where one is required */
  readonly exampleQuery?: Readonly<Record<string, string>>
  /** the body, when it differs from the one that the route validates */
  readonly body?: z.ZodType
  /** examples of the same body as text, by content type */
  readonly texts?: Readonly<Record<string, string>>
  /** failures that differ from those of the other routes: their meaning, and fields besides `error` and `message` */
  readonly failures?: Readonly<Partial<Record<FailureStatus, OwnFailure>>>
  readonly answer: z.ZodType
  /** the entries of the list in the answer */
  readonly list?: ListShape
  /** the content type of the answer, unless it is JSON */
  readonly answerType?: string
  /** other content types of the answer, which `Accept` selects */
  readonly answersAs?: Readonly<Record<string, string>>
}
/** Descriptions by method and path: `GET /api/account`. */
export type Contract = Readonly<Record<string, Description>>

export const id = z
  .int()
  .positive()
  .meta({ examples: [42] })
/** The fields of a failure besides its sentence, in answers that contain failures. */
export const problemFields = {
  code: z.enum(problemCodes).describe(problemProperties.code.description),
  field: z.string().optional().describe(problemProperties.field.description),
  params: z.record(z.string(), z.union([z.string(), z.number()])).describe(problemProperties.params.description),
}

export const text = z.string()
export const address = z.string().meta({ examples: ['https://example.com/spring'] })
/** `2030-01-31 18:00:00`, in UTC */
export const time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  .meta({ examples: ['2030-01-31 18:00:00'] })
/** `2030-01-31`, a day in the zone of the request */
export const day = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/)
  .meta({ examples: ['2030-01-31'] })
export const count = z
  .int()
  .nonnegative()
  .meta({ examples: [1234] })

/** A value of an event: a known one, or one that a newer release has stored. */
export const stored = <T extends string>(known: z.ZodType<T>) => known as unknown as z.ZodType<Open<T>, Open<T>>

/** Goes up with every change of a resource. */
export const revision = count.describe('goes up with every change; `If-Match` compares it').meta({ examples: [7] })

/** The answer to a request that succeeded. */
export const success = <S extends z.ZodRawShape>(shape: S) => z.object({ error: z.literal(0), ...shape })
/** The answer to a request that changed something: a sentence for people. */
export const done = success({ message: text }).meta({ id: 'Done' })
export type Done = Answer<typeof done>
/** The answer to a request that deleted a resource. */
export const undo = z
  .object({ method: z.literal('POST'), path: text.meta({ examples: ['/api/url/42/restore'] }) })
  .meta({ id: 'Undo', description: 'the request that takes it back' })
/** The same, with what to send. */
export const undoWith = undo.extend({ body: z.object({ revision: count }) }).meta({ id: 'UndoTo' })
export const deleted = success({ message: text, undo }).meta({ id: 'Deleted' })
/** The answer to a request that deleted a resource for good. */
export const deletedForGood = success({ message: text, undo: z.null().describe('it cannot be taken back') }).meta({
  id: 'DeletedForGood',
})
/** The answer to a request that created a resource. */
export const created = success({ id, revision }).meta({ id: 'Created' })
export type Created = Answer<typeof created>
/** The answer to a request that changed a resource. */
export const updated = success({ message: text, revision }).meta({ id: 'Updated' })
export type Updated = Answer<typeof updated>

/** The same data, read-only. */
export type Immutable<T> = unknown extends T ? T : T extends string ? T : { readonly [K in keyof T]: Immutable<T[K]> }
/** The type of an answer, by its schema. */
export type Answer<S extends z.ZodType> = Immutable<z.input<S>>
/** The answer of a route of a contract, by its method and path there. */
export type AnswerOf<C extends Contract, N extends keyof C> = Answer<C[N]['answer']>

/** A list, and the schema of its entries. */
export interface ListShape<N extends string = string, R extends z.ZodObject = z.ZodObject> {
  /** name of the collection in the answer */
  readonly name: N
  /** an entry with all columns */
  readonly row: R
  /** the columns that every entry has, regardless of `fields` */
  readonly identity: readonly string[]
}
const paging = z.object({
  result: count.describe('number of all matches; with `q`, `from` or `to` at most 10,000'),
  perpage: count.describe('the limit in effect'),
  currentpage: count,
  nextpage: count.describe('stays at `maxpage` on the last page'),
  maxpage: count,
  next_cursor: text.describe('with `cursor`: that of the rows after these; absent after the last row').optional(),
  searched: count
    .describe('of a search that has not read all: how many entries it has; `result` and `maxpage` end with them')
    .optional(),
})
/** One page of a list, in which `error` is a string. */
export interface Page<N extends string, Row> {
  readonly error: '0'
  readonly data: Answer<typeof paging> & { readonly [K in N]: readonly Row[] }
}
/** The fields of every list. */
export interface AnyPage {
  readonly data: Answer<typeof paging>
}
/** The name of the collection in a list. */
export type NameIn<L extends AnyPage> = Exclude<keyof L['data'], keyof AnyPage['data']> & string
/** An entry of a list. */
export type EntryOf<L extends AnyPage> = L['data'][NameIn<L>] extends readonly (infer E)[] ? E : never
/** With `fields`, the entries of a list have some columns only. */
export type Listing<N extends string, Row> = Page<N, Partial<Row>>
/** The answer of a list without `fields`: its entries have all columns. */
export type Whole<L extends { readonly list: ListShape }> = Page<L['list']['name'], Answer<L['list']['row']>>
/** The description of a list. */
export interface List<N extends string, R extends z.ZodObject, Beside = unknown> {
  readonly list: ListShape<N, R>
  readonly answer: z.ZodType<unknown, Listing<N, Answer<R>> & Beside>
}

/**
 * Describes a list: `LinkList`, of which each entry is a `Link`, if that is its title. `beside`: fields of the answer
 * besides the page.
 */
export const listOf = <const N extends string, R extends z.ZodRawShape, B extends z.ZodRawShape = Record<never, never>>(
  title: string,
  name: N,
  row: z.ZodObject<R>,
  identity: readonly (keyof R & string)[] = ['id'],
  beside?: B,
): List<N, z.ZodObject<R>, Immutable<{ [K in keyof B]: z.input<B[K]> }>> => {
  const always = Object.fromEntries(identity.map((column) => [column, row.shape[column]!]))
  const entry = row.partial().extend(always).meta({ id: title })
  const data = paging.extend({ [name]: z.array(entry).describe('rows; with `fields`, only those columns of them') })
  const answer: z.ZodType = z.object({ error: z.literal('0'), data, ...beside }).meta({ id: `${title}List` })
  // the compiler cannot infer a computed name
  return { list: { name, row, identity }, answer: answer as List<never, never, never>['answer'] }
}

/** Clicks that were not measured here; answers without such clicks lack the field. */
export const imported = count
  .min(1)
  .optional()
  .describe('clicks that another service has counted, as the owner says: they are in `clicks`')

/** The totals of several links. */
export const linkTotals = z
  .object({
    links: count.describe('number of its links'),
    clicks: count.describe('on those links, all time'),
    uniqueClicks: count.describe('visitors of each of those links, added up'),
    imported,
  })
  .meta({ id: 'LinkTotals' })
export type LinkTotals = Answer<typeof linkTotals>

/** The ten most frequent labels. */
export const labels = z.record(z.string(), z.string()).meta({
  id: 'Labels',
  description: 'clicks by label, the ten with most clicks',
  examples: [{ Canada: '12', Germany: '3' }],
})

/** The totals of people. `top` is the schema of a list of the most frequent labels. */
export const statistics = <T extends z.ZodType, N extends string>(top: T, networks: readonly N[]) => ({
  clicks: count,
  uniqueClicks: count,
  topCountries: top,
  topReferrers: top,
  topBrowsers: top,
  topOs: top,
  socialCount: z.object(Object.fromEntries(networks.map((network) => [network, count])) as Record<N, typeof count>),
})

/** Query fields of a list. */
export const pageFields = {
  limit: 'entries on a page, 15 if not sent, at most 1,000',
  page: 'number of the page, from 1 on',
  cursor:
    'instead of `page`: empty for the first rows, then the `next_cursor` of the answer before. Rows that are created or deleted meanwhile do not move the others',
  order: '`date` (newest first, default) or `oldest`',
  from: 'created since this time or day',
  to: 'created before this time, or until the end of this day',
  q: 'part of the name, in any letter case',
  fields: 'columns to return, separated by commas; all if not sent',
}
/** The same for a list of members' work. */
export const ownedFields = {
  ...pageFields,
  made_by: 'made by this member of the account, or by a key of theirs',
}
