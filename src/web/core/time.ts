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

const [day, shortDay] = [
  { day: 'numeric', month: 'long', year: 'numeric' },
  { day: 'numeric', month: 'short' },
] as const
const date = { ...shortDay, year: 'numeric' } as const
const weekday = { weekday: 'short', day: 'numeric', month: 'long' } as const
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
/** What is shown of a moment, by name. */
const forms = {
  /** 25 March 2026, 14:30 */
  moment: [day, clock],
  /** 25 March 2026 */
  day: [day],
  /** 25 Mar 2026 */
  date: [date],
  /** 25 Mar 2026, 14:30 */
  dateAndClock: [date, clock],
  /** 25 Mar */
  shortDay: [shortDay],
  /** 25 Mar, 14:30 */
  shortDayAndClock: [shortDay, clock],
  /** Tue 21 April */
  weekday: [weekday],
  /** Tue 21 April, 14:30 */
  weekdayAndClock: [weekday, clock],
  /** March 2026 */
  month: [{ month: 'long', year: 'numeric' }],
  /** 14:30 */
  clock: [clock],
  /** 14:30:05 */
  seconds: [{ ...clock, second: '2-digit' }],
} as const satisfies Readonly<Record<string, readonly Intl.DateTimeFormatOptions[]>>
export type MomentForm = keyof typeof forms

/**
 * Returns a moment as clocks of the reader show it. Screens show it with `When`, which has it in UTC, too: this is for
 * what can only be a text.
 */
export const momentText = (at: Date, form: MomentForm = 'moment', timeZone = zone.value): string =>
  forms[form].map((options) => at.toLocaleString(locale(), { timeZone, ...options })).join(', ')
/** 25 March 2026, of a day without a clock: its start in UTC */
export const utcDay = (at: Date): string => momentText(at, 'day', 'UTC')
/** 2026-03-25 14:30:00 UTC, for who points at a time */
export const inUtc = (at: Date): string => `${stamp(at)} UTC`

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
