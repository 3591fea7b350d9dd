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

const strings = /"[^"\\]*(?:\\.[^"\\]*)*"/g
const countKeys = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce<number>((sum, one) => sum + countKeys(one), own)
}

/** Whether a text of JSON has a key twice in an object: what was read of it, `value`, has the last one only. */
export const hasShadowedKey = (text: string, value: unknown): boolean =>
  JSON.stringify(value) !== text && text.replaceAll(strings, '').split(':').length - 1 > countKeys(value)
