import { readFile } from 'node:fs/promises'
import { type Countries, openCountries, readCountryTable } from '../clicks/visitor/geoip.ts'
import type { Cleanup } from '../lib/cleanup.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import { followFile } from './jobs/followfile.ts'
import type { Ledger } from './log/ledger.ts'

/** Opens the table that the settings name, or the one that is installed. Throws an `OperatorError` when it cannot. */
export const openConfiguredCountries = async ({ GEOIP_FILE: path }: Ledger['config']): Promise<Countries> => {
  if (path === undefined) return openCountries()
  try {
    return openCountries(readCountryTable(await readFile(path)))
  } catch (error) {
    throw new OperatorError(`GEOIP_FILE cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * Opens the table that the settings name and reads it again when its file changes, or the one that is installed. Throws
 * an `OperatorError` when the file cannot be read.
 */
export const followCountries = async (
  { config, jobs, log, metrics }: Pick<Ledger, 'config' | 'jobs' | 'log' | 'metrics'>,
  cleanup: Pick<Cleanup, 'defer'>,
): Promise<Countries> => {
  const countries = openCountries()
  const { GEOIP_FILE: path } = config
  if (path !== undefined) {
    const job = jobs.open('geoip_file', 'GEOIP_FILE is not read')
    const stop = await followFile({
      setting: 'GEOIP_FILE',
      path,
      maxMiB: 1024,
      use: (bytes) => {
        countries.use(readCountryTable(bytes))
        job.worked()
        const { name, built } = countries.table()
        log.info({ table: name, built }, 'table of countries read')
      },
      onProblem: job.telling((error) =>
        log.warn({ err: error }, 'GEOIP_FILE cannot be read; its last table stays in use'),
      ),
    })
    cleanup.defer(stop)
  } else {
    // now, and not while the first visitor waits
    countries.table()
  }
  metrics.registerGauge({
    name: 'linkledger_country_table_age_seconds',
    help: 'Seconds since the table was built that tells the countries of visitors',
    label: 'table',
    read: () => {
      const { name, built } = countries.table()
      return { [name]: (Date.now() - built.getTime()) / 1000 }
    },
  })
  return countries
}
