import { accountContract, filteredContract, linkStatsContract } from '../accounts/contract/account.ts'
import { bioContract } from '../pages/contract/bio.ts'
import { bulkContract } from '../links/contract/bulk.ts'
import { campaignContract } from '../links/contract/campaign.ts'
import { channelContract } from '../links/contract/channel.ts'
import type { Contract } from '../api/describe.ts'
import { domainContract } from '../domains/contract.ts'
import { historyContract, restoreContract } from '../history/contract/history.ts'
import { keyContract } from '../accounts/contract/key.ts'
import { linkContract } from '../links/contract/link.ts'
import { operatorContract } from '../operator/contract.ts'
import { overlayContract } from '../pages/contract/overlay.ts'
import { pixelContract } from '../pages/contract/pixel.ts'
import { proofContract } from '../proof/contract.ts'
import { qrContract } from '../qr/contract.ts'
import { sessionContract } from '../accounts/contract/session.ts'
import { reclassifyContract } from '../statistics/contract/reclassify.ts'
import { rehearseContract } from '../statistics/contract/rehearse.ts'
import { revisionsContract } from '../history/contract/revisions.ts'
import { splashContract } from '../pages/contract/splash.ts'
import { streamContract } from '../streams/contract.ts'
import { tagContract } from '../links/contract/tag.ts'
import { webhookContract } from '../webhooks/contract.ts'

/** The contract of every route, by what it is about: the contract of a subject is beside its routes. */
export const contracts: Readonly<Record<string, Contract>> = {
  Account: { ...accountContract, ...filteredContract, ...reclassifyContract },
  'Sign-in': sessionContract,
  'API keys': keyContract,
  Links: {
    ...linkContract,
    ...linkStatsContract,
    ...rehearseContract,
    ...revisionsContract,
    ...tagContract,
    ...bulkContract,
  },
  'QR codes': qrContract,
  Domains: domainContract,
  Pixels: pixelContract,
  Campaigns: campaignContract,
  Channels: channelContract,
  Overlays: overlayContract,
  'Splash pages': splashContract,
  'Bio pages': bioContract,
  Streams: streamContract,
  Webhooks: webhookContract,
  Proofs: proofContract,
  History: { ...historyContract, ...restoreContract },
  Operator: operatorContract,
}
