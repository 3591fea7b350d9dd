import type { SpoolHandle, SpoolReply } from '../../clicks/spool/shared.ts'
import type { SpoolFiles, SpoolStats } from '../../clicks/spool/source.ts'
import type { CountryFile } from '../../clicks/visitor/geoip.ts'
import type { Config } from '../../config.ts'
import type { Filter } from '../../events/store.ts'
import type { MetricValues } from '../health/metrics.ts'
import type { Ledger } from '../log/ledger.ts'
import type { EngineState } from './engine.ts'

/** What the thread of the engine is started with. */
export interface EngineData {
  /** without TRUST_PROXY, which is a function and concerns requests alone */
  readonly config: Config
  /** of the thread of the requests */
  readonly partOf: Pick<Ledger, 'connection' | 'instance'>
  readonly spool: SpoolHandle
  readonly ports: readonly number[]
  /** the table of countries */
  readonly countries: CountryFile
}

/** Messages from the request thread to the engine. */
export type ToEngine =
  | { readonly kind: 'spool'; readonly files: SpoolFiles; readonly stats: SpoolStats }
  | { readonly kind: 'look'; readonly filter: Filter }
  | { readonly kind: 'port'; readonly port: number }
  | { readonly kind: 'countries'; readonly file: CountryFile }
  | { readonly kind: 'metrics' }
  | { readonly kind: 'blocked'; readonly id: number; readonly isBlocked: boolean }
  | { readonly kind: 'close' }

/** Messages from the engine to the request thread. */
export type FromEngine =
  /** while it is not ready to work */
  | { readonly kind: 'starting' }
  | { readonly kind: 'state'; readonly state: EngineState }
  | { readonly kind: 'seen'; readonly filter: Filter; readonly position: bigint }
  | { readonly kind: 'recorded'; readonly partition: number; readonly seq: number; readonly position: bigint }
  | { readonly kind: 'delivered' }
  /** asks whether the operator blocks an address */
  | { readonly kind: 'blocked'; readonly id: number; readonly url: string }
  | { readonly kind: 'spool'; readonly reply: SpoolReply }
  | { readonly kind: 'metrics'; readonly metrics: MetricValues }
