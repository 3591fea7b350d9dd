import { signal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { base } from './acting.ts'

/** An address within the dashboard. */
export interface At {
  /** without `/dashboard`: `/links/7` */
  readonly path: string
  readonly query: URLSearchParams
}

/** Properties of a screen: the parts of its path, such as `id`. */
export interface ScreenProps {
  readonly params: Readonly<Record<string, string>>
}

const read = (): At => ({
  path: location.pathname.slice(base.length).replace(/\/$/, '') || '/',
  query: new URLSearchParams(location.search),
})

/** The current address. It has all state that a user may want to return to, or to send to a colleague. */
export const at = signal<At>(read())

/** Returns the address of a screen, for `href`. Keeps the shown moment, unless the query names another. */
export const href = (path: string, query: Readonly<Record<string, string | undefined>> = {}): string => {
  const moment = at.value.query.get('at') ?? undefined
  const given = Object.entries({ at: moment, ...query }).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const search = new URLSearchParams(given).toString()
  return `${base}${path === '/' ? '' : path}${search && `?${search}`}`
}

/** Returns the address of this screen with other values in its query; `undefined` removes one. */
export const withQuery = (changes: Readonly<Record<string, string | undefined>>): string =>
  href(at.value.path, { ...Object.fromEntries(at.value.query), ...changes })

/**
 * A figure as a link to the visits behind it, given what they have in common besides the filters of the screen. It is
 * loaded after the first chart.
 */
export const visitsLink = signal<FunctionComponent<Figure> | undefined>(undefined)
interface Figure {
  readonly name: string
  readonly visits: Readonly<Record<string, string>>
}

/** Goes to an address of the dashboard. With `replace`, "back" does not return here. */
export const go = (to: string, { replace = false } = {}): void => {
  const before = at.value.path
  if (replace) history.replaceState(null, '', to)
  else history.pushState(null, '', to)
  at.value = read()
  if (at.value.path === before) return
  scrollTo({ top: 0 })
  // as after the load of a page: a screen reader begins with the new heading
  requestAnimationFrame(() => document.getElementById('main')?.focus({ preventScroll: true }))
}

const isPlainClick = (event: MouseEvent) =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey && !event.defaultPrevented

/** Whether an address is part of this dashboard: another account has its own. */
const isHere = (path: string) => path === base || (path.startsWith(`${base}/`) && !path.startsWith(`${base}/@`))

/** Lets links and the browser's buttons change the screen instead of the page. */
export const startRouter = (): void => {
  addEventListener('popstate', () => (at.value = read()))
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (!link || !isPlainClick(event) || link.target || link.hasAttribute('download')) return
    if (link.origin !== location.origin || !isHere(link.pathname)) return
    event.preventDefault()
    go(link.pathname + link.search)
  })
}
