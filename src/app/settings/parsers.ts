import { isIP } from 'node:net'
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
/** Returns what refuses a text for what a function says is wrong with it. */
export const problemOf =
  (problem: (text: string) => string | undefined) =>
  (text: string, context: { readonly addIssue: (issue: { code: 'custom'; message: string }) => void }) => {
    const message = problem(text)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  }
/** Reads values separated by commas. */
export const list = z
  .string()
  .transform((text, context) => {
    const values = text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean)
    // it would count as not set without a word
    if (values.length === 0) context.addIssue('must have a value, or be empty')
    return values
  })
  .default([])
/** Reads the path of a file, from the present folder if it is relative. */
export const path = z
  .string()
  .transform((given) => resolve(given))
  .optional()
/** A host name. The last label has a letter: an IP address with a mistake is no name. */
export const host = /^([a-z\d_-]{1,63}\.)*(?=[\d_-]*[a-z])[a-z\d_-]{1,63}\.?$/i
/** Reads where a server listens. */
export const listening = z
  .string()
  .refine(
    (text) => isIP(text) > 0 || host.test(text),
    'must be an IP address or a host name of this machine, for example 0.0.0.0',
  )
  .default('127.0.0.1')
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
