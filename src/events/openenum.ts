import { z } from 'zod'

/** One of the known values, or one that a newer release has added. */
export type Open<T extends string> = T | (string & Record<never, never>)

/**
 * Returns the schema of an enumeration inside an event. Events are forever and outlive the program: a value that only a
 * newer release knows is read and kept as it is, and every reader has to cope with it. `known` has the values that this
 * release writes.
 */
export const openEnum = <K extends z.ZodEnum>(known: K) =>
  z.string().meta({ examples: known.options }) as unknown as z.ZodType<
    Open<z.output<K> & string>,
    Open<z.output<K> & string>
  >

/** Returns a stored value if this release knows it. */
export const knownIn = <T extends string>(known: { readonly options: readonly T[] }, value: string): T | undefined =>
  known.options.find((option) => option === value)
