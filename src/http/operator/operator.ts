import { z } from 'zod'
import type { Blocks } from '../../cache/blocks.ts'
import { formerAddresses } from '../../cache/formeraddresses.ts'
import { account, type AccountCommand } from '../../commands/accounts/account.ts'
import { block } from '../../commands/operator/block.ts'
import type { Handler } from '../../commands/handle.ts'
import { refuse } from '../../commands/decider.ts'
import { report } from '../../commands/operator/report.ts'
import { streamId } from '../../events/streams.ts'
import { shownAlias } from '../../lib/short/alias.ts'
import { must, orStop, says, text, timestamp } from '../../lib/fields.ts'
import { readReference, reference } from '../../lib/reference.ts'
import { type NamedBlock, searchBlocks } from '../../queries/operator/block.ts'
import { BadSubject, type BlockSubject, blockSubjects } from '../../queries/operator/subject.ts'
import { type OperatedAccount, searchAccounts } from '../../queries/operator/operator.ts'
import { type ReportRow, searchReports } from '../../queries/operator/report.ts'
import type { Reader } from '../../queries/reader.ts'
import type { AnswerServices } from '../pages/answer.ts'
import { fail, failAt } from '../api/errors.ts'
import { bodyId } from '../api/fields.ts'
import { list, listQuery } from '../api/list/list.ts'
import { endpoint, type Route } from '../api/route.ts'
import { operatorReclassifyRoutes, type ReclassifyServices } from '../statistics/background.ts'
import { answerMisses, missQuery, type MissServices } from '../statistics/misses.ts'
import { blockList, operatedAccounts, operatorContract, reports } from './contract.ts'

/** Reads the health of the service. */
export type OperatorHealth = () => Promise<{
  readonly ready: boolean
  readonly problems: readonly string[]
  readonly projections: readonly { readonly name: string; readonly halted: string | null }[]
  /** seconds; null while the log does not answer */
  readonly behind: { readonly changes: number | null; readonly clicks: number | null }
  readonly relay: { readonly clicks: number; readonly seconds: number }
  readonly webhooks: { readonly all: number; readonly stopped: number; readonly failing: number }
  /** bytes */
  readonly storage: { readonly log: number; readonly read: number; readonly state: number }
}>

/** What the routes of operators need. */
export interface OperatorServices extends AnswerServices, MissServices, ReclassifyServices {
  readonly baseUrl: () => string
  readonly blocks: Blocks
  readonly handler: Handler
  readonly operatorHealth: OperatorHealth
}

const nowOnly = 'operator'
const shared = { scope: 'operator', nowOnly } as const

const presentAccount = ({ id, email, username, status, registered, links }: OperatedAccount) => ({
  id,
  email: email ?? '',
  username: username ?? '',
  status,
  registered: timestamp(registered),
  links,
})

const isBlockedItself = ({ kind, subject }: Pick<ReportRow, 'kind' | 'subject'>, blocks: Blocks) => {
  if (kind === 'link') return blocks.link(subject)
  return kind === 'bio' ? blocks.bio(subject) : kind === 'campaign' && blocks.campaign(subject)
}

const presentReport = (row: ReportRow, blocks: Blocks) => ({
  reference: reference(row.id),
  account: row.account,
  kind: row.kind,
  subject: row.subject,
  address: row.address,
  reason: row.reason,
  message: row.message,
  email: row.email,
  sent: timestamp(row.sent),
  closed: row.closed ? timestamp(row.closed) : '',
  open: row.open,
  blocked: isBlockedItself(row, blocks),
})

/** Returns what is blocked as an operator writes it. */
const presentSubject = ({ kind, value }: Pick<BlockSubject, 'value'> & { readonly kind: string }) => {
  if (kind === 'link') return { kind, value: `id:${value}` }
  return kind === 'bio' || kind === 'campaign' ? { kind: 'link', value: `${kind}:${value}` } : { kind, value }
}

const presentBlock = ({ kind, value, alias, account, reason, operator, changed, again }: NamedBlock) => ({
  ...presentSubject({ kind, value }),
  alias: shownAlias(alias ?? ''),
  account,
  reason: reason ?? '',
  operator,
  since: timestamp(changed),
  again: again.map((id) => `id:${id}`),
})

const lists = (services: OperatorServices) => [
  endpoint(operatorContract, 'GET /api/operator/accounts', {
    ...shared,
    query: listQuery(operatedAccounts),
    run: (call) => list(operatedAccounts, call, (request) => searchAccounts(call.reader, request), presentAccount),
  }),
  endpoint(operatorContract, 'GET /api/operator/reports', {
    ...shared,
    query: listQuery(reports).extend({
      closed: z.enum(['true', 'false'], says('wrong_type', { what: 'boolean' })).optional(),
    }),
    run: (call) => {
      const closed = call.query.closed === 'true'
      return list(
        reports,
        call,
        (request) => searchReports(call.reader, { ...request, closed }),
        (row) => presentReport(row, services.blocks),
      )
    },
  }),
  endpoint(operatorContract, 'GET /api/operator/misses', {
    ...shared,
    statistics: true,
    query: missQuery,
    run: (call) => answerMisses(call, 0, services),
  }),
  endpoint(operatorContract, 'GET /api/operator/blocks', {
    ...shared,
    query: listQuery(blockList),
    run: (call) => list(blockList, call, (request) => searchBlocks(call.reader, request), presentBlock),
  }),
]

