import { promises as dns } from 'node:dns'

/** The lookups that `pointsTo` makes; `node:dns/promises` has this shape. */
export interface Resolver {
  readonly resolve4: (host: string) => Promise<string[]>
  readonly resolve6: (host: string) => Promise<string[]>
  readonly resolveCname: (host: string) => Promise<string[]>
}

/** A name without records gives `[]`. Any other failure is rethrown, because it says nothing about the name. */
const records = (lookup: Promise<string[]>) =>
  lookup.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENODATA' || error.code === 'ENOTFOUND') return []
    throw error
  })
const name = (host: string) => host.toLowerCase().replace(/\.$/, '')

/** Whether a host points to one of the targets (names or addresses), by CNAME or by a shared address. Makes no HTTP request. */
export const pointsTo = async (
  host: string,
  targets: readonly string[],
  resolver: Resolver = dns,
): Promise<boolean> => {
  const wanted = new Set(targets.map(name))
  const addressesOf = async (host: string) =>
    (await Promise.all([records(resolver.resolve4(host)), records(resolver.resolve6(host))])).flat()
  const [aliases, addresses] = await Promise.all([records(resolver.resolveCname(host)), addressesOf(host)])
  if ([...aliases.map(name), ...addresses].some((found) => wanted.has(found))) return true
  const names = targets.filter((target) => /[a-z]/i.test(target) && !target.includes(':'))
  const targetAddresses = new Set((await Promise.all(names.map(addressesOf))).flat())
  return addresses.some((address) => targetAddresses.has(address))
}
