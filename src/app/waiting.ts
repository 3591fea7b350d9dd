import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { listenOn } from '../http/server/listen.ts'
import { createSendPage } from '../http/public/page/page.ts'
import { closeServer, createHttpServer, nothingHere, serve, type Site } from '../http/server/server.ts'
import { waitingSite } from '../http/server/waiting.ts'
import { type Cleanup, createCleanup } from '../lib/cleanup.ts'
import { startOperatorPort } from './operator/port.ts'
import { publicOperator } from './site/site.ts'

/** How to start while the event store is away and there is nothing to serve. */
export interface WaitingStart {
  /** Called when the service listens, and waits. */
  readonly onWaiting: (listening: Omit<Listening, 'end'>, problem: string) => void
  /** Called when the service listens, and waits only for what it shows. */
  readonly onListening?: () => void
  /** ends waiting */
  readonly signal: AbortSignal
  /** ms before it waits, or starts with the read tables that it has; 2 s by default */
  readonly timeoutMs?: number
}

/** Where a service listens that waits for its event store. */
export interface Listening {
  /** http://host:port */
  readonly address: string
  readonly operatorAddress: string
  /** Stops listening, and returns the ports for what listens next. */
  readonly end: () => Promise<Pick<Config, 'PORT' | 'OPERATOR_PORT'>>
}

/** ms to finish open requests; each is answered at once */
const drainTimeout = 1000
const noSite: Site = { api: nothingHere, redirect: nothingHere, below: {} }
const portOf = (address: string) => Number(new URL(address).port)

/** Listens and responds 503. `problem` returns what is being waited for. */
export const listenWaiting = async (
  config: Config,
  problem: () => string,
  { log, cleanup }: { readonly log: Logger; readonly cleanup: Cleanup },
): Promise<Listening> => {
  const own = createCleanup((error) => log.error({ err: error }, 'closing failed'))
  cleanup.defer(own.run)
  const alive = { status: 200, body: { status: 'ok' } }
  const details = () => ({ ready: false, problems: [`the service waits for its event store: ${problem()}`] })
  const routes = { '/healthz': () => alive, '/readyz': () => ({ status: 503, body: details() }) }
  const operatorAddress = await startOperatorPort(config, routes, { log, cleanup: own })
  const server = createHttpServer()
  const port = await listenOn(server, config.PORT, config.HOST)
  own.defer(() => closeServer(server, drainTimeout))
  const unready = () => ({ status: 503, body: { ready: false } })
  const probes = { '/healthz': () => alive, '/readyz': unready, '/readyz?of=api': unready }
  serve(server, {
    ...(config.ROLES.has('http')
      ? waitingSite(
          createSendPage(publicOperator(config), () => ({ host: new URL(config.BASE_URL ?? 'http://localhost').host })),
        )
      : noSite),
    probes,
  })
  // this server closes when the event store is there: no client may count on the connection
  server.prependListener('request', (_, res) => res.setHeader('Connection', 'close'))
  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST
  return {
    address: `http://${host}:${port}`,
    operatorAddress,
    end: async () => {
      await own.run()
      return { PORT: port, OPERATOR_PORT: portOf(operatorAddress) }
    },
  }
}
