import { setTimeout as sleep } from 'node:timers/promises'
import type { LogOptions } from '../app/log/eventlog.ts'
import { type Ledger, openLedger } from '../app/log/ledger.ts'
import { project, projectedPosition } from '../app/log/projector.ts'
import { readConfig } from '../config.ts'
import { inDataDir } from '../lib/datadir.ts'
import { createSignal } from '../lib/async/signal.ts'
import { createLogger } from '../logger.ts'
import type { Cli } from './cli.ts'

/** Runs `work` on the database of the running service, or starts the embedded PostgreSQL for as long as it takes. */
export const withLedger = async (
  { variables, yieldCpu }: Cli,
  work: (ledger: Ledger) => Promise<void>,
  options?: Pick<LogOptions, 'acceptsEmptyLog' | 'keepsTables'>,
) => {
  const config = readConfig(variables)
  const log = createLogger({ LOG_LEVEL: config.LOG_LEVEL === 'info' ? 'warn' : config.LOG_LEVEL })
  const ledger = await openLedger(config, log, 'command', options).catch((error: unknown) => {
    throw inDataDir(config.DATA_DIR, error)
  })
  // not before: a PostgreSQL that the command has started keeps its priority
  yieldCpu?.()
  try {
    await work(ledger)
  } finally {
    await ledger.close()
  }
}

/** Resolves when the read tables have reached the position, or after five seconds. */
type WaitUntilProjected = (position: bigint) => Promise<void>

/** The interval and the maximum number of checks of a condition. */
const [interval, tries] = [25, 200]

/** Tries halted projections again, in this command and in the running service. */
type Retry = () => Promise<unknown>

/**
 * Like `withLedger`, with read tables that are up to date: the running service projects the log, or this command if
 * none runs.
 */
export const withTables = (
  cli: Cli,
  work: (ledger: Ledger, waitUntilProjected: WaitUntilProjected, retry: Retry) => Promise<void>,
) =>
  withLedger(cli, async (ledger) => {
    const { db, store, tables } = ledger
    let projected = 0n
    const retries = createSignal()
    const onSeen = async (filter: string, position: bigint) => {
      if (filter === 'domain') projected = position
    }
    const projector = project(ledger, onSeen, retries)
    const until = async (done: () => Promise<boolean>) => {
      for (let n = 0; n < tries && !(await done()); n++) await sleep(interval)
    }
    try {
      const head = await store.head('domain')
      await until(async () => {
        const { active, standby } = projector.state()
        return active ? projected >= head : standby && (await projectedPosition(db)) >= head
      })
      await tables.refresh()
      await work(
        ledger,
        (position) => until(async () => projected >= position || (await projectedPosition(db)) >= position),
        async () => {
          retries.notify()
          await ledger.notify({ kind: 'retry', from: ledger.instance })
        },
      )
    } finally {
      await projector.stop()
    }
  })
