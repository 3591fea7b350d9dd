import { accountContract, filteredContract, linkStatsContract } from '../accounts/contract/account.ts'
import { bioContract } from '../pages/contract/bio.ts'
import { bulkContract } from '../links/contract/bulk.ts'
import { campaignContract } from '../links/contract/campaign.ts'
import { channelContract } from '../links/contract/channel.ts'
import type { Contract } from '../api/contract.ts'
import { kinds, type OwnedKind, ownedKinds } from '../../events/kinds.ts'
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

/** What a group of operations is about, and the contract of each of its routes, which is beside them. */
interface Topic {
  readonly about: string
  readonly contract: Contract
}

const ofKinds: Readonly<Record<OwnedKind, Topic>> = {
  link: {
    about: 'Short links: where they lead, for whom, and what became of them',
    contract: {
      ...linkContract,
      ...linkStatsContract,
      ...rehearseContract,
      ...revisionsContract,
      ...tagContract,
      ...bulkContract,
    },
  },
  qr: {
    about: 'Codes of seven types, as PNG or SVG; those of type `link` count their scans',
    contract: qrContract,
  },
  domain: {
    about: 'Your own hosts for short links, proven by a DNS record',
    contract: domainContract,
  },
  pixel: {
    about: 'Tracking pixels that fire when a visitor is redirected',
    contract: pixelContract,
  },
  campaign: {
    about: 'Groups of links with a public list and an address that leads to one of them at random',
    contract: campaignContract,
  },
  channel: {
    about: 'Folders for links, QR codes and bio pages',
    contract: channelContract,
  },
  overlay: {
    about: 'Calls to action that are shown on top of a destination',
    contract: overlayContract,
  },
  splash: {
    about: 'Pages that are shown before a destination',
    contract: splashContract,
  },
  bio: {
    about: 'One public page with many links',
    contract: bioContract,
  },
  webhook: {
    about: 'Events and clicks, sent to an address of yours as they happen, signed, in order and without gaps',
    contract: webhookContract,
  },
}

/** `QR codes` and `Bio pages`: what groups are called. */
const titleOf = (kind: OwnedKind) => kinds[kind].many.replace(/^[a-z]/, (first) => first.toUpperCase())

/** Every group of the API, in the order of the documentation. */
export const topics: Readonly<Record<string, Topic>> = {
  Account: {
    about: 'Who you are, and how the service reaches you',
    contract: { ...accountContract, ...filteredContract, ...reclassifyContract },
  },
  'Sign-in': {
    about: 'Sessions of the dashboard, and its second factor',
    contract: sessionContract,
  },
  'API keys': {
    about: 'Keys for programs and people, each with its scopes, until a time, or from some addresses only',
    contract: keyContract,
  },
  ...Object.fromEntries(ownedKinds.map((kind) => [titleOf(kind), ofKinds[kind]])),
  Streams: {
    about: 'Every change and every click as a line, from the first one on or as they happen',
    contract: streamContract,
  },
  Proofs: {
    about: 'Receipts: the proof that the log has an event or a click, for somebody who may see no other',
    contract: proofContract,
  },
  History: {
    about: 'Who changed what and when, and how to take it back',
    contract: { ...historyContract, ...restoreContract },
  },
  Operator: {
    about: 'What operators see and do on the dashboard. API keys cannot call it',
    contract: operatorContract,
  },
}

export const contracts: Readonly<Record<string, Contract>> = Object.fromEntries(
  Object.entries(topics).map(([title, { contract }]) => [title, contract]),
)
