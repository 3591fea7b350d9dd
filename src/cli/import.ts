import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { ourHosts } from '../app/hosts.ts'
import { recordOperation } from '../app/operator.ts'
import { openDomains } from '../cache/domains.ts'
import { importClicks } from '../clicks/import.ts'
import { logTo } from '../clicks/report.ts'
import { lockDataDir } from '../lib/folderlock.ts'
import { domainsChanged } from '../queries/domain.ts'
import { openCountries } from '../visitor/country.ts'
import { BadCommand, type Cli } from './cli.ts'
import { withLedger } from './ledger.ts'

/** `linkledger spool …` */
export const addSpoolCommands = (program: Command, cli: Cli) =>
  program
    .command('spool')
    .description('work on the click spool')
    .command('import')
    .description('record the clicks in the spool of a machine that no longer runs; repeating it counts no click twice')
    .argument('<folder>', 'DATA_DIR of that machine, or the folder `spool` in it')
    .action((folder: string) => importSpools(cli, folder))

const importSpools = async (cli: Cli, dir: string) => {
  if (!existsSync(dir)) throw new BadCommand(`there is no folder ${dir}`)
  const spools = existsSync(join(dir, 'spool')) ? join(dir, 'spool') : dir
  const folder = await lockDataDir(dirname(resolve(spools)))
  try {
    await withLedger(cli, async (ledger) => {
      const domains = openDomains()
      domains.set(await domainsChanged(ledger.reader, 0n))
      const { isOurHost } = ourHosts(ledger.config, domains)
      const { store, keys, log } = ledger
      const options = { store, keyring: keys, log: logTo(log), countryOf: openCountries().of, isOurHost }
      const count = await importClicks(options, spools)
      await recordOperation(store, { type: 'SpoolImported', data: { folder: spools, clicks: count } }, ledger.config)
      cli.print(`${count} new clicks recorded from ${spools}.`)
    })
  } finally {
    await folder.release()
  }
}
