import { randomUUID } from 'node:crypto'
import { account, type AccountCommand } from '../../src/commands/accounts/account.ts'
import { domain } from '../../src/commands/domains/domain.ts'
import { handler } from '../../src/commands/handle.ts'
import { link } from '../../src/commands/links/link.ts'
import { block } from '../../src/commands/operator/block.ts'
import { report } from '../../src/commands/operator/report.ts'
import { openClickRecord } from '../../src/clicks/record.ts'
import type { ClickEntry } from '../../src/clicks/entry.ts'
import { newKey } from '../../src/security/apikeys.ts'
import { createDomainCheck, domainToken } from '../../src/commands/domains/check.ts'
import { checkDomains } from '../../src/app/jobs/domaincheck.ts'
import type { Resolver } from '../../src/lib/dns.ts'
import { idSequence } from '../../src/postgres/ids.ts'
import type { TestApp } from '../support/app.ts'
import { at, classified, linkFields } from '../support/events.ts'
import { Killed, oneByOne } from '../support/writer.ts'

type Ledger = TestApp['app']['ledger']

const minute = 60_000

const context = (owner: number, kind: 'operator' | 'service' | 'key' = 'operator', when = new Date()) => ({
  account: owner,
  actor: { kind },
  request: 'command line',
  command: randomUUID(),
  at: when.toISOString(),
})

/** Returns functions that change accounts as the operator's commands do. */
export const withOperator = ({ handler: { handle }, keys }: Ledger) => {
  const change = (command: Extract<AccountCommand, { readonly id: number }>) =>
    handle(account, command, context(command.id))
  return {
    disable: (id: number) => change({ type: 'DisableAccount', id }),
    enable: (id: number) => change({ type: 'EnableAccount', id }),
    erase: (id: number) => change({ type: 'EraseAccount', id }),
    /** Replaces the account's API key and returns the new one. */
    issueKey: async (id: number, expires: string) => {
      const { id: key, key: apiKey, hash } = newKey(keys.service)
      await change({ type: 'IssueKey', id, apiKey: { key, hash, expires } })
      return apiKey
    },
  }
}

const noRecords = async () => []
/**
 * Returns a resolver by which all hosts belong to all of the first accounts, except those that are called `unverified`.
 */
export const provingResolver = (ledger: () => Pick<Ledger, 'keys'>): Resolver => ({
  resolve4: noRecords,
  resolve6: noRecords,
  resolveCname: noRecords,
  resolveTxt: async (host) =>
    host.startsWith('_linkledger.unverified')
      ? []
      : Array.from({ length: 20 }, (_, n) => [domainToken(ledger().keys.service, n + 1)]),
})

/**
 * Checks the DNS of all domains once, then appends the results of more checks: one domain becomes unverified, another
 * active again. The operator releases a third.
 */
export const withDomainChecks = async (
  { reader, handler: commands, keys }: Ledger,
  { checked, unverified, released }: Readonly<Record<'checked' | 'unverified' | 'released', number>>,
) => {
  const onProblem = (error: unknown) => {
    throw error
  }
  await checkDomains({
    reader,
    handler: commands,
    check: createDomainCheck({
      proof: 'txt',
      targets: [],
      resolver: provingResolver(() => ({ keys })),
      pepper: keys.service,
    }),
    onFailed: () => {},
    onProblem,
  })
  const free = new Date(Date.now() + 30 * 24 * 60 * minute).toISOString()
  for (const id of [checked, unverified])
    await commands.handle(domain, { type: 'UnverifyDomain', id, free }, context(1, 'service'))
  await commands.handle(
    domain,
    { type: 'VerifyDomain', id: checked, host: 'checked.example.org', token: randomUUID(), proof: 'txt' },
    context(1, 'service'),
  )
  const now = new Date().toISOString()
  await commands.handle(domain, { type: 'ReleaseDomain', id: released, now }, context(1))
}

/**
 * Claims names in processes that are killed before they append the resource, as can happen on an engine without
 * transactions. Another account then takes the names over, which fences off one link that was never created and one
 * that exists.
 */
export const withClaims = async (
  { store, db, handler: commands }: Ledger,
  { account: owner, rival, link: living }: Readonly<Record<'account' | 'rival' | 'link', number>>,
) => {
  const dying = handler(oneByOne(store, () => Promise.reject(new Killed())))
  const survive = (work: Promise<unknown>) =>
    work.then(
      () => Promise.reject(new Error('a process that should have been killed was not')),
      (error: unknown) => {
        if (!(error instanceof Killed)) throw error
      },
    )
  const nextId = idSequence(db, 'link')
  const now = new Date().toISOString()
  const create = (alias: string, as: number) => (id: number) =>
    ({
      type: 'CreateLink',
      id,
      account: as,
      fields: { ...linkFields, alias, title: `Holder of ${alias}` },
      password: null,
      token: randomUUID(),
      now,
    }) as const
  await survive(dying.create(link, nextId, create('abandoned', owner), () => context(owner, 'key')))
  const update = { type: 'UpdateLink', id: living, account: owner, token: randomUUID(), now } as const
  await survive(dying.handle(link, { ...update, changes: { alias: 'never-had' } }, context(owner, 'key')))
  for (const alias of ['abandoned', 'never-had'])
    await commands.create(link, nextId, create(alias, rival), () =>
      context(rival, 'key', new Date(Date.now() + 2 * minute)),
    )
}

