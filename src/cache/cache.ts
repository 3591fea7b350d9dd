import { bio } from '../commands/bio.ts'
import type { Decider } from '../commands/decider.ts'
import type { Handler } from '../commands/handle.ts'
import { link } from '../commands/link.ts'
import { overlay } from '../commands/overlay.ts'
import type { Owned } from '../commands/owned.ts'
import { pixel } from '../commands/pixel.ts'
import { splash } from '../commands/splash.ts'
import type { DomainEvent } from '../events/index.ts'
import { StoreUnavailable } from '../events/store.ts'
import { parseStreamId } from '../events/streams.ts'
import { openProgress, type Progress } from './progress.ts'
import { erasedAccounts } from '../queries/account.ts'
import { findKey } from '../queries/key.ts'
import type { Reader } from '../queries/reader.ts'
import {
  findPublicTarget,
  type PublicTarget,
  type Parts,
  interstitialOf,
  streamsChanged,
  partStreams,
  type Target,
} from '../queries/target.ts'
import { domainsChanged } from '../queries/domain.ts'
import { type Auth, openAuth } from './auth.ts'
import { type Domains, openDomains } from './domains.ts'
import { isUnavailable } from '../lib/unavailable.ts'
import { type PendingStreams, openPendingStreams } from './pending.ts'
import { openTargets, type Targets } from './targets.ts'

/** What this process remembers of the read tables, and how it learns that it is no longer true. */
export interface Cache {
  readonly auth: Auth
  readonly targets: Targets
  readonly domains: Domains
  readonly pending: PendingStreams
  readonly progress: Progress
  /** A link with what it shows as that is by now, also while the tables are late with it. */
  readonly current: (target: Target) => Promise<Target>
  /** Something may have been missed. */
  readonly invalidateAll: () => void
  /** Learns all that has to be known before it is asked for. */
  readonly warm: () => Promise<void>
}

export interface CacheOptions {
  readonly handler: Handler
  readonly reader: Reader
  /** with connections of its own: redirects never wait for one that the API holds */
  readonly redirectReader: Reader
  /** key of the hashes that API keys are kept as */
  readonly pepper: Buffer
  /** the position up to which nothing has been remembered yet */
  readonly start: bigint
  /** notifications are being heard, so nothing can have been missed */
  readonly trusted: () => boolean
  /** The keys of these accounts may have been destroyed. */
  readonly onAccounts: (accounts: readonly number[]) => void
  /** The keys of these accounts have to be destroyed, should a restored backup or a broken command have left one. */
  readonly onErased: (accounts: readonly number[]) => Promise<void>
  readonly onProblem: (error: unknown, what: string) => void
}

export const openCache = ({
  handler,
  reader,
  redirectReader,
  pepper,
  start,
  trusted,
  onAccounts,
  onErased,
  onProblem,
}: CacheOptions): Cache => {
  const forget = async (after: bigint, upTo: bigint) => {
    try {
      const changed = await streamsChanged(reader, after, upTo)
      const of = (kind: string) =>
        changed.flatMap(({ stream }) => (stream.startsWith(`${kind}-`) ? [parseStreamId(stream).number] : []))
      const accounts = of('account')
      targets.forget(changed)
      if (of('domain').length > 0) domains.know(await domainsChanged(reader, after, upTo))
      if (accounts.length === 0) return
      targets.forgetAccounts(accounts)
      auth.forget(accounts)
      onAccounts(accounts)
      await onErased(await erasedAccounts(reader))
    } catch {
      invalidateAll()
    }
  }
  const warm = async () => {
    domains.know(await domainsChanged(reader, 0n))
    await onErased(await erasedAccounts(reader))
  }
  const invalidateAll = () => {
    targets.invalidateAll()
    auth.forgetAll()
    // what cannot be read now is read by the next who distrusts
    void warm().catch(() => {})
  }
  const domains = openDomains()
  const progress = openProgress(start, forget)
  const auth = openAuth(pepper, async (key) => {
    const found = await findKey(reader, key)
    // it may be one that the tables are late with: whoever has just registered is not told that his key is wrong
    if (!found && pending.any('account-')) throw new StoreUnavailable('the read tables are late with an account')
    return found
  })
  const targets = openTargets({
    find: (domain, aliasKey) => findPublicTarget(redirectReader, domain, aliasKey),
    trusted,
    seen: progress.seen,
  })
  // what the tables are late with is served as its own stream says
  const folded = foldedBy(handler)
  const pending = openPendingStreams(progress, (stream, position) => {
    const { kind, number } = parseStreamId(stream)
    void folded[kind]?.(number)
      .then((target) => targets.override(stream, position, target))
      .catch((error: unknown) => onProblem(error, `${stream}, which the tables are late with, could not be read`))
  })
  const parts = partsBy(handler)
  const current = async (target: Target) => {
    if (!target.interstitial || !partStreams(target.interstitial).some(pending.has)) return target
    try {
      return { ...target, interstitial: interstitialOf(target, await parts(target)) }
    } catch (error) {
      // an old page is better than none
      if (isUnavailable(error)) return target
      throw error
    }
  }
  return { auth, targets, domains, pending, progress, current, invalidateAll, warm }
}

/** What a link shows, as the streams of that say. */
const partsBy =
  ({ load }: Handler) =>
  async ({ type, pixels, account }: Pick<Target, 'type' | 'pixels' | 'account'>): Promise<Parts> => {
    const living = async <C, F, E extends DomainEvent>(decider: Decider<C, Owned<F>, E>, id: number) => {
      const { state } = await load(decider, id)
      return state.status === 'open' && state.account === account ? { ...state.fields, id } : undefined
    }
    const tags = await Promise.all(pixels.map((id) => living(pixel, id)))
    return {
      splash: type.startsWith('splash-') ? await living(splash, parseStreamId(type).number) : undefined,
      overlay: type.startsWith('overlay-') ? await living(overlay, parseStreamId(type).number) : undefined,
      pixels: tags.flatMap((tag) => tag ?? []),
    }
  }

/** What stands at an address as its stream says, by the prefix of that. */
const foldedBy = (handler: Handler): Readonly<Record<string, (id: number) => Promise<PublicTarget | undefined>>> => ({
  link: async (id) => {
    const { state, revision, position } = await handler.load(link, id)
    const { status, account, fields, password } = state
    if (status !== 'open') return undefined
    return {
      ...fields,
      link: id,
      account,
      revision: Number(revision),
      position,
      aliasKey: fields.alias.toLowerCase(),
      password,
      expiry: fields.expiry === null ? null : new Date(fields.expiry),
      interstitial: interstitialOf(fields, await partsBy(handler)({ ...fields, account })),
    }
  },
  bio: async (id) => {
    const { state, position } = await handler.load(bio, id)
    const { status, account, fields } = state
    if (status !== 'open') return undefined
    return { ...fields, bio: id, account, position, domain: null, aliasKey: fields.alias.toLowerCase() }
  },
})
