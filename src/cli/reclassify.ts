import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import type { Ledger } from '../app/log/ledger.ts'
import { operatorContext } from '../app/operator/caller.ts'
import { openReclassifier } from '../app/reclassifier.ts'
import { account as accounts } from '../commands/accounts/account.ts'
import { stop } from '../lib/operatorerror.ts'
import { type Claim, recordReclassification, undoReclassification } from '../commands/statistics/reclassify.ts'
import type { Handled } from '../commands/context.ts'
import {
  type Reclassification,
  reclassification,
  type ReclassificationCommand,
} from '../commands/statistics/reclassification.ts'
import { currentRules } from '../http/statistics/reclassify.ts'
import { findAccountBy } from '../queries/accounts/account.ts'
import { clicksKeptSince } from '../queries/statistics/recorded.ts'
import {
  accountOfLink,
  awaitStatistics,
  clickedAccounts,
  listReclassifications,
  newerReclassification,
} from '../queries/statistics/reclassifications.ts'
import { planReclassification } from '../queries/statistics/reclassify.ts'
import type { Reader } from '../queries/reader.ts'
import { accountForms, accountName } from './account/name.ts'
import { BadCommand, type Cli } from './cli.ts'
import { withTables } from './ledger.ts'

interface Options {
  readonly dryRun?: boolean
  readonly account?: string
  readonly link?: string
}

/** ms of a statement: all clicks of an account may be read */
const timeout = 600_000

/** ms that a part may take before the others follow at once: no service may be running that applies it */
const timeoutMs = 60_000

/** `linkledger reclassify …`. It waits for the statistics for `ms` each time. */
export const addReclassifyCommands = (program: Command, cli: Cli, ms = timeoutMs) => {
  const command = program
    .command('reclassify')
    .description("classify recorded visits again, by the present rules for bots and each account's exclusions")
    .option('--dry-run', 'say what would change, and change nothing')
    .option('--account <account>', `only visits of an account: ${accountForms}`)
    .option('--link <id>', 'only visits of the link with this id')
    .action((options: Options) => reclassify(cli, options, ms))
  command
    .command('list')
    .description('list reclassifications, newest first')
    .action(() => list(cli))
  command
    .command('undo')
    .description('take a reclassification back: the newest one of its account')
    .argument('<id>', 'as `reclassify` has printed it')
    .action((id: string) => undo(cli, id, ms))
}

const withReader = (cli: Cli, work: (ledger: Ledger, reader: Reader) => Promise<void>) =>
  withTables(cli, async (ledger) => {
    const db = ledger.pool(1, timeout, 'reclassify')
    try {
      await work(ledger, { db, table: ledger.tables.name })
    } finally {
      await db.destroy()
    }
  })

/** Does work that changes visits of an account, with what writes it. */
const claimed = async <T>(
  ledger: Ledger,
  account: number,
  work: (
    write: (command: ReclassificationCommand) => Promise<Handled<Reclassification, unknown>>,
    claim: Pick<Claim, 'caughtUp'>,
  ) => Promise<T>,
): Promise<T> => {
  const { handler, config } = ledger
  const claim =
    (await openReclassifier(ledger).service.claim(account)) ??
    stop(`a reclassification of account ${account} is still running: try again when it is complete`)
  const handle = (command: ReclassificationCommand) => {
    if (claim.lost.aborted) stop('the connection to the database was lost: run it again')
    return handler.handle(reclassification, command, operatorContext(config, account))
  }
  try {
    return await work(handle, claim)
  } finally {
    await claim.end()
  }
}

/** `left`: the accounts that it is about, of which none was looked at. */
const requireCaughtUp = async ({ caughtUp }: Pick<Claim, 'caughtUp'>, ms: number, left: readonly number[]) => {
  if (await caughtUp(performance.now() + ms)) return
  const which = left.length === 1 ? `account ${left[0]} is` : `account ${left[0]} and ${left.length - 1} more are`
  stop(
    `the statistics do not have all of the log yet, so ${which} left. Run it again once the service runs and has caught up: it goes on with what is left`,
  )
}

