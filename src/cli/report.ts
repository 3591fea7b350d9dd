import type { Command } from 'commander'
import { operatorContext } from '../app/operator/caller.ts'
import { report } from '../commands/operator/report.ts'
import { readReference, reference } from '../lib/reference.ts'
import { listReports, type ReportRow } from '../queries/operator/report.ts'
import { streamId } from '../events/streams.ts'
import { BadCommand, type Cli } from './cli.ts'
import { type Confirmation, confirm, requireAnswerable, withConfirmation } from './confirm.ts'
import { withTables } from './ledger.ts'
import { oneLine } from './oneline.ts'

interface ListOptions {
  readonly all?: boolean
  readonly limit: string
}

/** `linkledger report …` */
export const addReportCommands = (program: Command, cli: Cli) => {
  const reports = program.command('report').description('read what visitors have reported')
  reports
    .command('list')
    .description('list open reports, newest first, with the number of open ones about the same link')
    .option('--all', 'closed ones too')
    .option('--limit <n>', 'how many', '50')
    .action((options: ListOptions) => list(cli, options))
  reports
    .command('close')
    .description('mark reports as dealt with')
    .argument('<reference...>', 'as `report list` prints it')
    .action((references: readonly string[]) => close(cli, references))
  withConfirmation(
    reports
      .command('erase')
      .description('destroy what visitors wrote in reports for good, and close those that are open')
      .argument('<reference...>', 'as `report list --all` prints it'),
  ).action((references: readonly string[], options: Confirmation) => erase(cli, references, options))
}

const lines = ({ id, sent, closed, reason, open, address, account, message, email }: ReportRow): readonly string[] => {
  const date = sent.toISOString().slice(0, 16).replace('T', ' ')
  const head = `${reference(id)}  ${date}  ${reason.padEnd(8)}  ${String(open).padStart(4)}  ${String(account).padStart(7)}`
  return [
    `${head}  ${oneLine(address)}${closed ? ' (closed)' : ''}`,
    ...(message === null ? ['           (erased)'] : []),
    ...(message ? [`           ${oneLine(message)}`] : []),
    ...(email ? [`           from ${oneLine(email)}`] : []),
  ]
}

const list = (cli: Cli, { all = false, limit }: ListOptions) => {
  const wanted = /^\d{1,5}$/.test(limit) ? Number(limit) : 0
  if (wanted === 0) throw new BadCommand('--limit must be a whole number from 1 to 99999')
  return withTables(cli, async ({ reader }) => {
    const found = await listReports(reader, { limit: wanted, closed: all })
    if (found.length === 0) return cli.print(all ? 'There are no reports.' : 'There are no open reports.')
    cli.print('reference  sent (UTC)        reason    open  account  address')
    for (const line of found.flatMap(lines)) cli.print(line)
  })
}

const idsOf = (references: readonly string[]): readonly string[] =>
  references.map((text) => {
    const id = readReference(text)
    if (id === undefined) throw new BadCommand(`${JSON.stringify(text)} is not a reference such as 7KQ2-M9XD`)
    return id
  })

const erase = (cli: Cli, references: readonly string[], options: Confirmation) => {
  const ids = idsOf(references)
  requireAnswerable(cli, options)
  return withTables(cli, async ({ handler, config, keys }, waitUntilProjected) => {
    await confirm(cli, options, `What visitors wrote in ${ids.map(reference).join(', ')}: destroy it for good.`)
    for (const id of ids) {
      const { position } = await handler.handle(report, { type: 'EraseReport', id }, operatorContext(config, null))
      await keys.ofStreams.destroy([streamId('report', id)])
      await waitUntilProjected(position)
      cli.print(`Report ${reference(id)} is erased.`)
    }
  })
}

const close = (cli: Cli, references: readonly string[]) => {
  const ids = idsOf(references)
  return withTables(cli, async ({ handler, config }, waitUntilProjected) => {
    for (const id of ids) {
      const { position } = await handler.handle(report, { type: 'CloseReport', id }, operatorContext(config, null))
      await waitUntilProjected(position)
      cli.print(`Report ${reference(id)} is closed.`)
    }
  })
}
