import type { Raw } from './codec.ts'

/**
 * An event as an engine has read it, with its JSON as text: it is parsed where it is needed, which may be another
 * thread.
 */
export interface RawText extends Omit<Raw, 'data' | 'metadata'> {
  readonly data: string
  readonly metadata: string
}

export const parseRaw = ({ data, metadata, ...event }: RawText): Raw => ({
  ...event,
  data: JSON.parse(data) as unknown,
  // the time of an event is the log's
  metadata: { ...(JSON.parse(metadata) as object), at: event.at },
})
