import { constants, existsSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { openConfiguredCountries } from '../app/countries.ts'
import { isOperatorHost, ourHosts } from '../app/site/hosts.ts'
import type { Ledger } from '../app/log/ledger.ts'
import { recordOperation } from '../app/operator/caller.ts'
import { openDomains } from '../cache/domains.ts'
import { type ImportOptions, importClicks } from '../clicks/import.ts'
import { logTo } from '../clicks/report.ts'
import { findRoutes } from '../clicks/spool/folders.ts'
import { lockDataDir } from '../lib/folderlock.ts'
import { domainsChanged } from '../queries/domains/domain.ts'
import { BadCommand, type Cli } from './cli.ts'
import { withLedger } from './ledger.ts'

/** `linkledger spool import` */
export const addImportCommand = (spool: Command, cli: Cli) =>
  spool
    .command('import')
    .description('record the clicks in the spool of a machine that no longer runs; repeating it counts no click twice')
    .argument('<folder>', 'DATA_DIR of that machine, or the folder `spool` in it')
    .action((folder: string) => importSpools(cli, folder))

/**
 * Locks the data folder of the spool, if a service may use it. No service uses a copy in another folder, or a disk that
 * is mounted read-only.
 */
const lockSpools = async (spools: string) => {
  const dir = dirname(spools)
  const isReadOnly = await access(dir, constants.W_OK).then(
    () => false,
    ({ code }: NodeJS.ErrnoException) => code === 'EROFS',
  )
  return basename(spools) === 'spool' && !isReadOnly ? lockDataDir(dir) : undefined
}

const importSpools = async (cli: Cli, dir: string) => {
  if (!existsSync(dir)) throw new BadCommand(`there is no folder ${dir}`)
  const inside = existsSync(join(dir, 'spool'))
  if (!inside && (await findRoutes(dir)).length === 0)
    throw new BadCommand(`there is no spool in ${dir}: name DATA_DIR of that machine, or the folder \`spool\` in it`)
  const spools = inside ? join(dir, 'spool') : dir
  const folder = await lockSpools(resolve(spools))
  try {
    await withLedger(cli, async (ledger) => {
      const count = await importClicks(await importOptions(ledger), spools)
      await recordOperation(
        ledger.store,
        { type: 'SpoolImported', data: { folder: spools, clicks: count } },
        ledger.config,
      )
      cli.print(`${count} new clicks recorded from ${spools}.`)
    })
  } finally {
    await folder?.release()
  }
}

/** Returns what it takes to classify and record clicks outside of the service. */
export const importOptions = async ({ config, reader, store, keys, log }: Ledger): Promise<ImportOptions> => {
  const domains = openDomains(isOperatorHost(config))
  domains.set(await domainsChanged(reader, 0n))
  const { isOurHost } = ourHosts(config, domains)
  const { of: countryOf } = await openConfiguredCountries(config)
  return { store, keyring: keys, log: logTo(log), countryOf, isOurHost }
}
