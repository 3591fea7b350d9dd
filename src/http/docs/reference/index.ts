import { accountReference, filteredReference, linkStatsReference } from './account.ts'
import { bioReference } from './bio.ts'
import { bulkReference } from './bulk.ts'
import { campaignReference } from './campaign.ts'
import { channelReference } from './channel.ts'
import type { Reference } from '../../api/describe.ts'
import { domainReference } from './domain.ts'
import { historyReference, restoreReference } from './history.ts'
import { keyReference } from './key.ts'
import { linkReference } from './link.ts'
import { operatorReference } from './operator.ts'
import { overlayReference } from './overlay.ts'
import { pixelReference } from './pixel.ts'
import { proofReference } from './proof.ts'
import { qrReference } from './qr.ts'
import { sessionReference } from './session.ts'
import { reclassifyReference } from './reclassify.ts'
import { rehearseReference } from './rehearse.ts'
import { revisionsReference } from './revisions.ts'
import { splashReference } from './splash.ts'
import { streamReference } from './stream.ts'
import { tagReference } from './tag.ts'
import { webhookReference } from './webhook.ts'

/** The description of every route, by what it is about. */
export const reference: Readonly<Record<string, Reference>> = {
  Account: { ...accountReference, ...filteredReference, ...reclassifyReference },
  'Sign-in': sessionReference,
  'API keys': keyReference,
  Links: {
    ...linkReference,
    ...linkStatsReference,
    ...rehearseReference,
    ...revisionsReference,
    ...tagReference,
    ...bulkReference,
  },
  'QR codes': qrReference,
  Domains: domainReference,
  Pixels: pixelReference,
  Campaigns: campaignReference,
  Channels: channelReference,
  Overlays: overlayReference,
  'Splash pages': splashReference,
  'Bio pages': bioReference,
  Streams: streamReference,
  Webhooks: webhookReference,
  Proofs: proofReference,
  History: { ...historyReference, ...restoreReference },
  Operator: operatorReference,
}
