import type { Filter as ServerFilter } from '@eventstore/db-client'
import { library } from './library.ts'

/**
 * What the streams of this log are called on a server that may hold other logs and streams: `link-7` is `acme.link-7`
 * with the prefix `acme`. Nothing outside of the adapter knows the prefix.
 */
export interface Names {
  /** Returns the name of a stream on the server. */
  readonly to: (stream: string) => string
  /** Returns the stream that has a name on the server, undefined when it is none of this log. */
  readonly from: (name: string) => string | undefined
  /**
   * Returns what the server filters a subscription by, given an expression for the types. It takes one filter: the
   * process looks at the rest.
   */
  readonly filter: (types: string, checkpointInterval: number) => ServerFilter
}

/** The form of every stream of a log without a prefix: one of a log with a prefix has a dot there. */
const plain = /^[a-z]+(?:-|$)/

export const namesWith = (prefix: string | undefined): Names =>
  prefix === undefined
    ? {
        to: (stream) => stream,
        from: (name) => (plain.test(name) ? name : undefined),
        filter: (regex, checkpointInterval) => library().eventTypeFilter({ regex, checkpointInterval }),
      }
    : {
        to: (stream) => `${prefix}.${stream}`,
        from: (name) => (name.startsWith(`${prefix}.`) ? name.slice(prefix.length + 1) : undefined),
        filter: (_, checkpointInterval) => library().streamNameFilter({ prefixes: [`${prefix}.`], checkpointInterval }),
      }
