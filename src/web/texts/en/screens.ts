import type { StartTexts } from './start.ts'
import { account } from './account.ts'
import { bios, editors, overlays, splashes } from './editors.ts'
import { blast, history, restore } from './history.ts'
import { keys, webhooks } from './keys.ts'
import { editor, link, links } from './links.ts'
import { operator } from './operator.ts'
import { proof } from './proof.ts'
import { qr } from './qr.ts'
import { campaigns, channels, domains, pixels, resources } from './resources.ts'

/** What the other screens say: it is loaded with the first of them. */
export const screens = {
  account,
  bios,
  blast,
  campaigns,
  channels,
  domains,
  editor,
  editors,
  history,
  keys,
  link,
  links,
  operator,
  overlays,
  pixels,
  proof,
  qr,
  resources,
  restore,
  splashes,
  webhooks,
}

export type ScreenTexts = typeof screens
/** Everything that the dashboard says, by where it says it. */
export type Texts = StartTexts & ScreenTexts
