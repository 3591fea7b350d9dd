import { account } from '../../src/commands/accounts/account.ts'
import { answer } from '../../src/commands/pages/answer.ts'
import { bio } from '../../src/commands/pages/bio.ts'
import { block } from '../../src/commands/operator/block.ts'
import { campaign } from '../../src/commands/links/campaign.ts'
import { channel, channelItem } from '../../src/commands/links/channel.ts'
import type { Decider } from '../../src/commands/decider.ts'
import { domain } from '../../src/commands/domains/domain.ts'
import { link } from '../../src/commands/links/link.ts'
import { overlay } from '../../src/commands/pages/overlay.ts'
import { pixel } from '../../src/commands/pages/pixel.ts'
import { qr } from '../../src/commands/qr/qr.ts'
import { reclassification } from '../../src/commands/statistics/reclassification.ts'
import { report } from '../../src/commands/operator/report.ts'
import { openElsewhere } from '../../src/clicks/elsewhere.ts'
import { openClickRecord } from '../../src/clicks/record.ts'
import { team } from '../../src/commands/accounts/team.ts'
import { splash } from '../../src/commands/pages/splash.ts'
import { webhook } from '../../src/commands/webhooks/webhook.ts'
import type { DomainEvent } from '../../src/events/index.ts'
import { parseStreamId } from '../../src/events/streams.ts'
import type { TestApp } from '../support/app.ts'
import { memoryKeyring } from '../support/keyring.ts'
import type { Json } from './database.ts'

type Ledger = Pick<TestApp['app']['ledger'], 'handler' | 'store'>
type Fold = (ledger: Ledger, stream: string) => Promise<object>

const by =
  <C, S, E extends DomainEvent>(decider: Decider<C, S, E>): Fold =>
  async ({ handler }, stream) => {
    const { state, revision, since, createdBy } = await handler.load(decider, parseStreamId(stream).id)
    // release 0.1.0 stored this field as `founder`
    return { state, revision: String(revision), since, founder: createdBy }
  }

/** Returns the newest holder of a claim. Its name may contain hyphens, its kind does not. */
const claimant: Fold = async ({ handler }, stream) => {
  const [, kind = '', name = ''] = /^claim-([a-z]+)-(.*)$/.exec(stream) ?? []
  return { holder: await handler.claimant({ kind, name } as Parameters<typeof handler.claimant>[0]) }
}

/** Returns how far a click log has recorded its spools and its topic. */
const clickLog: Fold = async ({ store }, stream) => {
  const [, log = '', partition = ''] = /^clicks-(.+)-(\d+)$/.exec(stream) ?? []
  const last = await store.last(stream)
  let partitions = 0
  for await (const { type, data } of store.read(stream)) if (type === 'ClickLogOpened') partitions = data.partitions
  const recording = openClickRecord({ store, log, partitions })
  const spools = Object.keys(last && 'upTo' in last.data ? last.data.upTo : {})
  const reached: Record<string, number | undefined> = {}
  for (const spool of spools) reached[spool] = (await recording.recordedUpTo(spool))[Number(partition)]
  return { partitions, reached, taken: await recording.lastMessage(Number(partition)) }
}

/** Returns up to where the visits of an import are recorded. */
const visitsElsewhere: Fold = async ({ store }, stream) => {
  const { forOpening } = memoryKeyring()
  const visitors = { countryOf: () => '', isOurHost: () => false }
  const elsewhere = openElsewhere({ store, keyring: { forOpening }, keptSince: async () => null, ...visitors })
  return { upTo: await elsewhere.visitsRecordedUpTo(parseStreamId(stream).id) }
}

/** Kinds of streams without a state: what they say is about the log and its readers. */
const stateless = ['log', 'projection', 'spool']
/** The fold of each kind of stream. */
const folds: Readonly<Record<string, Fold>> = {
  account: by(account),
  answer: by(answer),
  bio: by(bio),
  block: by(block),
  campaign: by(campaign),
  channel: by(channel),
  channelitem: by(channelItem),
  claim: claimant,
  clicks: clickLog,
  domain: by(domain),
  link: by(link),
  overlay: by(overlay),
  pixel: by(pixel),
  qr: by(qr),
  reclassification: by(reclassification),
  report: by(report),
  splash: by(splash),
  team: by(team),
  visits: visitsElsewhere,
  webhook: by(webhook),
}

/** Returns whether a stream has a state. */
export const hasFold = (stream: string) => Object.hasOwn(folds, stream.split('-')[0] ?? '')

/** Returns the state of every stream, by name, as the deciders fold it. */
export const foldAll = async (ledger: Ledger, streams: readonly string[]): Promise<Json> => {
  const states: Record<string, object> = {}
  for (const stream of streams) {
    const { kind } = parseStreamId(stream)
    const fold = folds[kind]
    if (fold) states[stream] = await fold(ledger, stream)
    else if (!stateless.includes(kind)) throw new Error(`${stream} has no fold`)
  }
  // like the stored JSON, without undefined fields
  return JSON.parse(JSON.stringify(states)) as Json
}
