import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { listenOn } from '../http/listen.ts'
import { closeServer, createHttpServer, nothingHere, onForwarded, serve, type Site } from '../http/server.ts'
import type { Cleanup } from '../lib/cleanup.ts'
import type { Readiness } from './readiness.ts'

export interface HttpOptions {
  readonly problems: () => Pick<Readiness, 'ready'>
  /** Called in a process with the role http. It must not wait: the server listens already. */
  readonly openSite: (baseUrl: string, port: number) => Site & { readonly close: () => Promise<void> }
  readonly cleanup: Cleanup
  readonly log: Logger
}

/** ms to finish open requests when the service stops */
const drainTimeout = 20_000

/** Starts the HTTP server: probes, and in a process with the role http the site. */
export const startHttp = async (
  { HOST, PORT, BASE_URL, ROLES, TRUST_PROXY }: Config,
  { problems, openSite, cleanup, log }: HttpOptions,
) => {
  const server = createHttpServer()
  const port = await listenOn(server, PORT, HOST)
  cleanup.defer(async () => server.close()) // when the site cannot be opened
  const baseUrl = BASE_URL ?? `http://localhost:${port}`
  const site = ROLES.has('http') ? openSite(baseUrl, port) : undefined
  if (site) cleanup.defer(site.close)
  serve(server, {
    ...(site ?? { api: nothingHere, redirect: nothingHere, below: {} }),
    probes: {
      '/healthz': () => ({ status: 200, body: { status: 'ok' } }),
      '/readyz': () => {
        // the reasons are for the operator: they name addresses, settings and internal state
        const { ready } = problems()
        return { status: ready ? 200 : 503, body: { ready } }
      },
    },
  })
  // behind a proxy all visitors then share one address: limits hit all of them, and statistics see one visitor
  if (TRUST_PROXY === 0)
    onForwarded(server, () =>
      log.warn('X-Forwarded-For is ignored: behind a reverse proxy, set TRUST_PROXY to the address of the proxy'),
    )
  cleanup.defer(() => closeServer(server, drainTimeout))
  const host = HOST.includes(':') ? `[${HOST}]` : HOST
  return { address: `http://${host}:${port}`, baseUrl }
}
