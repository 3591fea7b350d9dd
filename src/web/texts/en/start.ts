import { actions, door, errors, help, nav, past, toasts } from './frame.ts'
import { by, chart, devices, first, overview, periods, totals } from './overview.ts'
import { filters, stats } from './stats.ts'

/** What the frame, the sign-in and the overview say: it is loaded first. A text in code is `{name}` for what is filled in. */
export const start = {
  actions,
  by,
  chart,
  devices,
  door,
  errors,
  filters,
  first,
  help,
  nav,
  overview,
  past,
  periods,
  stats,
  toasts,
  totals,
}

/** The same shape with other words: the compiler finds what a language lacks. */
export type StartTexts = typeof start
