import type { Resolver } from '../lib/dns.ts'
import type { GuardedFetch, GuardedProbe } from '../lib/fetch.ts'
import type { startProgram } from '../lib/thread.ts'
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
  /** The engine runs in the request thread, because a separate thread takes a second to start. */
  readonly inOneThread?: boolean
  /** how threads of the engine are started, and ms between two looks at whether it answers */
  readonly engineThreads?: { readonly start?: typeof startProgram; readonly checkMs?: number }
  /** the bundle of the dashboard */
  readonly web?: string
}
