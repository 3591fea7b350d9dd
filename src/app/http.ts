import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { type ConnectionLimit, limitConnections } from '../http/server/connections.ts'
import { requireHttps } from '../http/server/hsts.ts'
import { listenOn } from '../http/server/listen.ts'
import {
  closeServer,
  createHttpServer,
  nothingHere,
  onForwarded,
  onOtherHost,
  serve,
  type Site,
} from '../http/server/server.ts'
import { isTrustedPeer } from '../lib/address.ts'
import type { Cleanup } from '../lib/cleanup.ts'
import type { Metrics } from './health/metrics.ts'
import type { Readiness } from './health/readiness.ts'

interface SiteEnd {
  /** Ends the responses that would never end by themselves, and uploads, which may take hours. */
  readonly endStreams: () => void
  readonly close: () => Promise<void>
}

export interface HttpOptions extends Pick<Metrics, 'registerCounter'> {
  readonly problems: (of?: 'api') => Pick<Readiness, 'ready'>
  /** Called in a process with the role http. It must not wait: the server listens already. */
  readonly openSite: (baseUrl: string, port: number) => Site & SiteEnd
  /** whether a `Host` header names the service or a branded domain */
  readonly isOurHost: (host: string) => boolean
  readonly cleanup: Cleanup
  readonly log: Logger
}

const warnings: Record<ConnectionLimit, string> = {
  address:
    'an address opened more connections than CONNECTIONS_PER_ADDRESS: if it is a reverse proxy, name it in TRUST_PROXY',
  total: 'too many connections: for each new one, the connection that was idle for the longest time is closed',
}

/**
 * Returns what counts closed connections. A limit is reached thousands of times in an attack: the log has the first
 * time, the metrics have all.
 */
const countClosed = (log: Logger, registerCounter: Metrics['registerCounter']) => {
  const closed = { address: 0, total: 0 }
  registerCounter({
    name: 'linkledger_connections_closed_total',
    help: 'Connections that were closed because there were too many: of one address (CONNECTIONS_PER_ADDRESS), or in total',
    label: 'limit',
    read: () => closed,
  })
  return (limit: ConnectionLimit) => {
    closed[limit]++
    if (closed[limit] === 1) log.warn(warnings[limit])
  }
}

/** ms to finish open requests when the service stops */
const drainTimeout = 20_000

/** The reasons are for the operator: they name addresses, settings and internal state. */
const readyz = ({ ready }: Pick<Readiness, 'ready'>) => ({ status: ready ? 200 : 503, body: { ready } })

/** Starts the HTTP server: probes, and in a process with the role http the site. */
export const startHttp = async (
  { HOST, PORT, BASE_URL, ROLES, TRUST_PROXY, CONNECTIONS_PER_ADDRESS, KEEP_ALIVE_SECONDS }: Config,
  { problems, openSite, isOurHost, cleanup, log, registerCounter }: HttpOptions,
) => {
  const server = createHttpServer(KEEP_ALIVE_SECONDS, TRUST_PROXY)
  limitConnections(server, {
    perAddress: CONNECTIONS_PER_ADDRESS,
    isExempt: (address) => isTrustedPeer(address, TRUST_PROXY),
    onClosed: countClosed(log, registerCounter),
  })
  const port = await listenOn(server, PORT, HOST)
  cleanup.defer(async () => server.close()) // when the site cannot be opened
  const baseUrl = BASE_URL ?? `http://localhost:${port}`
  const site = ROLES.has('http') ? openSite(baseUrl, port) : undefined
  if (site) cleanup.defer(site.close)
  requireHttps(server, baseUrl)
  serve(server, {
    ...(site ?? { api: nothingHere, redirect: nothingHere, below: {} }),
    probes: {
      '/healthz': () => ({ status: 200, body: { status: 'ok' } }),
      '/readyz': () => readyz(problems()),
      '/readyz?of=api': () => readyz(problems('api')),
    },
  })
  // behind a proxy all visitors then share one address: limits hit all of them, and statistics see one visitor
  if (TRUST_PROXY === 0)
    onForwarded(server, () =>
      log.warn('X-Forwarded-For is ignored: behind a reverse proxy, set TRUST_PROXY to the address of the proxy'),
    )
  if (BASE_URL === undefined && ROLES.has('http'))
    onOtherHost(server, isOurHost, (requested) =>
      log.warn(
        { host: requested },
        `requests come for another host than that of short links, ${baseUrl}: set BASE_URL to the address that visitors use`,
      ),
    )
  cleanup.defer(() => {
    site?.endStreams()
    return closeServer(server, drainTimeout)
  })
  const host = HOST.includes(':') ? `[${HOST}]` : HOST
  return { address: `http://${host}:${port}`, baseUrl }
}
