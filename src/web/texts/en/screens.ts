import { account } from './account.ts'
import { bios, editors, overlays, splashes } from './editors.ts'
import { by, chart, devices, first, overview, periods, totals } from './overview.ts'
import { actions, door, errors, help, nav, toasts } from './frame.ts'
import { blast, history, past, restore } from './history.ts'
import { editor, link, links } from './links.ts'
import { operator } from './operator.ts'
import { proof } from './proof.ts'
import { keys, webhooks } from './keys.ts'
import { qr } from './qr.ts'
import { stats } from './stats.ts'
import { campaigns, channels, domains, pixels, resources } from './resources.ts'

/** Everything that the dashboard says, by where it says it. A text in code is `{name}` for what is filled in. */
export const en = {
  account,
  actions,
  blast,
  bios,
  by,
  campaigns,
  channels,
  chart,
  devices,
  domains,
  door,
  editor,
  editors,
  errors,
  first,
  help,
  history,
  keys,
  link,
  links,
  nav,
  operator,
  overlays,
  overview,
  past,
  periods,
  proof,
  pixels,
  qr,
  restore,
  stats,
  resources,
  splashes,
  toasts,
  totals,
  webhooks,
}

/** The same shape with other words: the compiler finds what a language lacks. */
export type Texts = typeof en
