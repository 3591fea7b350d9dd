import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { domain } from '../commands/domain.ts'
import type { Handler } from '../commands/handle.ts'
import type { Reader } from '../queries/reader.ts'

export interface DomainChecks {
  readonly db: Knex
  readonly reader: Reader
  readonly handler: Handler
  readonly pointsToUs: (host: string) => Promise<boolean>
  readonly onProblem: (error: unknown, what: string) => void
  /** ms between looks for domains that are due */
  readonly every?: number
}

/** So many looks in a row, a day apart, must fail before a domain's links stop. */
const patience = 3

/** The living domains that have not been looked at for a day, taken so that no other process takes them too. */
const due = async ({ db, reader }: DomainChecks) => {
  const { rows } = await db.raw<{ rows: { id: string; account: string; domain: string; failures: number }[] }>(
    `insert into state.domain_checks as c (domain, checked_at, failures)
     select d.id, now(), 0 from ${reader.table('domains')} d
     where d.deleted is null and not exists (
       select 1 from state.domain_checks c where c.domain = d.id and c.checked_at > now() - interval '1 day')
     order by d.id limit 100
     on conflict (domain) do update set checked_at = now() where c.checked_at <= now() - interval '1 day'
     returning domain as id, failures,
       (select account from ${reader.table('domains')} d where d.id = c.domain),
       (select d.domain from ${reader.table('domains')} d where d.id = c.domain) as domain`,
  )
  return rows.map((row) => ({ ...row, id: Number(row.id), account: Number(row.account) }))
}

/** Looks at the DNS of every branded domain once a day; one that leads elsewhere three times stops, and lives again once it is right. */
export const checkDomains = async (options: DomainChecks) => {
  const { db, handler, pointsToUs } = options
  for (const { id, account, domain: address, failures } of await due(options)) {
    // a name server that does not answer says nothing about the domain
    const right = await pointsToUs(new URL(address).hostname).catch(() => undefined)
    if (right === undefined) continue
    const failed = right ? 0 : failures + 1
    await db('state.domain_checks').where({ domain: id }).update({ failures: failed })
    if (!right && failed < patience) continue
    await handler.handle(
      domain,
      { type: 'CheckDomain', id, verified: right },
      { account, actor: { kind: 'service' }, request: '', command: randomUUID(), at: new Date().toISOString() },
    )
  }
}

/** Answers how to stop it. */
export const startDomainChecks = (options: DomainChecks) => {
  let running = Promise.resolve()
  const look = () => {
    running = running
      .then(() => checkDomains(options))
      .catch((error: unknown) => options.onProblem(error, 'domains could not be checked'))
  }
  const timer = setInterval(look, options.every ?? 600_000)
  return async () => {
    clearInterval(timer)
    await running
  }
}
