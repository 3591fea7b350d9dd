import type { Handler } from '../commands/handle.ts'
import { parseStreamId } from '../events/streams.ts'
import { batch } from '../lib/async/batch.ts'
import { isUnavailable } from '../lib/unavailable.ts'
import type { Reader } from '../queries/reader.ts'
import {
  findPublicTargets,
  interstitialOf,
  partStreams,
  type PublicAddress,
  type Target,
} from '../queries/links/target.ts'
import { type Access, openAccess } from './access.ts'
import { type Blocks, openBlocks } from './blocks.ts'
import { type Domains, openDomains } from './domains.ts'
import { foldBlock, foldParts, foldTargets } from './fold.ts'
import { createInvalidation, type Invalidation, type InvalidationOptions } from './invalidation.ts'
import { openPendingStreams, type PendingStreams } from './pending.ts'
import { openPosition, openProgress, type Progress } from './progress.ts'
import type { FoundTarget } from './lookups.ts'
import { openTargets, type Targets } from './targets.ts'
import { countClicks } from '../queries/statistics/clickcount.ts'
import { type ClickCounts, openClickCounts } from './clickcounts.ts'

/** The cache of the read tables in this process, and its invalidation. */
export interface Cache
  extends Pick<Invalidation, 'warm' | 'invalidateAll' | 'retry'>, Pick<Access, 'auth' | 'members' | 'rules'> {
  readonly targets: Targets
  readonly domains: Domains
  readonly blocks: Blocks
  readonly pending: PendingStreams
  readonly progress: Progress
  readonly clickCounts: ClickCounts
  /** Returns a link with the interstitial it has now, also while the tables are behind. */
  readonly current: (target: Target) => Promise<Target>
}

export interface CacheOptions extends Pick<InvalidationOptions, 'onAccounts' | 'onErased'> {
  readonly handler: Handler
  readonly reader: Reader
  /** with separate connections, so that redirects never wait for those of the API */
  readonly redirectReader: Reader
  /** key of the hashes that API keys are stored as */
  readonly pepper: Buffer
  /** the log position that the read tables have reached */
  readonly start: bigint
  /** hosts that no branded domain may serve */
  readonly isOperatorHost: (host: string) => boolean
  /** Whether notifications arrive, so that no change can have been missed. */
  readonly trusted: () => boolean
  readonly onProblem: (error: unknown, what: string) => void
}

export const openCache = (options: CacheOptions): Cache => {
  const { handler, reader, redirectReader, pepper, start, trusted, onProblem } = options
  const position = openPosition(start)
  const domains = openDomains(options.isOperatorHost)
  const blocks = openBlocks()
  // those who guess aliases cause a look-up for each, so all of a turn share one
  const findTarget = batch<PublicAddress, FoundTarget>(100, (wanted) => findPublicTargets(redirectReader, wanted), 3)
  const targets = openTargets({
    find: (domain, aliasKey) => findTarget({ domain, aliasKey }),
    trusted,
    shows: position.shows,
  })

  const folds = foldTargets(handler)
  const refold = async (stream: string, at: bigint) => {
    const { kind, id, number } = parseStreamId(stream)
    const fold = folds[kind]
    if (kind === 'account' || kind === 'team' || kind === 'approval') access.forget([number])
    else if (kind === 'block') blocks.set([await foldBlock(handler, id)])
    else if (fold) targets.override(stream, at, await fold(number))
  }
  const pending = openPendingStreams(position, (stream, at) => {
    void refold(stream, at).catch((error: unknown) =>
      onProblem(error, `the pending stream ${stream} could not be read`),
    )
  })

  const access = openAccess({ handler, reader, pepper, pending })
  const { invalidate, ...caching } = createInvalidation({ ...options, targets, domains, blocks, access })
  const progress = openProgress(position, invalidate)

  const parts = foldParts(handler)
  const current = async (target: Target) => {
    const { interstitial } = target
    if (!interstitial || !partStreams(interstitial).some(pending.has)) return target
    try {
      return { ...target, interstitial: interstitialOf(target, await parts(target)) }
    } catch (error) {
      // an outdated page is better than none
      if (isUnavailable(error)) return target
      throw error
    }
  }

  const clickCounts = openClickCounts({ find: (links) => countClicks(redirectReader, links) })

  const { auth, members, rules } = access
  return { auth, members, rules, targets, clickCounts, domains, blocks, pending, progress, current, ...caching }
}
