import { clickId, type Ordinals, parseClickId } from '../../events/ordinals.ts'
import { failField } from '../api/errors.ts'

/** The last line that a stream has passed: its event, and its index within the event. */
export interface StreamPlace {
  readonly position: bigint
  /** `whole` when no line of the event is left */
  readonly index: number
}
export const whole = Infinity
/** Before the first event. */
export const start: StreamPlace = { position: 0n, index: whole }

/** What the id of a line says. Lines of events that have one line only have no index. */
export interface LineId {
  readonly ordinal: number
  readonly index?: number | undefined
}

/** Returns what the id of a line says, undefined for what is none. */
export const parseLineId = (text: string, hasIndex: boolean): LineId | undefined => {
  if (/^(?:0|[1-9]\d{0,14})$/.test(text)) return { ordinal: Number(text) }
  return hasIndex ? parseClickId(text) : undefined
}

/**
 * Returns the id by which a stream can be resumed after a place; undefined before the first event, and while the event
 * has no ordinal.
 */
export const idOf = async (ordinals: Ordinals, { position, index }: StreamPlace): Promise<string | undefined> => {
  if (position === 0n || index < 0) return undefined
  const ordinal = (await ordinals.of([position])).get(position)
  if (ordinal === undefined) return undefined
  return index === whole ? String(ordinal) : clickId(ordinal, index)
}

/** Fails with 400 for an id after the end of the log. */
const positionOf = async (ordinals: Ordinals, ordinal: number, field: 'from' | 'Last-Event-ID') => {
  const position = await ordinals.positionOf(ordinal)
  if (position !== undefined) return position
  const head = await ordinals.head()
  return field === 'from'
    ? failField(field, 'too_large', { what: 'next_number', max: head })
    : failField(field, 'too_large', { what: 'line_id', max: head - 1 })
}

/** Returns the place before a line, which may be one that is yet to come. Fails with 400. */
export const placeBefore = async (ordinals: Ordinals, { ordinal, index = 0 }: LineId): Promise<StreamPlace> => {
  if (index > 0) return { position: await positionOf(ordinals, ordinal, 'from'), index: index - 1 }
  if (ordinal === 0) return start
  return { position: await positionOf(ordinals, ordinal - 1, 'from'), index: whole }
}

/** Returns the place after a line that a client has. Fails with 400. */
export const placeAfter = async (ordinals: Ordinals, { ordinal, index = whole }: LineId): Promise<StreamPlace> => ({
  position: await positionOf(ordinals, ordinal, 'Last-Event-ID'),
  index,
})
