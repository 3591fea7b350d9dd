import type { EventName } from './event.ts'
import { kindOf } from './kinds.ts'
import { parseStreamId } from './streams.ts'

/** Returns a label within a sentence: `Link` is `link`, and `QR code` stays as it is. */
const withinSentence = (label: string) => (/^[A-Z][a-z]/.test(label) ? label[0]!.toLowerCase() + label.slice(1) : label)

/** Names a resource as a user does: `link 12`, `QR code 3`. Undefined for a kind that has no resources. */
export const nameOfResource = (kind: string, id: number | bigint | string): string | undefined => {
  const label = kindOf(kind)?.label
  return label === undefined ? undefined : `${withinSentence(label)} ${id}`
}

/** Names a stream by the resource that it belongs to; one without a resource has its own name. */
export const nameOfStream = (stream: string): string => {
  const { kind, id } = parseStreamId(stream)
  return nameOfResource(kind, id) ?? stream
}

/** Names an event by its number and what it is about. */
export const nameOfOrdinal = (
  ordinal: number | undefined,
  { type, stream, revision, position }: Pick<EventName, 'type' | 'stream' | 'revision' | 'position'>,
): string => `event ${ordinal ?? '?'} (${type} of ${nameOfStream(stream)}, revision ${revision}, position ${position})`
