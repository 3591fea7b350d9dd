import { z } from 'zod'
import { BulkRow } from '../body.ts'
import {
  type Answer,
  type AnswerOf,
  address,
  count,
  id,
  problemFields,
  type Contract,
  revision,
  success,
  text,
  undo,
} from '../../api/contract.ts'

const place = {
  row: count.describe('number of the row, from 1 on').meta({ examples: [2] }),
  line: count
    .optional()
    .describe('line of the body in which the row begins, in CSV and NDJSON')
    .meta({ examples: [3] }),
}
const done = z
  .object({
    ...place,
    error: z.literal(0),
    id: id.optional(),
    shorturl: address.optional(),
    short: address.optional(),
    revision: revision.optional(),
    undo: undo.optional(),
    proposal: count.optional().describe('the number of the proposal, if the change waits for a second person'),
  })
  .meta({ id: 'BulkRowDone' })
export type BulkRowDone = Answer<typeof done>
const failed = z
  .object({
    ...place,
    error: z.literal(1),
    status: z
      .int()
      .describe('the status that the single route would have answered with')
      .meta({ examples: [400] }),
    message: text.meta({ examples: ['`url` is required.'] }),
    ...problemFields,
  })
  .meta({ id: 'BulkRowFailed' })
export type BulkRowFailed = Answer<typeof failed>
const rows = z.array(z.union([done, failed]))

export const bulkContract = {
  'POST /api/urls/bulk': {
    summary: 'Create, change or delete up to 1,000 links',
    description:
      'Each row is done as by the single route, and has its own result: one that fails does not affect the others. ' +
      'Send JSON, NDJSON (one object in each line), or CSV: UTF-8, a header with the names of the fields, separated by `,` `;` or tabs, ' +
      'cells in quotes where needed (RFC 4180). An empty cell counts as not sent. A cell of a field with several values holds them separated by `|` or `,`, or JSON. ' +
      'The body may be 4 MiB large and a row 64 KiB. The request counts as one for every 50 rows or 64 KiB, whichever are more. ' +
      'At most 50 rows may have a `password`. Rows are done at the same time; of those with the same `custom`, the first one gets it.',
    fields: {
      op: 'what to do with the rows: `create`, `update` or `delete`',
      dryRun: '`true`: only check the rows, and store nothing',
      atomic:
        '`true`: store all rows or none. All of them must fit into 1 MiB of the log, about 900 short links, and the log must be in PostgreSQL, not in EventStoreDB',
      rows: 'the links: as for `POST /api/url/add`, and `date`, `clicks`, `uniqueclicks` and `source` of links that come from another service: when they were made, what was counted there, and its name; to change some, the `id` and the fields to change; to delete some, the `id`',
    },
    body: z.object({
      rows: z
        .array(z.union([BulkRow.create, BulkRow.update, BulkRow.delete]))
        .min(1)
        .max(1000),
    }),
    example: {
      rows: [
        { url: 'https://example.com/spring', custom: 'spring-1', title: 'Spring sale' },
        { url: 'https://example.com/summer', geotarget: [{ location: 'Canada', link: 'https://example.com/ca' }] },
      ],
    },
    exampleQuery: { op: 'create' },
    texts: {
      'application/x-ndjson':
        '{"url":"https://example.com/spring","title":"Spring"}\n{"url":"https://example.com/summer"}\n',
      'text/csv': 'url,title\nhttps://example.com/spring,"Spring, 2030"\nhttps://example.com/summer,Summer\n',
      'text/tab-separated-values': 'url\ttitle\nhttps://example.com/spring\tSpring\n',
    },
    failures: {
      400: {
        description:
          'The body or the query cannot be read, or, with `atomic`, at least one row cannot be stored: then nothing is stored, and `rows` says why. With `atomic`, also where some rows need an approval and others do not.',
        shape: { rows: rows.optional() },
      },
      413: { description: 'The body is larger than 4 MiB.' },
      415: { description: 'The body is neither JSON nor NDJSON nor CSV, or is compressed.' },
      503: {
        description:
          'A database cannot be reached, or does not respond in time. Some rows may have been stored: `rows`, when it is there, says which.',
        shape: { rows: rows.optional() },
      },
    },
    answer: success({
      op: z.enum(['create', 'update', 'delete']),
      dryRun: z.boolean(),
      atomic: z.boolean(),
      succeeded: count.describe('rows that are done'),
      failed: count.describe('rows that are not'),
      rows: rows.describe('the result of each row, in their order'),
      warnings: z
        .array(z.object({ message: text, ...problemFields }))
        .optional()
        .describe('fields that rows cannot have, and that were left out'),
    }),
  },
} satisfies Contract

export type BulkAnswer = AnswerOf<typeof bulkContract, 'POST /api/urls/bulk'>
