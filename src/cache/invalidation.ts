import { parseStreamId, type StreamKind } from '../events/streams.ts'
import { erasedAccounts } from '../queries/accounts/account.ts'
import { blocksChanged } from '../queries/operator/block.ts'
import { domainsChanged } from '../queries/domains/domain.ts'
import type { Reader } from '../queries/reader.ts'
import { type Changed, streamsChanged } from '../queries/history/changed.ts'
import type { Access } from './access.ts'
import type { Blocks } from './blocks.ts'
import type { Domains } from './domains.ts'
import type { Targets } from './targets.ts'

export interface InvalidationOptions {
  readonly reader: Reader
  readonly targets: Targets
  readonly domains: Domains
  readonly blocks: Blocks
  readonly access: Pick<Access, 'forget' | 'forgetAll'>
  /** Called with accounts that changed: their keys may have been destroyed. */
  readonly onAccounts: (accounts: readonly number[]) => void
  /**
   * Called with all erased accounts: their keys are destroyed again, in case a restored backup or an interrupted
   * command left one.
   */
  readonly onErased: (accounts: readonly number[]) => Promise<void>
}

export interface Invalidation {
  /** Loads what the first request needs: all domains, what is blocked, and all erased accounts. */
  readonly warm: () => Promise<void>
  /** Drops the cached state of everything that changed between two positions of the log. */
  readonly invalidate: (after: bigint, upTo: bigint) => Promise<void>
  /** Drops everything, because changes may have been missed. */
  readonly invalidateAll: () => void
  /** Loads again what could not be loaded the last time; called now and then. */
  readonly retry: () => Promise<void>
}

const idsOf = (changed: readonly Changed[], wanted: StreamKind) =>
  changed.flatMap(({ stream }) => {
    const { kind, number } = parseStreamId(stream)
    return kind === wanted ? [number] : []
  })

export const createInvalidation = ({
  reader,
  targets,
  domains,
  blocks,
  access,
  onAccounts,
  onErased,
}: InvalidationOptions): Invalidation => {
  /**
   * Later invalidations read what changed later, so what a load has missed would stay unknown: a block, or a domain
   * that ended.
   */
  let [started, loaded] = [0, 0]
  const warm = async () => {
    const load = ++started
    domains.set(await domainsChanged(reader, 0n))
    blocks.set(await blocksChanged(reader, 0n))
    await onErased(await erasedAccounts(reader))
    loaded = Math.max(loaded, load)
  }
  let retrying: Promise<void> | undefined
  const retry = async () => {
    if (loaded < started) await (retrying ??= warm().finally(() => (retrying = undefined)))
  }

  const invalidateAll = () => {
    targets.invalidateAll()
    access.forgetAll()
    // if this fails, it is tried again
    void warm().catch(() => {})
  }

  const invalidateAccounts = async (accounts: readonly number[]) => {
    targets.invalidateAccounts(accounts)
    access.forget(accounts)
    onAccounts(accounts)
    await onErased(await erasedAccounts(reader))
  }

  const invalidate = async (after: bigint, upTo: bigint) => {
    try {
      const changed = await streamsChanged(reader, after, upTo)
      const accounts = idsOf(changed, 'account')
      targets.invalidate(changed)
      // the domains of an account stop with it
      if (accounts.length > 0 || idsOf(changed, 'domain').length > 0)
        domains.set(await domainsChanged(reader, after, upTo))
      if (changed.some(({ stream }) => parseStreamId(stream).kind === 'block'))
        blocks.set(await blocksChanged(reader, after, upTo))
      access.forget([...idsOf(changed, 'team'), ...idsOf(changed, 'approval')])
      if (accounts.length > 0) await invalidateAccounts(accounts)
    } catch {
      invalidateAll()
    }
  }

  return { warm, invalidate, invalidateAll, retry }
}
