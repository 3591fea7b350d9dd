import { isStorable } from '../lib/storable.ts'
import { problem, type Problem } from '../lib/problems/problem.ts'
import { readJson } from '../lib/strangers.ts'
import { readTime, type Reading } from './reading.ts'
import type { SourceLink, SourceTarget } from './records.ts'

/** what a value may have inside */
const valueLimits = { levels: 8, values: 10_000 }

/** A value of a record, and how it is called there. */
export interface Named {
  readonly name: string
  readonly value: unknown
}
/** A value that cannot be read. */
export class Unreadable extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.code)
    this.problem = problem
  }
}

const isBlankText = (value: unknown) => typeof value === 'string' && value.trim() === ''
/** Whether a value says nothing. */
export const isBlank = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  isBlankText(value) ||
  (typeof value === 'object' && Object.values(value).every(isBlank))

/** Whether a value says that there is nothing, or that all is as usual. */
export const isEmpty = (value: unknown): boolean =>
  isBlank(value) ||
  value === false ||
  value === 0 ||
  (typeof value === 'string' && /^(?:false|no|0|null|direct|active)$/i.test(value.trim())) ||
  (typeof value === 'object' && Object.values(value as object).every(isEmpty))

/** Whether a value that is as it is here says nothing: a text may be `0` or `null`. */
export const isNothing = (value: unknown): boolean =>
  isBlank(value) ||
  value === false ||
  value === 0 ||
  (typeof value === 'object' && Object.values(value as object).every(isNothing))

export const textOf = ({ name, value }: Named): string => {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') throw new Unreadable(problem('wrong_type', { what: 'string', field: name }))
  if (!isStorable(value)) throw new Unreadable(problem('forbidden_characters', { field: name }))
  return value.trim()
}
export const filledText = (named: Named | undefined): string | undefined => {
  if (named === undefined || named.value === null || named.value === undefined) return undefined
  return textOf(named) || undefined
}

export const textsOf = ({ name, value }: Named): readonly string[] => {
  if (!Array.isArray(value)) return [textOf({ name, value })]
  return value.map((one: unknown) => {
    const {
      name: label,
      tag,
      title,
    } = (typeof one === 'object' && one ? one : { name: one }) as Record<string, unknown>
    return textOf({ name, value: label ?? tag ?? title })
  })
}
export const tagsOf = ({ name, value }: Named): readonly string[] => {
  const found = Array.isArray(value)
    ? textsOf({ name, value })
    : textsOf({ name, value }).flatMap((text) => text.split(text.includes('|') ? '|' : /[,;]/))
  return [...new Set(found.map((tag) => tag.trim()).filter((tag) => tag !== ''))]
}

/** Whether a count or a time is left open, maybe by a word. */
export const isOpen = (value: unknown): boolean =>
  isBlank(value) || (typeof value === 'string' && /^(?:never|none|n\/a|-+|–|—)$/i.test(value.trim()))

/** Reads a count, also as spreadsheets write it: `1,234`, `12.0`. */
export const countOf = ({ name, value }: Named): number => {
  const text = textOf({ name, value })
  if (!/^(?:\d{1,15}|\d{1,3}(?:,\d{3}){1,4})(?:\.0{1,9})?$/.test(text))
    throw new Unreadable(problem('wrong_type', { what: 'whole', field: name }))
  return Number(text.replaceAll(',', ''))
}

export const truthOf = ({ name, value }: Named): boolean => {
  if (typeof value === 'boolean') return value
  const text = textOf({ name, value }).toLowerCase()
  if (/^(?:true|yes|y|1|archived)$/.test(text)) return true
  if (/^(?:false|no|n|0|active)?$/.test(text)) return false
  throw new Unreadable(problem('wrong_type', { what: 'boolean', field: name }))
}

/** A hash or a mask is no password in clear. */
export const passwordOf = ({ name, value }: Named): SourceLink['password'] => {
  if (value === true || (typeof value === 'string' && /^(?:true|yes|\*+|\$\w{1,10}\$.*)$/i.test(value)))
    return 'unknown'
  if (value === false) return undefined
  if (typeof value !== 'string') return textOf({ name, value }) ? { clear: String(value) } : undefined
  if (/^(?:false|no)?$/i.test(value)) return undefined
  textOf({ name, value })
  return { clear: value }
}

export const targetsOf = (kind: SourceTarget['kind'], { name, value }: Named): readonly SourceTarget[] => {
  if (typeof value !== 'object' || value === null)
    throw new Unreadable(problem('wrong_type', { what: 'object', field: name }))
  const pairs = Array.isArray(value)
    ? value.map((one: unknown) => {
        const { link, url = link, ...rest } = (one ?? {}) as Record<string, unknown>
        return [textOf({ name, value: rest[kind] ?? rest['name'] }), url] as const
      })
    : Object.entries(value)
  return pairs.map(([of, url]) => ({ kind, name: of, url: textOf({ name, value: url }) }))
}

export const timeOf = (named: Named | undefined, timeOfDay: string, reading: Reading): string | undefined => {
  if (named === undefined || isEmpty(named.value) || isOpen(named.value)) return undefined
  const time = readTime(named.value, timeOfDay, reading)
  if (time === undefined) throw new Unreadable(problem('wrong_form', { what: 'moment', field: named.name }))
  return time || undefined
}

/** Returns what a cell has in the form of JSON, or the cell. */
export const structured = (value: unknown): unknown => {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  const read = readJson(value, valueLimits)
  return 'value' in read ? read.value : value
}
