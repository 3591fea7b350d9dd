import type { Worker } from 'node:worker_threads'
import type { Resolver } from '../lib/dns.ts'
import type { GuardedFetch, GuardedProbe } from '../lib/fetch.ts'
import type { Images } from '../qr/images.ts'
import type { WebhookOverrides } from './webhooks.ts'
import type { Turn } from '../security/passwords.ts'

/** What tests replace: what the service uses of the outside world, and what takes long by design. */
export interface Overrides {
  readonly resolver?: Resolver
  readonly guardedFetch?: GuardedFetch
  readonly guardedProbe?: GuardedProbe
  readonly webhooks?: WebhookOverrides
  readonly hashNewPassword?: (password: string, turn: Turn) => Promise<string>
  readonly images?: Images
  /** The engine works in the thread of the requests: a thread of its own takes a second to start. */
  readonly inOneThread?: boolean
  /** learns of each thread of the engine that is started */
  readonly onEngineThread?: (thread: Worker) => void
  /** the bundle of the dashboard */
  readonly web?: string
}
