import { accountEvents } from './account.ts'
import { claimEvents } from './claim.ts'
import { clickEvents } from './click.ts'
import type { EventOf } from './event.ts'
import { linkEvents } from './link.ts'
import { logEvents } from './log.ts'
import { pixelEvents } from './pixel.ts'

/** Every event there is. A type or a field is never removed from it: the log keeps them for ever. */
export const events = { ...logEvents, ...claimEvents, ...accountEvents, ...linkEvents, ...clickEvents, ...pixelEvents }
export type DomainEvent = EventOf<typeof events>
export type EventType = DomainEvent['type']
export type Event<T extends EventType> = Extract<DomainEvent, { type: T }>
