import { join } from 'node:path'
import type { Command } from 'commander'
import type { Ledger } from '../app/log/ledger.ts'
import { operatorOf, recordOperation } from '../app/operator/caller.ts'
import { dropSpool, type ListedSpool, listSpools, recordSpool } from '../clicks/import.ts'
import { logTo } from '../clicks/report.ts'
import { BadCommand, type Cli } from './cli.ts'
import { addImportCommand, importOptions } from './import.ts'
import { withLedger } from './ledger.ts'

/** `linkledger spool …` */
export const addSpoolCommands = (program: Command, cli: Cli) => {
  const spool = program.command('spool').description('work on the click spool')
  spool
    .command('list')
    .description('list the spools in DATA_DIR, with the clicks that are not counted yet, and what is kept aside')
    .action(() => list(cli))
  spool
    .command('accept')
    .description('count the clicks of a spool that is kept aside')
    .argument('<id>', 'id of the spool, as `spool list` prints it')
    .action((id: string) => accept(cli, id))
  spool
    .command('drop')
    .description('delete a spool that is kept aside; its clicks are never counted')
    .argument('<id>', 'id of the spool, as `spool list` prints it')
    .option('--yes', 'confirm that the clicks are lost for good')
    .action((id: string, { yes }: { readonly yes?: boolean }) => drop(cli, id, yes === true))
  addImportCommand(spool, cli)
}

const listed = ({ config, store, log }: Ledger) =>
  listSpools({ store, log: logTo(log) }, join(config.DATA_DIR, 'spool'))

const describe = ({ spool, dir, waiting, reason }: ListedSpool): string => {
  const state = reason === undefined ? 'are recorded by the service' : `are kept aside: ${reason}`
  return `${spool.id}  ${waiting} clicks wait in ${dir} and ${state}`
}

const list = (cli: Cli) =>
  withLedger(cli, async (ledger) => {
    const spools = await listed(ledger)
    if (spools.length === 0) cli.print('There are no spools.')
    for (const one of spools) cli.print(describe(one))
  })

const findAside = async (ledger: Ledger, id: string): Promise<ListedSpool> => {
  const found = (await listed(ledger)).filter(({ spool }) => spool.id === id)
  if (found.length === 0) throw new BadCommand(`there is no spool ${id}: see linkledger spool list`)
  const aside = found.find(({ reason }) => reason !== undefined)
  if (!aside) throw new BadCommand(`the spool ${id} is not kept aside: the service records its clicks`)
  return aside
}

const accept = (cli: Cli, id: string) =>
  withLedger(cli, async (ledger) => {
    const found = await findAside(ledger, id)
    const count = await recordSpool(await importOptions(ledger), found)
    const imported = { folder: found.dir, clicks: count }
    await recordOperation(ledger.store, { type: 'SpoolImported', data: imported }, ledger.config)
    await found.spool.remove()
    cli.print(`${count} new clicks recorded from the spool ${id}, which is deleted.`)
  })

const drop = (cli: Cli, id: string, isSure: boolean) =>
  withLedger(cli, async (ledger) => {
    const found = await findAside(ledger, id)
    if (!isSure) throw new BadCommand(`this deletes ${found.waiting} clicks for good: repeat it with --yes`)
    const count = await dropSpool({ store: ledger.store, log: logTo(ledger.log) }, found, operatorOf(ledger.config))
    cli.print(`The spool ${id} is deleted; ${count} clicks are never counted.`)
  })
