import type { MemoryLog } from './log.ts'

/** An incoming call, for which a spec chooses a fault. */
export interface Call {
  readonly kind: 'append' | 'read' | 'subscribe'
  /** may be `$all` */
  readonly stream: string
  /** types of the events to be appended */
  readonly types: readonly string[]
  /** of a read */
  readonly backwards?: boolean
}
export type Fault =
  /** refused, with the address of the leader */
  | 'not leader'
  | 'unavailable'
  | 'access denied'
  /** refused because of the user or the password */
  | 'unauthenticated'
  /** never answered; an append is not stored */
  | 'silent'
  /** an append: stored, and answered without its position */
  | 'no position'
  /** a subscription: instead of the next event a checkpoint beyond it is sent, and then the connection is cut */
  | 'checkpoint ahead'
  /** an append: stored, then never answered, cut off, or answered after so many ms */
  | { readonly stored: 'unanswered' | 'cut' | number }
  /** an append (stored at once) or a read: answered when the promise resolves */
  | { readonly held: Promise<unknown> }
  /** a read or a subscription: after so many events */
  | { readonly after: number; readonly is: 'cut' | 'ended' | 'silent' }

/** The state that the handlers of a node share. */
export interface Node {
  readonly log: MemoryLog
  /** how many calls of each kind have arrived */
  readonly calls: { append: number; batchAppend: number; read: number; subscribe: number }
  /** Counts an event that was written to a subscription, if the client accepts it. */
  readonly onSent: () => void
  readonly faultOf: (call: Call) => Fault | undefined
  readonly notLeader: () => Error
}
