import { promises as dns } from 'node:dns'

/** The look-ups that are needed; node:dns/promises has this shape. */
export interface Resolver {
  readonly resolve4: (host: string) => Promise<string[]>
  readonly resolve6: (host: string) => Promise<string[]>
  readonly resolveCname: (host: string) => Promise<string[]>
}

/** A name that is not there has no records; any other failure is one, for it says nothing about the name. */
const records = (found: Promise<string[]>) =>
  found.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENODATA' || error.code === 'ENOTFOUND') return []
    throw error
  })
const name = (host: string) => host.toLowerCase().replace(/\.$/, '')

/** Whether a host points to one of the targets (names and addresses): by CNAME, or by an address that is theirs. Nothing is ever fetched. */
export const pointsTo = async (
  host: string,
  targets: readonly string[],
  resolver: Resolver = dns,
): Promise<boolean> => {
  const wanted = new Set(targets.map(name))
  const addresses = async (of: string) =>
    (await Promise.all([records(resolver.resolve4(of)), records(resolver.resolve6(of))])).flat()
  const [aliases, own] = await Promise.all([records(resolver.resolveCname(host)), addresses(host)])
  if ([...aliases.map(name), ...own].some((found) => wanted.has(found))) return true
  const names = targets.filter((target) => /[a-z]/i.test(target) && !target.includes(':'))
  const theirs = new Set((await Promise.all(names.map(addresses))).flat())
  return own.some((address) => theirs.has(address))
}
