import { signal } from '@preact/signals'
import { locale } from './texts.ts'

/** Returns a zone that the browser knows. */
const known = (name: string): string => {
  try {
    new Date().toLocaleString('sv', { timeZone: name })
    return name
  } catch {
    return 'UTC'
  }
}
const kept = (): string => {
  try {
    return localStorage.getItem('zone') ?? 'UTC'
  } catch {
    return 'UTC'
  }
}

/** The time zone of the reader. The browser keeps it: figures do not wait for the account. */
export const zone = signal(known(kept()))
/** Reads times in a zone from now on, if the browser knows it. */
export const useZone = (name: string): void => {
  zone.value = known(name)
  try {
    localStorage.setItem('zone', zone.value)
  } catch {
    // figures are asked for once more, then
  }
}

/** Returns the moment of a timestamp of the API, which is in UTC. */
export const moment = (timestamp: string): Date => new Date(`${timestamp.replace(' ', 'T')}Z`)

/** Returns a moment as the API takes it: `2030-01-31 18:00:00`. */
export const stamp = (date: Date): string => date.toISOString().slice(0, 19).replace('T', ' ')

const inWords = (date: Date, options: Intl.DateTimeFormatOptions) =>
  date.toLocaleString(locale(), { timeZone: zone.value, ...options })

const long = { day: 'numeric', month: 'long', year: 'numeric' } as const
/** 25 March 2026, of a day without a clock: its start in UTC */
export const utcDay = (date: Date): string => inWords(date, { ...long, timeZone: 'UTC' })

/** 25 March 2026 */
export const dayOf = (date: Date): string => inWords(date, long)
/** 25 Mar */
export const shortDay = (date: Date): string => inWords(date, { day: 'numeric', month: 'short' })
/** 25 Mar 2026 */
export const dateOf = (date: Date): string => inWords(date, { day: 'numeric', month: 'short', year: 'numeric' })
/** Tue 21 April */
export const weekdayOf = (date: Date): string => inWords(date, { weekday: 'short', day: 'numeric', month: 'long' })
/** March 2026 */
export const monthOf = (date: Date): string => inWords(date, { month: 'long', year: 'numeric' })
/** 14:30 */
export const clockOf = (date: Date): string => inWords(date, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
/** 25 March 2026, 14:30 */
export const momentOf = (date: Date): string => `${dayOf(date)}, ${clockOf(date)}`
/** 2026-03-25 14:30:00 UTC, for who points at a time */
export const inUtc = (date: Date): string => `${stamp(date)} UTC`

/** Returns what clocks of the reader show, as a field for a time has it: `2030-01-31T18:00`. */
export const fieldOf = (date: Date): string =>
  date.toLocaleString('sv', { timeZone: zone.value }).slice(0, 16).replace(' ', 'T')
/** Returns the day of a moment, as the start of that day in UTC: days are counted without clocks that change. */
export const dayIn = (date: Date): Date => new Date(fieldOf(date).slice(0, 10))
/** Returns the moment of what was entered in a field for a time. */
export const momentIn = (field: string): Date => {
  const wanted = Date.parse(`${field}Z`)
  const ahead = (at: number) => Date.parse(`${fieldOf(new Date(at))}Z`) - at
  return new Date(wanted - ahead(wanted - ahead(wanted)))
}
