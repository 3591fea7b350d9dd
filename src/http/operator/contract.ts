import { z } from 'zod'
import {
  type Answer,
  type AnswerOf,
  type Whole,
  count,
  done,
  id,
  listOf,
  pageFields,
  type Contract,
  stored,
  success,
  text,
  time,
} from '../api/contract.ts'
import { operatorMisses } from '../statistics/contract/misses.ts'
import { operatorReclassify } from '../statistics/contract/reclassify.ts'

const status = z.enum(['active', 'disabled', 'erased'])
const account = z.object({
  id,
  email: text.describe('empty once the account is erased').meta({ examples: ['ann@example.com'] }),
  username: text.meta({ examples: ['ann'] }),
  status,
  registered: time,
  links: count.describe('how many it has'),
})
export type OperatorAccount = Answer<typeof account>
const report = z.object({
  reference: text.meta({ examples: ['7KQ2-M9XD'] }),
  account: id.describe('owner of what is reported'),
  kind: text.meta({ examples: ['link'] }),
  subject: id.describe('of what is reported'),
  address: text.meta({ examples: ['go.example.com/spring'] }),
  reason: text.meta({ examples: ['phishing'] }),
  message: text.nullable().describe('null once it or the account is erased'),
  email: text.nullable().describe('of the visitor, if they want an answer'),
  sent: time,
  closed: z.union([time, z.literal('')]),
  open: count.describe('open reports about the same'),
  blocked: z.boolean().describe('whether the link, bio page or campaign is blocked by itself'),
})
export type Report = Answer<typeof report>
const kind = stored(z.enum(['link', 'host', 'pattern', 'domain']))
const block = z.object({
  kind,
  value: text.describe('as `POST /api/operator/unblock` takes it').meta({ examples: ['evil.example'] }),
  alias: text.describe('of a link or a bio page; of a campaign, `r/` and its slug'),
  account: id.nullable().describe('owner of a link, a bio page or a campaign'),
  reason: text,
  operator: text.describe('who has blocked it: the name on the command line, or the account of an operator'),
  since: time,
  again: z
    .array(text.meta({ examples: ['id:61'] }))
    .describe(
      'links that the owner of a blocked link has made since, to the same destination: at most 10, newest first',
    ),
})
export type Block = Answer<typeof block>

const note = 'For sessions of operators only; other callers get 403.'
const statusChange = {
  fields: { id: 'of an account other than your own' },
  example: { id: 7 },
  failures: { 404: { description: 'There is no such account, or it is erased.' } },
  answer: success({ id, status }),
}
const subject = {
  kind: 'what is meant',
  value:
    'of a `link`: its address, its alias, or `id:7` (`bio:7` for a bio page, `campaign:7` for a campaign); of a `host` or a `domain`: `evil.example`; of a `pattern`: a host and a path with `*`',
}
const changed = success({ kind, value: text.describe('as it is listed'), message: text })
export type BlockChanged = Answer<typeof changed>

export const operatedAccounts = listOf('OperatorAccount', 'accounts', account)
export const reports = listOf('Report', 'reports', report, ['reference'])
export const blockList = listOf('Block', 'blocks', block, ['kind', 'value'])
export type OperatorAccountList = Whole<typeof operatedAccounts>
export type ReportList = Whole<typeof reports>
export type BlockList = Whole<typeof blockList>

export const operatorContract = {
  'GET /api/operator/misses': operatorMisses,
  ...operatorReclassify,
  'GET /api/operator/accounts': {
    summary: 'List the accounts of this service',
    description: `${note} Of what an account has made, it shows the number of links only.`,
    fields: { ...pageFields, q: 'part of an e-mail address or a username, or `id:7`' },
    ...operatedAccounts,
  },
  'GET /api/operator/reports': {
    summary: 'List what visitors have reported',
    description: note,
    fields: {
      ...pageFields,
      from: 'sent since this time or day',
      to: 'sent before this time, or until the end of this day',
      q: 'part of the address',
      closed: '`true`: those that are dealt with; else those that are open',
    },
    ...reports,
  },
  'GET /api/operator/blocks': {
    summary: 'List what operators have blocked',
    description: note,
    fields: {
      ...pageFields,
      from: 'blocked since this time or day',
      to: 'blocked before this time, or until the end of this day',
      q: 'part of the host, the pattern or the reason',
    },
    ...blockList,
  },
  'POST /api/operator/account/disable': {
    summary: 'Disable an account',
    description: `${note} Its keys and sessions are refused, and its links are hidden.`,
    ...statusChange,
  },
  'POST /api/operator/account/enable': {
    summary: 'Enable an account again',
    description: note,
    ...statusChange,
  },
  'POST /api/operator/report/close': {
    summary: 'Mark a report as dealt with',
    description: note,
    fields: { reference: 'of the report' },
    example: { reference: '7KQ2-M9XD' },
    failures: { 404: { description: 'There is no such report.' } },
    answer: done,
  },
  'POST /api/operator/report/erase': {
    summary: 'Erase what a visitor wrote in a report',
    description: `${note} Destroys the key of the report for good, and closes it if it is open. What was reported, when and why stays.`,
    fields: { reference: 'of the report' },
    example: { reference: '7KQ2-M9XD' },
    failures: { 404: { description: 'There is no such report, or it is erased already.' } },
    answer: done,
  },
  'POST /api/operator/block': {
    summary: 'Block a link, a destination or a branded domain',
    description: note,
    fields: { ...subject, reason: 'why: it is stored in the log, and accounts that use a blocked destination read it' },
    example: { kind: 'host', value: 'evil.example', reason: 'Phishing' },
    answer: changed,
  },
  'POST /api/operator/unblock': {
    summary: 'End a block',
    description: note,
    fields: subject,
    example: { kind: 'host', value: 'evil.example' },
    failures: { 404: { description: 'It is not blocked.' } },
    answer: changed,
  },
  'GET /api/operator/health': {
    summary: 'Get the health of the service',
    description: note,
    answer: success({
      ready: z.boolean().describe('whether the process that answers is ready'),
      problems: z.array(text).describe('of the process that answers, for people'),
      projections: z.array(z.object({ name: text, halted: text.nullable().describe('why; null while it runs') })),
      behind: z
        .object({ changes: count.nullable(), clicks: count.nullable() })
        .describe('seconds that the read tables are behind the log; null while it does not answer'),
      relay: z
        .object({ clicks: count, seconds: count })
        .describe('clicks in the spool of the process that answers, and how long the oldest of them waits'),
      webhooks: z.object({ all: count, stopped: count.describe('disabled'), failing: count }),
      storage: z
        .object({ log: count.describe('0 where the log is in EventStoreDB'), read: count, state: count })
        .describe('bytes in the database: the events, the read tables, and keys, sessions and images'),
    }),
  },
} satisfies Contract

export type Health = AnswerOf<typeof operatorContract, 'GET /api/operator/health'>
