import { StoreUnavailable } from '../../src/events/store.ts'
import { openTargets, type TargetsOptions } from '../../src/cache/targets.ts'
import { type PublicTarget, type Target, targetStream } from '../../src/queries/links/target.ts'
import { linkFields } from './events.ts'

/** Returns a link as the tables store it. */
export const target = (link: number, aliasKey = `alias-${link}`, over: Partial<Target> = {}): Target => ({
  ...linkFields,
  link,
  account: 1,
  revision: 0,
  position: 1n,
  aliasKey,
  address: 1,
  password: null,
  expiry: null,
  starts: null,
  unframed: [],
  interstitial: undefined,
  ...over,
})
/** Returns the invalidation of a changed link. */
export const changed = (row: Target, position: bigint) => ({
  stream: targetStream(row),
  domain: row.domain,
  aliasKey: row.aliasKey,
  position,
})

const linkOf = (found: PublicTarget | undefined) => (found && 'link' in found ? found : undefined)

/**
 * Opens a cache in front of a table in memory. While the table is held, its answers (as of the time of the lookup)
 * arrive only when it is released.
 */
export const openTestTargets = (options: Partial<TargetsOptions> = {}) => {
  const rows = new Map<string, Target>()
  const lookups: string[] = []
  let [trusted, seen, unavailable] = [true, 1n, false]
  let held: (() => void)[] | undefined
  const targets = openTargets({
    find: async (domain, aliasKey) => {
      lookups.push(aliasKey)
      const found = [...rows.values()].find((row) => row.domain === domain && row.aliasKey === aliasKey)
      if (held) await new Promise<void>((resolve) => held?.push(resolve))
      if (unavailable) throw new StoreUnavailable('unavailable')
      return found
    },
    trusted: () => trusted,
    shows: (_, position) => position <= seen,
    ...options,
  })
  return {
    ...targets,
    get: async (aliasKey: string, domain: number | null = null) => linkOf(await targets.get(domain, aliasKey))?.link,
    url: async (aliasKey: string) => linkOf(await targets.get(null, aliasKey))?.url,
    /** Changes the table; `invalidate` notifies the cache. */
    write: (row: Target) => void rows.set(String(row.link), row),
    remove: (link: number) => void rows.delete(String(link)),
    lookups,
    hold: () => void (held = []),
    release: () => {
      held?.forEach((go) => go())
      held = undefined
    },
    set: (state: { trusted?: boolean; seen?: bigint; unavailable?: boolean }) => {
      trusted = state.trusted ?? trusted
      seen = state.seen ?? seen
      unavailable = state.unavailable ?? unavailable
    },
  }
}
