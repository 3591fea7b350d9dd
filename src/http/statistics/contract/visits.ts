import { z } from 'zod'
import {
  address,
  type Answer,
  count,
  id,
  listOf,
  pageFields,
  type Contract,
  text,
  time,
  type Whole,
} from '../../api/contract.ts'
import { filterFields } from './filters.ts'

const label = text.describe('as the filter takes it; empty where it is not known')

const row = z.object({
  id: text
    .nullable()
    .describe('of the click, as `GET /api/clicks` has it; null for a moment, while its event has no number')
    .meta({ examples: ['123456-17'] }),
  date: time,
  local: text
    .optional()
    .describe('with `tz`: what clocks there have shown, and their difference to UTC')
    .meta({ examples: ['2030-01-31T19:00:00+01:00'] }),
  link: id.nullable().describe('null where no link was visited'),
  address: count
    .nullable()
    .describe(
      'the number of the address at which the link was visited, as `by=address` counts it; null where no link was visited',
    )
    .meta({ examples: [1] }),
  qr: id.nullable().describe('the QR code by which it came, or that was scanned'),
  bio: id.nullable().describe('the bio page whose entry was followed, or that was seen'),
  source: text.describe('`link`, `qr`, `rotator`, `bio`'),
  revision: count.describe('of the link, QR code or bio page that has sent it on').meta({ examples: [7] }),
  rule: text
    .describe('what chose the destination: `link`, `device:ios`, `location:ca`, …; `view` of a bio page')
    .meta({ examples: ['location:ca'] }),
  destination: address.describe('where it was sent; empty when a bio page decided'),
  country: label.meta({ examples: ['CA'] }),
  referrer: label.meta({ examples: ['google.com'] }),
  medium: label.meta({ examples: ['search'] }),
  browser: label.meta({ examples: ['Firefox'] }),
  os: label.meta({ examples: ['Android'] }),
  device: label.meta({ examples: ['mobile'] }),
  language: label.meta({ examples: ['fr'] }),
  class: text
    .describe('what it counts as now, or at the moment of `at`; only `human` is a click')
    .meta({ examples: ['human'] }),
  unique: z.boolean().describe('whether it is the first click of a person there'),
  receipt: text
    .nullable()
    .describe('the address of its receipt')
    .meta({ examples: ['/api/clicks/123456-17/proof'] }),
})
export const visitColumns = Object.keys(row.shape) as readonly (keyof typeof row.shape)[]
export const visitEntries = listOf('Visit', 'visits', row, [])
export type VisitRow = Answer<typeof row>
export type VisitList = Whole<typeof visitEntries>

const { limit, fields } = pageFields

export const visitsContract = {
  'GET /api/visits': {
    summary: 'List the visits behind a figure of the statistics',
    description:
      'What `GET /api/stats` counts with the same filters, one by one, newest first: each with when and from where it came, where it was sent by which revision and rule, and its receipt. ' +
      '`result` counts as far as was read, at most 10,000. Of a link, a QR code, a campaign, a period and a class the first rows are there at once; with other filters one answer reads at most 25,000 visits (15,000 of a link or a campaign), then has those that it found, and `next_cursor` goes on. There are no numbers of pages.',
    fields: {
      limit: `${limit}; 10,000 as CSV or NDJSON`,
      cursor: 'the `next_cursor` of the answer before; empty or not sent for the newest visits',
      fields,
      from: 'a time or a day; 30 days before `to` if not sent',
      to: 'a time or a day, which is included; now if not sent',
      ...filterFields,
    },
    ...visitEntries,
    answersAs: {
      'text/csv':
        'the same rows as CSV (RFC 4180) with a header; a text that a spreadsheet would run has an apostrophe before it. The header `Link` leads to the next rows',
      'application/x-ndjson': 'one row as JSON on each line. The header `Link` leads to the next rows',
    },
  },
} satisfies Contract
