import { accountReference, linkStatsReference } from './account.ts'
import { bioReference } from './bio.ts'
import { bulkReference } from './bulk.ts'
import { campaignReference } from './campaign.ts'
import { channelReference } from './channel.ts'
import type { Reference } from './describe.ts'
import { domainReference } from './domain.ts'
import { keyReference } from './key.ts'
import { linkReference } from './link.ts'
import { overlayReference } from './overlay.ts'
import { pixelReference } from './pixel.ts'
import { qrReference } from './qr.ts'
import { splashReference } from './splash.ts'
import { tagReference } from './tag.ts'

/** The description of every route, by what it is about. */
export const reference: Readonly<Record<string, Reference>> = {
  Account: accountReference,
  'API keys': keyReference,
  Links: { ...linkReference, ...linkStatsReference, ...tagReference, ...bulkReference },
  'QR codes': qrReference,
  Domains: domainReference,
  Pixels: pixelReference,
  Campaigns: campaignReference,
  Channels: channelReference,
  Overlays: overlayReference,
  'Splash pages': splashReference,
  'Bio pages': bioReference,
}
