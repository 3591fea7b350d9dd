import type { ResourceKind } from './kinds.ts'

/** Kinds of streams. A stream is named `<kind>-<id>`; an id may have hyphens of its own. */
export type StreamKind = ResourceKind | OtherStream

/** Streams that are no resource of an account. */
export type OtherStream =
  | 'answer'
  | 'approval'
  | 'block'
  | 'channelitem'
  | 'claim'
  | 'clicks'
  | 'import'
  | 'log'
  | 'projection'
  | 'reclassification'
  | 'report'
  | 'spool'
  | 'team'
  | 'visits'

/**
 * The name of a stream: `streamId('link', 7)` is `link-7`, `streamId('claim', 'alias', '0-a')` is `claim-alias-0-a`.
 */
export const streamId = (kind: StreamKind, ...id: readonly (string | number)[]): string => [kind, ...id].join('-')

/** The kind and id of a stream's name. `number` is the id of a resource's stream, NaN where the id is not a number. */
export const parseStreamId = (
  stream: string,
): { readonly kind: string; readonly id: string; readonly number: number } => {
  const end = stream.indexOf('-')
  const [kind, id] = end < 0 ? [stream, ''] : [stream.slice(0, end), stream.slice(end + 1)]
  return { kind, id, number: id === '' ? Number.NaN : Number(id) }
}
