import { resolve } from 'node:path'
import { z } from 'zod'

/** Reads a whole number from `min` to `max`. */
export const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
/** Reads a whole number; `otherwise` is the default. */
export const whole = (min: number, max: number, otherwise: number) => integer(min, max).default(otherwise)
/** Reads values separated by commas. */
export const list = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  )
  .default([])
/** Reads the path of a file, from the present folder if it is relative. */
export const path = z
  .string()
  .transform((given) => resolve(given))
  .optional()
/** A host name. The last label has a letter: an IP address with a mistake is no name. */
export const host = /^([a-z\d_-]{1,63}\.)*(?=[\d_-]*[a-z])[a-z\d_-]{1,63}\.?$/i
/** Reads one of `values`; `otherwise` is the default. */
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T, otherwise: T[number]) =>
  z.enum(values, `must be one of ${values.join(', ')}`).default(otherwise as z.util.NoUndefined<T[number]>)
/**
 * Returns whether the text is an http address without a path. `URL.canParse` would be shorter, but Node 20 returns
 * wrong results once it has optimised the call.
 */
export const origin = (text: string) => {
  try {
    const { protocol, pathname, search, hash, username } = new URL(text)
    return /^https?:$/.test(protocol) && pathname === '/' && !search && !hash && !username
  } catch {
    return false
  }
}
