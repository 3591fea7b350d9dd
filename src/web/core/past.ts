import { computed } from '@preact/signals'
import { isPresentOnly, readPast } from './moments.ts'
import { at, withQuery } from './router.ts'

const iso = (time: Date) => `${time.toISOString().slice(0, 19)}Z`

/** The moment that the page shows; undefined: now. */
export const past = computed(() => readPast(at.value.query.get('at')))

/** Returns the time that the screens show: the past moment, or the current time. */
export const shownTime = (): Date => past.value?.time ?? new Date()

/** Returns the address of this screen at another time. */
export const whenAt = (time: Date): string => withQuery({ at: iso(time) })
/** Returns the address of this screen right after an event. */
export const afterEvent = (event: number, time: Date): string => withQuery({ at: `event:${event}@${iso(time)}` })
export const now = (): string => withQuery({ at: undefined })

/** Returns a path of the API at the shown moment. */
export const pathAt = (path: string): string => {
  const shown = past.value
  if (!shown || isPresentOnly(path)) return path
  return `${path}${path.includes('?') ? '&' : '?'}at=${encodeURIComponent(shown.at)}`
}

/** Screens that exist in the present only. At a past time, they show a message. */
const placesOfNow = /^\/(?:account|operator|proof|history|invitation|qr\/new)(?:\/|$)/
export const showsNowOnly = (): boolean => placesOfNow.test(at.value.path)

/** Requests that are allowed in the past: they change nothing there, or lead back from it. */
const allowed = [/^\/api\/session(?:\/passkey(?:\/begin)?)?$/, /\/restore$/, /\/rehearse$/]
/** Whether a request would change what is only shown in its past state. */
export const isRefusedInPast = (method: string, path: string): boolean =>
  method !== 'GET' && past.value !== undefined && !allowed.some((one) => one.test(path.split('?')[0] ?? ''))
