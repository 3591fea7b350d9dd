import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import { ensureListenable, listenOn } from '../../http/server/listen.ts'
import { createOperatorServer, type OperatorRoutes } from '../../http/server/operatorport.ts'
import { closeServer } from '../../http/server/server.ts'
import type { Cleanup } from '../../lib/cleanup.ts'
import { OperatorError } from '../../lib/operatorerror.ts'

type Settings = Pick<Config, 'OPERATOR_PORT' | 'OPERATOR_HOST' | 'OPERATOR_HOSTS' | 'PORT'>

/** the usual port of what Prometheus scrapes */
const usual = 9464
const names = { port: 'OPERATOR_PORT', host: 'OPERATOR_HOST' }

/**
 * Checks OPERATOR_PORT and OPERATOR_HOST before the data is opened. Throws an `OperatorError` that names the setting.
 */
export const ensureOperatorPort = async ({
  OPERATOR_PORT,
  OPERATOR_HOST,
}: Pick<Settings, 'OPERATOR_PORT' | 'OPERATOR_HOST'>): Promise<void> =>
  ensureListenable(OPERATOR_PORT ?? 0, OPERATOR_HOST, names)

const listen = async (
  routes: OperatorRoutes,
  { OPERATOR_PORT, OPERATOR_HOST, OPERATOR_HOSTS, PORT }: Settings,
  log: Pick<Logger, 'warn'>,
) => {
  const start = async (port: number) => {
    const server = createOperatorServer(routes, [OPERATOR_HOST, ...OPERATOR_HOSTS])
    return { server, port: await listenOn(server, port, OPERATOR_HOST, names) }
  }
  // a service on a random port also has a random operator port
  if (OPERATOR_PORT !== undefined || PORT === 0) return start(OPERATOR_PORT ?? 0)
  try {
    return await start(usual)
  } catch (error) {
    // another program may have the usual port; without the setting, that is no reason not to start
    if (!(error instanceof OperatorError)) throw error
    const started = await start(0)
    log.warn(`port ${usual} is in use, so metrics are on port ${started.port}: set OPERATOR_PORT to choose one`)
    return started
  }
}

/** ms to finish open requests when the service stops */
const drainTimeout = 1000

/**
 * Starts the operator's port: metrics, details of readiness, and what only programs of the operator may ask. Returns
 * its address.
 */
export const startOperatorPort = async (
  settings: Settings,
  routes: OperatorRoutes,
  { log, cleanup }: { readonly log: Pick<Logger, 'warn'>; readonly cleanup: Cleanup },
): Promise<string> => {
  const { server, port } = await listen(routes, settings, log)
  cleanup.defer(() => closeServer(server, drainTimeout))
  const { OPERATOR_HOST: host } = settings
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
