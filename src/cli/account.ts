import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { SingleBar } from 'cli-progress'
import { type Ledger, newestSeen, openLedger, project } from '../app/ledger.ts'
import { account, type AccountCommand } from '../commands/account.ts'
import { refuse } from '../commands/decider.ts'
import type { Context } from '../commands/handle.ts'
import { readConfig } from '../config.ts'
import { newKey } from '../security/apikeys.ts'
import { register, Registration } from '../commands/register.ts'
import { expiry, firstProblem } from '../lib/fields.ts'
import { createLogger } from '../logger.ts'
import { advanceSequence, idSequence } from '../postgres/ids.ts'
import { projections } from '../projections/index.ts'
import { fill } from '../projections/fill.ts'
import { findAccountBy, listAccounts } from '../queries/account.ts'

export interface AccountOptions {
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly expires?: string | undefined
  readonly yes?: boolean | undefined
}
type Print = (line: string) => void

/** What an operator asked for cannot be done as asked; the message says what would be right. */
export class BadCommand extends Error {}
const bad = (message: string): never => {
  throw new BadCommand(message)
}

/** Works on the database of the running service, or starts PostgreSQL for as long as it takes. */
export const withLedger = async (work: (ledger: Ledger) => Promise<void>) => {
  const config = readConfig()
  const ledger = await openLedger(
    config,
    createLogger({ LOG_LEVEL: config.LOG_LEVEL === 'info' ? 'warn' : config.LOG_LEVEL }),
    'command',
  )
  try {
    await work(ledger)
  } finally {
    await ledger.close()
  }
}

/** The same with read tables that are up to date: brought there by the running service, or by this command if none runs. */
const withTables = (work: (ledger: Ledger, visible: (position: bigint) => Promise<void>) => Promise<void>) =>
  withLedger(async (ledger) => {
    const { db, store, tables } = ledger
    let seen = 0n
    const projector = project(ledger, async (filter, position) => {
      if (filter === 'domain') seen = position
    })
    const head = await store.head('domain')
    const until = async (done: () => Promise<boolean>) => {
      for (let tries = 0; tries < 200 && !(await done()); tries++) await sleep(25)
    }
    const visible = (position: bigint) => until(async () => seen >= position || (await newestSeen(db)) >= position)
    try {
      // a projector that stays passive means that a service is at work
      let passive = 0
      await until(async () => (projector.state().active ? seen >= head : passive++ > 40))
      await tables.refresh()
      await work(ledger, visible)
    } finally {
      await projector.stop()
    }
  })

const context = (id: number): Context => ({
  account: id,
  actor: { kind: 'operator' },
  request: 'command line',
  command: randomUUID(),
  at: new Date().toISOString(),
})

const known = async ({ reader }: Ledger, who: string | undefined) => {
  const found = await findAccountBy(reader, who ?? bad('say which account: an id, an e-mail or a username'))
  return found && found.status !== 'erased' ? found : refuse('not_found', `there is no account ${who}`)
}

const add = (email: string | undefined, options: AccountOptions, print: Print) =>
  withTables(async ({ handler, keys, db }, visible) => {
    const made = options.password ?? randomBytes(12).toString('base64url')
    const parsed = Registration.safeParse({
      email,
      password: made,
      ...(options.username ? { username: options.username } : {}),
    })
    if (!parsed.success) return bad(firstProblem(parsed.error))
    let position = 0n
    const answer = await register(keys.service, parsed.data, async (make) => {
      const own = context(0)
      const created = await handler.create(account, idSequence(db, 'account'), make, (id) => ({ ...own, account: id }))
      position = created.position
      return created
    })
    await visible(position)
    print(`account   ${answer.id}`)
    print(`username  ${answer.username}`)
    if (!options.password) print(`password  ${made}`)
    print(`API key   ${answer.api_key}`)
    print('The key is shown this once.')
  })

