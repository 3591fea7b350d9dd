import { z } from 'zod'
import {
  type Answer,
  type AnswerOf,
  count,
  done,
  type Contract,
  id,
  problemFields,
  revision,
  success,
  text,
  time,
} from '../../api/contract.ts'

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

const change = z.object({
  from: visitClass,
  to: visitClass,
  rule: text
    .describe(
      'what decides: the name or word of a rule for user agents, which may be empty; `exclusions`; `recorded` where an earlier reclassification no longer holds',
    )
    .meta({ examples: ['GPTBot'] }),
  visits: count,
})
const changes = z.array(change).describe('most visits first')
export type JobChange = Omit<Answer<typeof change>, 'from' | 'to'> & Readonly<Record<'from' | 'to', string>>

const steps = z.object({ done: count, of: count })
const job = z.object({
  work: z.enum(['count', 'apply', 'undo']).describe('`count`: nothing is changed'),
  asked: time,
  ended: time.nullable().describe('null while it runs'),
  failed: z.boolean().describe('whether it ended early: what is left is done by the next one'),
  reason: text.nullable().describe('why it ended early, where that can be said'),
  code: problemFields.code.nullable().describe('the same reason: null without one'),
  params: problemFields.params,
  visits: count.describe('that get another class, in the accounts that are counted so far'),
  changes: z.array(change.extend({ from: text, to: text })).describe('the 500 with most visits'),
  accounts: steps,
  parts: steps.describe('of the account whose turn it is'),
})
const reclassifications = success({
  data: z.object({
    rules: count.describe('version of the rules for bots'),
    job: job.nullable().describe('the last one in the background'),
    made: z
      .array(
        z.object({
          id: text.meta({ examples: ['0197b0c2-6a3e-4c1d-9a55-0f2f6c0d1e11'] }),
          account: id,
          date: time,
          rules: count,
          visits: count,
          undone: z.boolean(),
        }),
      )
      .describe('newest first, at most 100'),
  }),
})
const running = { 409: { description: 'Another one is still running.' } }

/** The same for all accounts, for operators. */
export const operatorReclassify = {
  'GET /api/operator/reclassify': {
    summary: 'Get reclassifications of all accounts',
    description: 'For sessions of operators only; other callers get 403.',
    answer: reclassifications,
  },
  'POST /api/operator/reclassify': {
    summary: 'Classify recorded visits of all accounts again, in the background',
    description:
      'For sessions of operators only; other callers get 403. Applies the present rules for bots and the exclusions of each account, account by account, and goes on after a restart.',
    fields: { dryRun: 'true counts what would change, and changes nothing' },
    example: { dryRun: true },
    failures: running,
    answer: done,
  },
} satisfies Contract

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
  'GET /api/account/reclassify': {
    summary: 'Get reclassifications of your visits',
    description: 'The last one in the background with its progress, and those that were made.',
    answer: reclassifications,
  },
  'POST /api/account/reclassify': {
    summary: 'Classify recorded visits again',
    description:
      'Applies the present rules for bots and your exclusions to all visits that were recorded and are kept one by one. All statistics then count as if the visits had been recorded so; they show it shortly after. Visits that are recorded later keep the class they are recorded with until the next time. With `undo`, takes a reclassification back. One request at a time.',
    fields: {
      dryRun: 'true returns what would change, and changes nothing',
      link: 'id of a link: only its visits',
      background:
        'true answers at once, and works in the background: as `GET` shows, also for millions of visits, and after a restart',
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
        changes,
      }),
      done,
    ]),
  },
} satisfies Contract
export type Reclassifications = AnswerOf<typeof reclassifyContract, 'GET /api/account/reclassify'>
