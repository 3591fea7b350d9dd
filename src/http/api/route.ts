import type { z } from 'zod'
import type { Decider } from '../../commands/decider.ts'
import type { Handled, Handler, NextIds } from '../../commands/handle.ts'
import type { DomainEvent } from '../../events/index.ts'
import type { Images } from '../../qr/images.ts'
import type { Reader } from '../../queries/reader.ts'
import type { Domains } from '../../cache/domains.ts'
import type { GuardedFetch } from '../../lib/fetch.ts'
import type { PendingStreams } from '../../cache/pending.ts'

/** What the routes work with. */
export interface Services {
  readonly handler: Handler
  readonly reader: Reader
  readonly pending: PendingStreams
  readonly nextId: NextIds
  /** the address short links start with, without a trailing slash */
  readonly baseUrl: () => string
  /** a host of the service or of any branded domain */
  readonly isOurs: (host: string) => boolean
  /** the service's own host, however it is spelt */
  readonly isOwnHost: (host: string) => boolean
  readonly domains: Domains
  /** A new branded domain's DNS leads here, as far as that is asked for. */
  readonly pointsToUs: (host: string) => Promise<boolean>
  /** names and addresses that branded domains are to point to */
  readonly domainTargets: readonly string[]
  /** the one way to ask others for something */
  readonly guardedFetch: GuardedFetch
  readonly images: Images
  /** 32 bytes for keyed hashes */
  readonly pepper: Buffer
  /** POST /register is there */
  readonly registration: boolean
}

/** One request, checked. `write` and `create` answer once it can be read back, or is known to be stored. */
export interface Call<B> {
  readonly account: number
  /** ids of the path, in their order */
  readonly ids: readonly number[]
  /** words of the path, in their order */
  readonly words: readonly string[]
  /** of a repeated key the first */
  readonly query: Readonly<Record<string, string>>
  readonly body: B
  readonly write: <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, command: C) => Promise<Handled<S, E>>
  readonly create: <C, S, E extends DomainEvent>(
    kind: keyof NextIds,
    decider: Decider<C, S, E>,
    make: (id: number) => C,
  ) => Promise<Handled<S, E> & { readonly id: number }>
}

export interface Route<B = unknown> {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** `:id`, `:linkid` and their like stand for an id; any other name for a word */
  readonly path: string
  /** anyone may call it; requests are counted by address */
  readonly public?: boolean
  /** a body that comes is not looked at unless there is a schema */
  readonly body?: z.ZodType<B>
  /** Throws what an unknown id answers; asked before wrong fields are told. */
  readonly exists?: (call: Call<unknown>, services: Services) => Promise<unknown>
  /** The answer, `error: 0` aside. */
  readonly run: (call: Call<B>, services: Services) => Promise<object>
}

/** Checks a route against its own body's type, then forgets that type. */
export const route = <B>(route: Route<B>) => route as Route
