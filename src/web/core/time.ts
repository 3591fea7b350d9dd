import { locale } from './texts.ts'

/** Returns the moment of a timestamp of the API, which is in UTC. */
export const moment = (timestamp: string): Date => new Date(`${timestamp.replace(' ', 'T')}Z`)

/** Returns a moment as the API takes it: `2030-01-31 18:00:00`. */
export const stamp = (date: Date): string => date.toISOString().slice(0, 19).replace('T', ' ')

const inWords = (date: Date, options: Intl.DateTimeFormatOptions) =>
  date.toLocaleString(locale(), { timeZone: 'UTC', ...options })

/** 25 March 2026 */
export const dayOf = (date: Date): string => inWords(date, { day: 'numeric', month: 'long', year: 'numeric' })
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