type AccountChange = Extract<AccountCommand['type'], 'DisableAccount' | 'EnableAccount'>
const change = (word: 'disable' | 'enable', type: AccountChange, status: 'disabled' | 'active') =>
  endpoint(operatorContract, `POST /api/operator/account/${word}`, {
    scope: 'operator',
    body: z.object({ id: bodyId }),
    run: async ({ account: own, body: { id }, operate }) => {
      // the dashboard would offer no way back
      if (id === own) refuse('account_disabled', { what: 'own' })
      await operate(account, type === 'DisableAccount' ? { type, id, from: 'dashboard' } : { type, id }, id)
      return { id, status }
    },
  })

const kinds = Object.keys(blockSubjects) as (keyof typeof blockSubjects)[]
const Subject = z.object({
  kind: z.enum(kinds, must('not_one_of', { values: kinds.join(', ') })),
  value: text(2000).trim().min(1, says('empty')),
})
/** What moves a cursor or turns a text around, where a reason is printed. Some scripts and emoji need two of them. */
const moving = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
const Blocked = Subject.extend({
  reason: text(500)
    .min(1, orStop(says('empty', { what: 'reason' })))
    .refine((reason) => !moving.test(reason), says('forbidden_characters', { what: 'line' })),
})

/** Returns the resource that an operator names. Fails with 400 if it does not exist. */
const find = async (
  { kind, value }: z.output<typeof Subject>,
  { reader, baseUrl }: { readonly reader: Reader; readonly baseUrl: string },
  mustExist: boolean,
): Promise<BlockSubject> => {
  try {
    return await blockSubjects[kind](value)({ reader, baseUrl }, { mustExist })
  } catch (error) {
    if (error instanceof BadSubject) return failAt('value', error.problem)
    throw error
  }
}

const Referenced = z.object({ reference: text(20) })
const reportIn = (body: z.output<typeof Referenced>): string =>
  readReference(body.reference) ?? fail(404, 'not_found', { what: 'report' })

const changes = ({ baseUrl, handler, streamKeys }: OperatorServices) => [
  change('disable', 'DisableAccount', 'disabled'),
  change('enable', 'EnableAccount', 'active'),
  endpoint(operatorContract, 'POST /api/operator/report/close', {
    scope: 'operator',
    body: Referenced,
    run: async ({ body, operate }) => {
      const id = reportIn(body)
      await operate(report, { type: 'CloseReport', id }, null)
      return { message: `Report ${reference(id)} is closed.` }
    },
  }),
  endpoint(operatorContract, 'POST /api/operator/report/erase', {
    scope: 'operator',
    body: Referenced,
    run: async ({ body, operate }) => {
      const id = reportIn(body)
      await operate(report, { type: 'EraseReport', id }, null)
      await streamKeys.destroy([streamId('report', id)])
      return { message: `Report ${reference(id)} is erased.` }
    },
  }),
  endpoint(operatorContract, 'POST /api/operator/block', {
    scope: 'operator',
    body: Blocked,
    run: async ({ body, reader, operate }) => {
      const { kind, value, called } = await find(body, { reader, baseUrl: baseUrl() }, true)
      const addresses = await formerAddresses({ handler, reader }, { kind, value })
      await operate(block, { type: 'Block', kind, value, reason: body.reason, addresses }, null)
      return { ...presentSubject({ kind, value }), message: `${called} is blocked.` }
    },
  }),
  endpoint(operatorContract, 'POST /api/operator/unblock', {
    scope: 'operator',
    body: Subject,
    run: async ({ body, reader, operate }) => {
      const { kind, value, called } = await find(body, { reader, baseUrl: baseUrl() }, false)
      await operate(block, { type: 'Unblock', kind, value }, null)
      return { ...presentSubject({ kind, value }), message: `${called} is not blocked any more.` }
    },
  }),
]

const health = ({ operatorHealth }: OperatorServices) =>
  endpoint(operatorContract, 'GET /api/operator/health', { ...shared, run: operatorHealth })

/**
 * What operators see and do on the dashboard. The mark is read from the stream of their account with each request, so
 * that it ends at once.
 */
export const operatorRoutes = (services: OperatorServices): readonly Route[] => [
  ...lists(services),
  ...changes(services),
  health(services),
  ...operatorReclassifyRoutes(services),
]
