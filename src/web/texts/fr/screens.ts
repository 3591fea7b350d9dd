import type { ScreenTexts } from '../en/screens.ts'
import { account } from './account.ts'
import { bios, editors, overlays, splashes } from './editors.ts'
import { blast, history, restore } from './history.ts'
import { keys, webhooks } from './keys.ts'
import { editor, link, links } from './links.ts'
import { operator } from './operator.ts'
import { proof } from './proof.ts'
import { qr } from './qr.ts'
import { campaigns, channels, domains, pixels, resources } from './resources.ts'

export const screens: ScreenTexts = {
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
