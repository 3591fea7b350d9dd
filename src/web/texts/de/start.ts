import type { StartTexts } from '../en/start.ts'
import { actions, door, errors, help, nav, past, toasts } from './frame.ts'
import { by, chart, devices, first, overview, periods, totals } from './overview.ts'
import { filters, stats } from './stats.ts'

export const start: StartTexts = {
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
