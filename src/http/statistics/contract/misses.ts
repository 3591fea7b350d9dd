import { z } from 'zod'
import { type Answer, type Whole, count, day, id, listOf, pageFields, type Contract, text } from '../../api/contract.ts'
import { missKinds } from '../../../lib/misses.ts'

const row = z.object({
  host: text.meta({ examples: ['go.example.com'] }),
  path: text
    .describe(
      'without a query, in lower case unless its domain has exact aliases; `other`: paths that may name a person, and those beyond 1,000 of a day',
    )
    .meta({ examples: ['/sumer'] }),
  date: day.describe('of `tz`; with `group=address` the last one'),
  count: count.describe('requests'),
  people: count.describe('those of people, as far as their browsers tell; the others are programs'),
  kind: z
    .enum(missKinds)
    .describe('`unknown`: there is no such address; the others: its link has ended, has not started, or is blocked'),
  suggestion: text
    .nullable()
    .describe(
      'of an unknown address: that of a link of yours, if it goes on behind it or, among the first 25 of an answer and up to 20 characters, differs by one slip; with exact aliases, if it differs in letter case alone',
    )
    .meta({ examples: ['/summer'] }),
  suggested: id.nullable().describe('the link of `suggestion`'),
  link: id.nullable().describe('a link of yours that has the address by now'),
})
export type Miss = Answer<typeof row>

export const misses = listOf('Miss', 'misses', row, ['date', 'host', 'kind', 'path'])
export type MissList = Whole<typeof misses>

export const missFields = {
  ...pageFields,
  order: '`date` (newest day first, default), `oldest` or `click` (most people first)',
  from: 'since this time or day',
  to: 'before this time, or until the end of this day',
  q: 'part of the host and the path',
  group: '`day` (default), or `address`: the days of an address are added up',
  kind: missKinds.map((kind) => `\`${kind}\``).join(', '),
}

const kept =
  'They are kept for 90 days, counted by quarters of an hour, within some seconds, and are neither visits nor in the log: there is no `at`.'
export const missesContract = {
  'GET /api/misses': {
    summary: 'List the addresses that lead nowhere',
    description: `What visitors have asked for on your branded domains and at your links, and did not find. ${kept}`,
    fields: missFields,
    ...misses,
  },
} satisfies Contract
export const operatorMisses = {
  summary: 'List the addresses of the service itself that do not exist',
  description: `For sessions of operators only; other callers get 403. ${kept}`,
  fields: missFields,
  ...misses,
}
