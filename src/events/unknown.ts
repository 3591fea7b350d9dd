import { Unavailable } from '../lib/unavailable.ts'
import type { Recorded } from './event.ts'

/** An event that only a newer release can read. `data` names its type, and the version of the type. */
export interface UnknownEvent {
  readonly type: 'Unknown'
  readonly data: { readonly type: string; readonly version: number }
}

export const isUnknown = <E extends { readonly type: string }>(
  event: E | Recorded<UnknownEvent>,
): event is Recorded<UnknownEvent> => event.type === 'Unknown'

export const isKnown = <E extends { readonly type: string }>(event: E | Recorded<UnknownEvent>): event is E =>
  !isUnknown(event)

/**
 * A stream holds an event that only a newer release can read, so nothing can be decided about its resource here. A
 * process of that release can: the same request may succeed there. `what` names the resource; `known` is its state
 * before that event.
 */
export class ChangedByNewer extends Unavailable {
  override readonly name = 'ChangedByNewer'
  readonly resource: string
  readonly known: unknown
  constructor(what: string, known?: unknown) {
    super(`${what} was changed by a newer version of Linkledger.`)
    this.resource = what
    this.known = known
  }
}

/**
 * Returns `otherwise` when a newer release has changed the stream that is read: the read tables show it as this release
 * can.
 */
export const unlessNewer = async <T>(read: () => Promise<T>, otherwise: () => T | Promise<T>): Promise<T> => {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ChangedByNewer) return otherwise()
    throw error
  }
}
