import type { OperatorRoutes } from '../../http/server/operatorport.ts'
import type { Readiness } from '../health/readiness.ts'
import type { Ledger } from '../log/ledger.ts'

/** Returns what the operator's port answers. */
export const operatorRoutes = (
  { metrics }: Pick<Ledger, 'metrics'>,
  problems: (of?: 'api') => Readiness,
  servesHost: (host: string) => boolean,
): OperatorRoutes => ({
  '/healthz': () => ({ status: 200, body: { status: 'ok' } }),
  '/readyz': (query) => {
    const body = problems(query.get('of') === 'api' ? 'api' : undefined)
    return { status: body.ready ? 200 : 503, body }
  },
  '/metrics': async () => {
    const { type, text } = await metrics.text()
    return { status: 200, type, body: text }
  },
  // for a proxy that obtains a certificate on the first request for a host
  '/internal/ask': (query) => {
    const served = servesHost(query.get('domain') ?? '')
    return { status: served ? 200 : 404, body: { served } }
  },
})
