import { z } from 'zod'
import { type Answer, type AnswerOf, count, imported, type Contract, success, text, time } from '../../api/contract.ts'
import { intervals } from '../../../lib/zone.ts'
import { filterFields } from './filters.ts'
import { headRequests, lostVisits } from './lost.ts'

const dimension = z.record(z.string(), count)
const local = text
  .optional()
  .describe('what clocks in `tz` show then, with their difference to UTC; only with `tz`')
  .meta({ examples: ['2026-03-01T00:00:00+01:00'] })
export const series = success({
  data: z
    .object({
      from: time,
      to: time.describe('exclusive'),
      interval: z.enum(intervals),
      total: z.object({
        clicks: count,
        uniqueClicks: count,
        visits: count.describe('including bots, link previewers, assistants and prefetching browsers'),
        suspects: count.describe('clicks beyond 30 per minute by one visitor on one link'),
      }),
      imported: imported.describe('clicks of all time that another service has counted, in no interval'),
      series: z.array(z.object({ at: time, local, clicks: count, uniqueClicks: count })),
      by: z
        .record(z.string(), dimension)
        .describe('for each requested dimension, clicks by label: the 10,000 labels with the most'),
      others: z
        .record(z.string(), count)
        .optional()
        .describe('clicks with other labels, for each dimension that has more than 10,000'),
    })
    .meta({ id: 'ClicksOverTime' }),
})
export const seriesFields = {
  from: 'a time or a day; 30 days before `to` if not sent',
  to: 'a time or a day, which is included; now if not sent',
  interval:
    '`hour`, `day` (default), `week` (from Monday, ISO 8601) or `month`, those of `tz`; at most 2,000 intervals',
  by: 'dimensions, separated by commas: `country`, `referrer`, `browser`, `os`, `device`, `language`, `source`, `medium`',
}

const linkFields = { ...seriesFields, by: `${seriesFields.by}, \`variant\`` }

const counted = { clicks: count, uniqueClicks: count, visits: count }
const overTime = z.object({
  from: time,
  to: time.describe('exclusive'),
  total: z.object(counted),
  series: z.array(z.object({ at: time, local, ...counted })),
})
export type OverTime = Answer<typeof overTime>
const row = z.object({
  value: text.describe('what a filter takes').meta({ examples: ['DE'] }),
  name: text.describe('for people').meta({ examples: ['Germany'] }),
  count: count.describe('clicks; visits of `class`, and with the filter `class`'),
})
/** A value of a dimension. */
export type StatisticsRow = Answer<typeof row>
export const filteredContract = {
  'GET /api/stats': {
    summary: 'Get clicks by filters, over time and broken down',
    description:
      'Counts what passes all filters. Without filters, it is answered from sums, for any number of clicks; with filters, or with `by` of `link`, `rule` or `class`, from the clicks themselves, of which one answer reads at most 5,000,000. `GET /api/visits` lists what a figure counts: with `class=human` what clicks are, and with `unique=true` what unique clicks are. `none` is the value of what is not known: no country, no referrer.',
    fields: {
      ...seriesFields,
      by: `${seriesFields.by}, \`variant\`, \`rule\`, \`class\`, \`link\``,
      ...filterFields,
      compare: '`before`: add the period of the same length before',
      limit: 'rows of each dimension, 100 if not sent, at most 1,000',
    },
    answer: success({
      data: overTime
        .extend({
          interval: z.enum(intervals),
          by: z.record(z.string(), z.array(row)).describe('for each requested dimension, its values with most clicks'),
          before: overTime
            .nullable()
            .optional()
            .describe('with `compare`; null where its clicks are no longer kept one by one'),
          through: z
            .object({
              event: count.nullable().describe('the number of the newest event with clicks that is counted'),
              at: time.nullable().describe('when it was stored'),
              behind: count
                .nullable()
                .describe(
                  'seconds that the oldest event has waited that is not counted yet; 0 without one; null while the log does not answer',
                ),
            })
            .describe('how complete the figures are'),
          classes: z
            .enum(['now', 'then'])
            .optional()
            .describe('which classes count; only once a reclassification has changed some of the account'),
          lost: lostVisits,
          headRequests,
        })
        .meta({ id: 'Statistics' }),
    }),
  },
} satisfies Contract

export const linkStatsContract = {
  'GET /api/url/:id/stats': { summary: 'Get clicks over time of a link', fields: linkFields, answer: series },
} satisfies Contract

export type StatisticsAnswer = AnswerOf<typeof filteredContract, 'GET /api/stats'>