const change = (
  who: string | undefined,
  make: (id: number) => AccountCommand,
  done: (ledger: Ledger, id: number) => Promise<string>,
  print: Print,
) =>
  withTables(async (ledger, visible) => {
    const { id } = await known(ledger, who)
    const { position } = await ledger.handler.handle(account, make(id), context(id))
    await visible(position)
    print(await done(ledger, id))
  })

const replaceKey = async (who: string | undefined, { expires }: AccountOptions, print: Print) => {
  const ends = expiry.safeParse(expires ?? null)
  if (!ends.success) return bad(`--expires: ${firstProblem(ends.error)}`)
  await withTables(async (ledger, visible) => {
    const { id } = await known(ledger, who)
    const { id: key, key: apiKey, hash } = newKey(ledger.keys.service)
    const command = { type: 'IssueKey', id, apiKey: { key, hash, expires: ends.data } } as const
    await visible((await ledger.handler.handle(account, command, context(id))).position)
    print(`API key   ${apiKey}`)
    print('The old key is refused from now on. This one is shown this once.')
  })
}

const list = (print: Print) =>
  withTables(async ({ reader }) => {
    const rows = await listAccounts(reader)
    print(`${'id'.padStart(6)}  ${'status'.padEnd(8)}  ${'registered'.padEnd(10)}  ${'username'.padEnd(20)}  e-mail`)
    for (const { id, status, registered, username, email } of rows)
      print(
        `${String(id).padStart(6)}  ${status.padEnd(8)}  ${registered.toISOString().slice(0, 10)}  ${(username ?? '').padEnd(20)}  ${email ?? ''}`,
      )
  })

/** `linkledger account …` */
export const accountCommand = async (
  [what, who]: readonly string[],
  options: AccountOptions,
  print: Print,
): Promise<void> => {
  switch (what) {
    case 'add':
      return add(who, options, print)
    case 'list':
      return list(print)
    case 'key':
      return replaceKey(who, options, print)
    case 'disable':
      return change(
        who,
        (id) => ({ type: 'DisableAccount', id }),
        async (_, id) => `Account ${id} is disabled.`,
        print,
      )
    case 'enable':
      return change(
        who,
        (id) => ({ type: 'EnableAccount', id }),
        async (_, id) => `Account ${id} is enabled.`,
        print,
      )
    case 'erase':
      if (!options.yes)
        return bad(
          'erasing is for good: the account\u2019s links answer 404 and its personal data is destroyed. Say --yes to do it.',
        )
      return change(
        who,
        (id) => ({ type: 'EraseAccount', id }),
        async ({ keys }, id) => {
          await keys.destroy([id])
          return `Account ${id} is erased. Older backups of the schema \`state\` still hold its key: start the service once on a restored one, and it is destroyed again.`
        },
        print,
      )
    default:
      return bad('say what to do: linkledger account add|list|key|disable|enable|erase')
  }
}

/** `linkledger rebuild`: new tables beside the old ones, which are read until the new ones have caught up. */
export const rebuildCommand = (print: Print): Promise<void> =>
  withLedger(async (ledger) => {
    const bar = new SingleBar({
      format: '{name} [{bar}] {percentage}% | {value}/{total} | {eta_formatted} left',
      noTTYOutput: false,
    })
    for (const projection of projections) {
      bar.start(Number(await ledger.store.head(projection.filter)), 0, { name: projection.name.padEnd(10) })
      await fill(ledger, projection, new AbortController().signal, (position, head) => {
        bar.setTotal(Number(head))
        bar.update(Number(position))
      })
      bar.update(bar.getTotal())
      bar.stop()
    }
    await setSequences(ledger)
    print('The read tables are built anew and in use.')
  })

/** After a rebuild the sequences stand behind the highest id that the log knows. */
const setSequences = async ({ db, tables }: Ledger) => {
  await tables.refresh()
  for (const [kind, table] of [
    ['account', 'accounts'],
    ['link', 'links'],
  ] as const) {
    const { rows } = await db.raw<{ rows: { max: string | null }[] }>(`select max(id) from ${tables.name(table)}`)
    if (rows[0]?.max) await advanceSequence(db, kind, Number(rows[0].max))
  }
}
