import { isUtf8 } from 'node:buffer'
import { normalized } from '../../../lib/strangers.ts'

/** A longer rest is not passed on: servers refuse addresses of more than a few thousand characters. */
const longest = 2048
/** as often as chained servers may decode a path */
const rounds = 6

/** Returns bytes, one character for each, with their escapes decoded once. */
const decodedOnce = (bytes: string) =>
  bytes.replaceAll(/%([\dA-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

const textOf = (bytes: string) => {
  const buffer = Buffer.from(bytes, 'latin1')
  return isUtf8(buffer) ? buffer.toString() : bytes
}

/** Characters that servers ignore at the end of a segment, or in it: parameters, spaces, invisible characters. */
const ignored = /;.*|[\p{Z}\p{C}]/gsu
const isDots = (segment: string) => /^\.{1,2}$/.test(segment.replaceAll(ignored, ''))
/** An overlong form of an ASCII character, as old decoders accept it. */
const overlong = /[\xc0\xc1][\x80-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]/

/**
 * Whether a path leads to a parent folder, or to itself, for any reader: in any escape and form of a dot or a slash.
 */
const leadsUp = (path: string): boolean => {
  let bytes = path
  for (let n = 0; n < rounds; n++) {
    const segments = normalized('path', 'NFKC', textOf(bytes))?.split(/[/\\]/)
    if (!segments || overlong.test(bytes) || segments.some(isDots)) return true
    const next = decodedOnce(bytes)
    if (next === bytes) return false
    bytes = next
  }
  return true
}

const escaped = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
/** characters that a path cannot have (RFC 3986), and a percent sign that escapes nothing */
const unfit = /[^\w\-.~!$&'()*+,;=:@/%]|%(?![\dA-F]{2})/gi
/** characters with a meaning in a query or a fragment; escapes stay */
const unquoted = /[^\w\-.~%]/g

/**
 * Returns the path of a request after its first slash, in a form for a destination; undefined when it is not passed on:
 * it is too long, or leads to a parent folder.
 */
export const pathIn = (url: string): string | undefined => {
  const [path = ''] = url.split(/[?#]/, 1)
  return passed(path.slice(1))
}

/** Returns the part after an alias of so many segments, or an empty string. */
export const restOf = (url: string, segments = 1): string | undefined => {
  const [path = ''] = url.split(/[?#]/, 1)
  return passed(
    path
      .replace(/^\/{2,}/, '/')
      .split('/')
      .slice(segments + 1)
      .join('/'),
  )
}

const passed = (rest: string) => {
  if (rest.length > longest || leadsUp(rest)) return undefined
  return rest.replaceAll(unfit, escaped)
}

/** Splits a URL into the part before its path, the path, the query with its mark, and the fragment with its mark. */
const parts = /^([a-z][a-z\d+.-]*:\/\/[^/?#]*)(\/[^?#]*)?(\?[^#]*)?(#.*)?$/is
/** Braces in a path are stored as escapes. */
const anyPlace = /(?:\{|%7B)(path|host|query)(?:\}|%7D)/gi

/** The values of placeholders. */
export type Values = Readonly<Partial<Record<'path' | 'host' | 'query', string>>>

/** Number of placeholders to fill: each repeats the visitor's input, so further ones stay as they are. */
const mostPlaces = 4
/** maximum characters of a URL with its values */
const longestFilled = 8192

/** Returns the forms of the values in a path and elsewhere, each made once. Leaves out a value that is too long. */
const formsOf = (values: Values) => {
  const forms = new Map<string, string>()
  const make = (name: keyof Values, value: string, inPath: boolean) => {
    if (value.length > longest || (inPath && name !== 'path' && leadsUp(value))) return ''
    return inPath && name === 'path' ? value : value.replaceAll(unquoted, escaped)
  }
  return (name: keyof Values, inPath: boolean) => {
    const value = values[name]
    if (value === undefined) return undefined
    const key = `${name} ${inPath}`
    const form = forms.get(key) ?? make(name, value, inPath)
    forms.set(key, form)
    return form
  }
}

/**
 * Returns a URL with values for its first placeholders: the path unchanged within a path, everything else escaped.
 * Omits the values when the URL would be too long with them.
 */
export const withValues = (url: string, values: Values): string => {
  const [, site = url, path = '', query = '', fragment = ''] = parts.exec(url) ?? []
  const formOf = formsOf(values)
  let filled = 0
  const put = (text: string, inPath = false) =>
    text.replaceAll(anyPlace, (place, given: string) => {
      const form = formOf(given.toLowerCase() as keyof Values, inPath)
      return form === undefined || ++filled > mostPlaces ? place : form
    })
  const whole = site + put(path, true) + put(query) + put(fragment)
  return whole.length <= longestFilled ? whole : withValues(url, { path: '', host: '', query: '' })
}

/** Returns a destination with the rest of a path: in its placeholders, or else after its own path. */
export const withRest = (url: string, rest: string): string => {
  const [, site = url, path = '', query = '', fragment = ''] = parts.exec(url) ?? []
  const filled = withValues(url, { path: rest })
  if (filled !== url || rest === '') return filled
  return `${site}${path.replace(/\/$/, '')}/${rest}${query}${fragment}`
}

/** Whether a URL has a placeholder. */
export const hasPlace = (url: string): boolean => /(?:\{|%7B)(?:path|host|query)(?:\}|%7D)/i.test(url)
