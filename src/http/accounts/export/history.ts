import type { Recorded } from '../../../events/event.ts'
import type { LogEvent } from '../../../events/index.ts'
import type { EventStore } from '../../../events/store.ts'
import { isUnknown } from '../../../events/unknown.ts'
import { streamsOf } from '../../../queries/accounts/export.ts'
import type { Reader } from '../../../queries/reader.ts'

/**
 * Fields that help to guess or forge something: hashes of passwords and keys, and tokens of claims; and the accounts
 * that members sign in to. Matched by name, so that new events are safe too.
 */
const hidden = /password|hash|token|secret|^person$/i

const visible = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(visible)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (hidden.test(name) ? [] : [[name, visible(one)]])),
  )
}

/** Returns an event as its owner may see it: without the name of an operator, and without secrets. */
export const presentEvent = (event: Recorded<LogEvent>) => {
  const { stream, revision, at, metadata } = event
  const { kind, key, member, role } = metadata.actor
  return {
    stream,
    revision: Number(revision),
    at,
    type: isUnknown(event) ? event.data.type : event.type,
    by: { kind, ...(key !== undefined && { key }), ...(member !== undefined && { member, role }) },
    request: metadata.request,
    // of an event that a newer release wrote, nothing is known to be free of secrets
    data: isUnknown(event) ? null : visible(event.data),
  }
}

/** A claim of a name fences the stream of another resource, also one of another account. */
const isOwn = ({ type, metadata }: Recorded<LogEvent>, account: number) =>
  type !== 'ClaimFenced' && (metadata.account === null || metadata.account === account)

/** Returns the events of an account and its resources, stream by stream. */
export const historyOf = async function* (reader: Reader, read: EventStore['read'], account: number) {
  for await (const stream of streamsOf(reader, account))
    for await (const event of read(stream)) if (isOwn(event, account)) yield presentEvent(event)
}
