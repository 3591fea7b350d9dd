import { Resolver as NodeResolver } from 'node:dns/promises'
import { withTimeout } from './async/timeout.ts'
import { cut } from './strangers.ts'

/** The lookups made here; a `Resolver` of `node:dns/promises` has this shape. */
export interface Resolver {
  readonly resolve4: (host: string) => Promise<string[]>
  readonly resolve6: (host: string) => Promise<string[]>
  readonly resolveCname: (host: string) => Promise<string[]>
  /** each record in its parts */
  readonly resolveTxt: (host: string) => Promise<string[][]>
}

/**
 * Returns a resolver that asks the name servers of the system, or these (`address:port`), itself: `dns.lookup` would
 * occupy threads that the disk needs, too.
 */
export const openResolver = (servers?: readonly string[]): Resolver => {
  const resolver = new NodeResolver({ timeout: 2000, tries: 2 })
  if (servers) resolver.setServers(servers)
  return resolver
}

/** ms for all attempts of a lookup */
const timeoutMs = 8000

/** Returns the records; none when the name has none, undefined when the name servers did not say. */
const records = async <R>(lookup: Promise<R[]>): Promise<R[] | undefined> => {
  try {
    return await withTimeout(timeoutMs, lookup)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENODATA' || code === 'ENOTFOUND' ? [] : undefined
  }
}
const name = (host: string) => host.toLowerCase().replace(/\.$/, '')
const isName = (target: string) => /[a-z]/i.test(target) && !target.includes(':')

/** Returns the values of a name's TXT records. Undefined: the name servers did not answer. */
export const textsAt = async (host: string, resolver: Resolver): Promise<readonly string[] | undefined> =>
  (await records(resolver.resolveTxt(host)))?.map((parts) => cut('record', parts.join('')))

const addressesOf = async (host: string, resolver: Resolver) => {
  const found = await Promise.all([records(resolver.resolve4(host)), records(resolver.resolve6(host))])
  return { addresses: found.flatMap((some) => some ?? []), complete: !found.includes(undefined) }
}

/** Where a host points to: names and addresses. */
export interface Pointing {
  readonly found: readonly string[]
  /** whether it points to one of the targets; undefined: the name servers did not say */
  readonly matches: boolean | undefined
}

/** Compares a host with targets (names or addresses), by CNAME or by a shared address. Makes no HTTP request. */
export const pointingOf = async (host: string, targets: readonly string[], resolver: Resolver): Promise<Pointing> => {
  const wanted = new Set(targets.map(name))
  const [cnames, own] = await Promise.all([records(resolver.resolveCname(host)), addressesOf(host, resolver)])
  const aliases = (cnames ?? []).map((alias) => name(cut('record', alias)))
  const found = [...aliases, ...own.addresses]
  if (found.some((one) => wanted.has(one))) return { found, matches: true }
  const named = await Promise.all(targets.filter(isName).map((target) => addressesOf(target, resolver)))
  const shared = new Set(named.flatMap(({ addresses }) => addresses))
  if (own.addresses.some((address) => shared.has(address))) return { found, matches: true }
  const complete = cnames !== undefined && [own, ...named].every((one) => one.complete)
  return { found, matches: complete ? false : undefined }
}
