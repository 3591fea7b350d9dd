import type { Texts } from '../en/index.ts'
import { account } from './account.ts'
import { bios, editors, overlays, splashes } from './editors.ts'
import { actions, door, errors, help, nav, toasts } from './frame.ts'
import { blast, history, past, restore } from './history.ts'
import { editor, link, links } from './links.ts'
import { by, chart, devices, first, overview, periods, totals } from './overview.ts'
import { operator } from './operator.ts'
import { proof } from './proof.ts'
import { keys, webhooks } from './keys.ts'
import { qr } from './qr.ts'
import { stats } from './stats.ts'
import { campaigns, channels, domains, pixels, resources } from './resources.ts'

export const de: Texts = {
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
