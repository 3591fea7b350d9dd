import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { type App, startApp } from '../app/service.ts'
import type { WaitingStart } from '../app/waiting.ts'
import { type Config, readConfig } from '../config.ts'
import { isUnused } from '../events/store.ts'
import { withTimeout } from '../lib/async/timeout.ts'
import { isFullDisk } from '../lib/datadir.ts'
import { createLogger } from '../logger.ts'
import type { Cli } from './cli.ts'
import { farewell, waitingLine, welcome } from './welcome.ts'

/** `linkledger start` */
export const addStartCommand = (program: Command, cli: Cli) =>
  program
    .command('start')
    .description('run the service (the default command)')
    .action(() => start(cli))

/**
 * Maximum ms of a stop besides the drain. With the default drain, it is below the 45 s that the documentation asks
 * operators to allow.
 */
const timeoutMs = 22_000

/** Calls `onLate` when closing takes longer than `ms`: an unresponsive server must not keep the process running. */
export const closeWithin = async (close: () => Promise<void>, ms: number, onLate: () => void) => {
  const late = setTimeout(onLate, ms)
  await close()
  clearTimeout(late)
}

/** ms for which a process may keep running after its data is closed */
const lingerMs = 1000

/** Prints where the data is, and ends the process soon, even with open resources: nothing can be written any more. */
const leave = (cli: Cli, config: Config, log: Logger) => {
  cli.print(farewell(config))
  const end = () => {
    log.debug(
      { resources: process.getActiveResourcesInfo() },
      'open resources keep the process running; it exits anyway',
    )
    process.exit()
  }
  setTimeout(end, lingerMs).unref()
}

/** ms between attempts to start on a full disk */
const roomMs = 2000

/** Starts the service as soon as the disk has room: closes a failed attempt, and tries again. */
const startWithRoom = async (config: Config, log: Logger, waiting: WaitingStart, onFull: () => void): Promise<App> => {
  for (let tries = 0; ; tries++) {
    try {
      return await startApp(config, log, {}, waiting)
    } catch (error) {
      if (!isFullDisk(error) || waiting.signal.aborted) throw error
      if (tries === 0) onFull()
      // about once a minute
      if (tries % 30 === 0)
        log.error({ err: error, dir: config.DATA_DIR }, 'the disk is full: the service starts when there is room')
      await sleep(roomMs, undefined, { signal: waiting.signal })
    }
  }
}

export type Stop = (signal: NodeJS.Signals) => void

/**
 * Returns a function that sets how to stop what currently runs. The listeners are never removed: a signal that arrives
 * while one listener replaces another would be lost.
 */
export const createStops = () => {
  const signals = ['SIGTERM', 'SIGINT'] as const
  let current: Stop | undefined
  const listener: Stop = (signal) => current?.(signal)
  return {
    by: (stop: Stop): void => {
      if (!current) for (const signal of signals) process.on(signal, listener)
      current = stop
    },
    end: (): void => {
      for (const signal of signals) process.off(signal, listener)
    },
  }
}

type Stops = ReturnType<typeof createStops>

/** Starts the service. Returns undefined when it was stopped while it waited for its event store or for disk space. */
const startOrWait = async (cli: Cli, config: Config, log: Logger, stops: Stops): Promise<App | undefined> => {
  const ended = new AbortController()
  const heed = () =>
    stops.by((signal) => {
      log.info({ signal }, 'stopping')
      ended.abort()
      stops.end() // a second one ends the process at once
    })
  const onWaiting: WaitingStart['onWaiting'] = (listening, problem) => {
    heed()
    cli.print(waitingLine(listening, problem))
  }
  try {
    const app = await startWithRoom(config, log, { onWaiting, onListening: heed, signal: ended.signal }, heed)
    if (!ended.signal.aborted) return app
    await app.close()
  } catch (error) {
    stops.end()
    if (!ended.signal.aborted) throw error
  }
  return undefined
}

const start = async (cli: Cli) => {
  const config = readConfig(cli.variables)
  const log = createLogger(config)
  const stops = createStops()
  const app = await startOrWait(cli, config, log, stops)
  if (!app) return leave(cli, config, log)

  let stopping: Promise<void> | undefined
  stops.by((signal) => {
    stopping ??= (async () => {
      log.info({ signal }, 'stopping')
      await closeWithin(app.close, config.DRAIN_TIMEOUT_SECONDS * 1000 + timeoutMs, () => {
        log.error(
          'a server does not answer, so the process ends without closing all connections; the next start recovers',
        )
        // an exit waits for calls to the file system, which may be what is stuck
        process.kill(process.pid, 'SIGKILL')
      })
      leave(cli, config, log)
    })()
  })

  // the log: while the read tables are filled for the first time, they do not say whether there are accounts
  // a log that takes long to search is not new
  const isNew = await withTimeout(2000, isUnused(app.ledger.store)).catch(() => false)
  cli.print(welcome({ config, ...app, isNew }))
}
