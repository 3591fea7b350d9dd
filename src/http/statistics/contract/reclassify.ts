import { z } from 'zod'
import { count, done, type Contract, revision, success, text } from '../../api/contract.ts'

const exclusions = z
  .object({
    agents: z.array(text).meta({ examples: [['uptime']] }),
    countries: z.array(text).meta({ examples: [['CA']] }),
    hours: z.array(count),
    visitors: z.array(text).meta({ examples: [['9f86d081884c7d65']] }),
  })
  .meta({ id: 'Exclusions' })
const visitClass = z
  .enum(['human', 'bot', 'preview', 'prefetch', 'assistant', 'excluded', 'other'])
  .describe('`other`: only a newer version knows it')

export const changes = z.array(
  z.object({
    from: visitClass,
    to: visitClass,
    rule: text
      .describe(
        'what decides: the name or word of a rule for user agents, which may be empty; `exclusions`; `recorded` where an earlier reclassification no longer holds',
      )
      .meta({ examples: ['GPTBot'] }),
    visits: count,
  }),
)

export const reclassifyContract = {
  'GET /api/account/exclusions': {
    summary: 'Get the visits that do not count as clicks',
    answer: success({ data: exclusions }),
  },
  'PUT /api/account/exclusions': {
    summary: 'Set the visits that do not count as clicks',
    description:
      'A visit is excluded when one of the lists names it. Only lists that are sent are changed; an empty one clears it. Clicks are counted as before until `POST /api/account/reclassify`. Address blocks cannot be excluded: no click has an address.',
    fields: {
      agents: 'at most 50 parts of user agents, in any letter case; only letters: clicks keep the words alone',
      countries: 'by English name or ISO code',
      hours: 'of the day in UTC, 0 to 23',
      visitors: 'at most 500 hashes, as clicks have them in `visitor`',
    },
    example: { agents: ['uptime'], countries: ['Canada'] },
    answer: success({ message: text, data: exclusions, revision }),
  },
  'POST /api/account/reclassify': {
    summary: 'Classify recorded visits again',
    description:
      'Applies the present rules for bots and your exclusions to all visits that were recorded and are kept one by one. All statistics then count as if the visits had been recorded so; they show it shortly after. Visits that are recorded later keep the class they are recorded with until the next time. With `undo`, takes a reclassification back. One request at a time.',
    fields: {
      dryRun: 'true returns what would change, and changes nothing',
      link: 'id of a link: only its visits',
      undo: 'the `id` of the newest reclassification that is not taken back: visits get the classes from before it',
    },
    example: { dryRun: true },
    failures: {
      404: { description: 'The account has no such link or reclassification.' },
      409: { description: 'A reclassification of the account is still running.' },
    },
    answer: z.union([
      success({
        id: text
          .describe('a UUID, to take it back; empty when nothing is changed')
          .meta({ examples: ['0197b0c2-6a3e-4c1d-9a55-0f2f6c0d1e11'] }),
        dryRun: z.boolean(),
        rules: count.describe('version of the rules for bots'),
        visits: count.describe('that get another class'),
        changes: changes.describe('most visits first'),
      }),
      done,
    ]),
  },
} satisfies Contract