/** Returns the accounts that are meant. */
const accountsOf = async (reader: Reader, { account, link }: Options): Promise<readonly number[]> => {
  const owner = link === undefined ? undefined : await accountOfLink(reader, Number(link))
  if (link !== undefined && owner === undefined) return stop(`link ${link} has no clicks`)
  if (account === undefined) return owner === undefined ? clickedAccounts(reader) : [owner]
  const found = await findAccountBy(reader, accountName(account))
  if (!found) return stop(`there is no account ${account}`)
  if (owner !== undefined && owner !== found.id) return stop(`link ${link} belongs to another account`)
  return [found.id]
}

const reclassify = (cli: Cli, options: Options, ms: number) => {
  if (options.link !== undefined && !/^[1-9]\d{0,14}$/.test(options.link))
    throw new BadCommand(`--link must be the id of a link, not ${JSON.stringify(options.link)}`)
  return withReader(cli, async (ledger, reader) => {
    const link = options.link === undefined ? undefined : Number(options.link)
    let all = 0
    const meant = await accountsOf(reader, options)
    for (const [i, account] of meant.entries()) {
      const id = randomUUID()
      const plan = async () => {
        const { exclusions } = (await ledger.handler.load(accounts, account)).state
        return planReclassification(reader, currentRules, { account, link, exclusions })
      }
      const pace = (position: bigint) => awaitStatistics(reader, position, performance.now() + ms)
      const apply = () =>
        claimed(ledger, account, async (write, claim) => {
          await requireCaughtUp(claim, ms, meant.slice(i))
          const { changes, parts } = await plan()
          await recordReclassification(write, id, parts, pace)
          return { changes, parts }
        })
      const { changes, parts } = options.dryRun ? await plan() : await apply()
      if (parts.length === 0) continue
      cli.print(`account ${account}${options.dryRun ? '' : `, reclassification ${id}`}`)
      for (const { from, to, rule, visits } of changes) {
        all += visits
        cli.print(`  ${from} -> ${to}: ${visits}  ${rule}`.trimEnd())
      }
    }
    if (all === 0) return cli.print(`Every visit has its class by rules ${currentRules.version}.`)
    cli.print(
      options.dryRun
        ? `${all} visits would get another class by rules ${currentRules.version}. Nothing was changed.`
        : `${all} visits get another class by rules ${currentRules.version}. Statistics show it shortly.`,
    )
  })
}

const list = (cli: Cli) =>
  withTables(cli, async ({ reader }) => {
    const found = await listReclassifications(reader)
    if (found.length === 0) return cli.print('There are no reclassifications.')
    for (const { id, account, at, rules, visits, undone } of found)
      cli.print(
        `${at.toISOString().slice(0, 16).replace('T', ' ')}  ${id}  account ${account}  rules ${rules}  ${visits} visits${undone ? '  taken back' : ''}`,
      )
  })

const undo = (cli: Cli, id: string, ms: number) => {
  if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(id))
    throw new BadCommand(`${JSON.stringify(id)} is no id of a reclassification: linkledger reclassify list shows them`)
  return withReader(cli, async (ledger, reader) => {
    const { account } = (await ledger.handler.load(reclassification, id)).state
    const since = ((await clicksKeptSince(reader)) ?? new Date(0)).toISOString()
    const pace = (position: bigint) => awaitStatistics(reader, position, performance.now() + ms)
    const check = async (part: number) => {
      const newer = await newerReclassification(reader, id, { account, part })
      if (newer !== undefined) stop(`take reclassification ${newer} of account ${account} back first: it is newer`)
    }
    await claimed(ledger, account, async (write, claim) => {
      await requireCaughtUp(claim, ms, [account])
      const { left } = (await ledger.handler.load(reclassification, id)).state
      await undoReclassification(write, id, { account, since, left }, { pace, check })
    })
    cli.print('Taken back. Statistics show it shortly.')
  })
}
