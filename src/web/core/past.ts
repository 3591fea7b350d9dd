import { computed } from '@preact/signals'
import { isPresentOnly, readPast } from './moments.ts'
import { at, withQuery } from './router.ts'

const iso = (time: Date) => `${time.toISOString().slice(0, 19)}Z`

/** The moment that is shown; undefined: now. */
export const past = computed(() => readPast(at.value.query.get('at')))

/** Returns the time that the screens show: that of the past moment, or of the clock. */
export const shownTime = (): Date => past.value?.time ?? new Date()

/** Returns the address of this screen at another time. */
export const whenAt = (time: Date): string => withQuery({ at: iso(time) })
/** Returns the address of this screen right after an event. */
export const afterEvent = (event: number, time: Date): string => withQuery({ at: `event:${event}@${iso(time)}` })
export const now = (): string => withQuery({ at: undefined })

/** Returns a path of the API as of the moment that is shown. */
export const pathAt = (path: string): string => {
  const shown = past.value
  if (!shown || isPresentOnly(path)) return path
  return `${path}${path.includes('?') ? '&' : '?'}at=${encodeURIComponent(shown.at)}`
}

/** Places that are of the present only: they say so in the past. */
const placesOfNow = /^\/(?:account|operator|proof|history|invitation|qr\/new)(?:\/|$)/
export const showsNowOnly = (): boolean => placesOfNow.test(at.value.path)

/** Requests that are let through in the past: they change nothing there, or are how somebody comes back from it. */
const allowed = [/^\/api\/session(?:\/passkey(?:\/begin)?)?$/, /\/restore$/, /\/rehearse$/]
/** Whether a request would change what is only shown as it was. */
export const isRefusedInPast = (method: string, path: string): boolean =>
  method !== 'GET' && past.value !== undefined && !allowed.some((one) => one.test(path.split('?')[0] ?? ''))