/** The click log of a Kafka topic. */
export const topic = { log: 'linkledger.clicks', partitions: 2 } as const

/**
 * Records clicks of several days, from a spool that lost some and dropped others: directly into the log, and through
 * Kafka.
 */
export const withClickLogs = async (
  { store }: Ledger,
  { account: owner, link: id, spool }: { readonly account: number; readonly link: number; readonly spool: string },
) => {
  const clicked = (seq: number, day: number): ClickEntry => {
    const recorded = classified({
      at: at(day * 86_400 + seq),
      account: owner,
      link: id,
      country: ['CA', 'DE', 'FR', ''][seq % 4]!,
      language: ['fr', 'de', ''][seq % 3]!,
      referrer: ['', 'twitter.com', 'example.net'][seq % 3]!,
      class: (['human', 'human', 'bot', 'preview'] as const)[seq % 4]!,
      visitor: (0xabcdef + (seq % 5)).toString(16).padStart(16, 'f'),
      source: { kind: (['link', 'rotator'] as const)[seq % 2]!, id },
      destination: `https://example.com/${seq}`,
      agent: 'Mozilla',
    })
    return { spool, seq, rules: 1, click: recorded }
  }
  const dropped = (seq: number): ClickEntry => ({ spool, seq, dropped: { count: 12, from: at(10), to: at(20) } })
  const local = openClickRecord({ store, log: 'local', partitions: 1 })
  await local.record(0, [clicked(1, 0), clicked(2, 1), clicked(5, 31), dropped(6), clicked(7, 32)])
  const fromKafka = openClickRecord({ store, ...topic })
  const messages = [...Array(8).keys()].map((n) => ({ ...clicked(n + 1, n * 9), offset: 100 + n }))
  await fromKafka.record(0, messages.slice(0, 4))
  await fromKafka.record(0, messages.slice(2))
  await fromKafka.record(1, [
    { ...clicked(3, 3), offset: 4 },
    { ...dropped(4), offset: 5 },
  ])
}

/** Lets the operator do what came after release 0.1.0. */
export const withLaterOperator = async (
  { handler: { handle } }: Ledger,
  { account: owner, link: id }: Readonly<Record<'account' | 'link', number>>,
) => {
  const onAccount = async (...commands: readonly AccountCommand[]) => {
    for (const command of commands) await handle(account, command, context(owner))
  }
  await onAccount(
    { type: 'SetRateLimit', id: owner, limit: 300 },
    { type: 'MarkOperator', id: owner },
    { type: 'UnmarkOperator', id: owner },
    { type: 'ScheduleErasure', id: owner, due: new Date(Date.now() + 60 * minute).toISOString() },
    { type: 'CancelErasure', id: owner },
    { type: 'AddSecondFactor', id: owner, secret: 'JBSWY3DPEHPK3PXP', recovery: ['one', 'two'] },
    { type: 'UseRecoveryCode', id: owner, hash: 'one' },
    { type: 'RemoveSecondFactor', id: owner },
  )
  const host = { kind: 'host', value: 'blocked.example.net' } as const
  await handle(block, { type: 'Block', ...host, reason: 'spam' }, context(owner))
  await handle(block, { type: 'Unblock', ...host }, context(owner))
  const path = { kind: 'pattern', value: 'sites.example.net/evil*' } as const
  await handle(block, { type: 'Block', ...path, reason: 'malware' }, context(owner))
  const about = { account: owner, kind: 'link', subject: id, address: 'go.example.com/of-ida', reason: 'spam' } as const
  const words = { message: 'This is spam', email: 'rae@example.net' }
  for (const reference of ['AAAA-1111', 'BBBB-2222'])
    await handle(report, { type: 'SendReport', id: reference, ...about, ...words }, context(owner))
  await handle(report, { type: 'EraseReport', id: 'AAAA-1111' }, context(owner))
  const answers = [{ url: 'https://example.com/ida', reason: 'x-frame-options' }] as const
  const now = new Date().toISOString()
  await handle(link, { type: 'CheckFraming', id, answers, now }, context(owner, 'service'))
}
