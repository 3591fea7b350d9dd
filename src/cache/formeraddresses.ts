import { domain as domains } from '../commands/domains/domain.ts'
import type { Handler } from '../commands/handle.ts'
import { campaign } from '../commands/links/campaign.ts'
import { addressesOf } from '../commands/links/places.ts'
import { link } from '../commands/links/link.ts'
import { blockedAddress } from '../commands/operator/block.ts'
import { bio } from '../commands/pages/bio.ts'
import { hostKey } from '../lib/blocklist.ts'
import { domainsChanged } from '../queries/domains/domain.ts'
import type { Reader } from '../queries/reader.ts'

interface Subject {
  readonly kind: string
  readonly value: string
}
interface Sources {
  readonly handler: Pick<Handler, 'steps'>
  readonly reader: Reader
}

const keyOf = (site: string) => hostKey(new URL(site).hostname)

/**
 * Returns a function that lists the sites of an account's own branded domains. It skips domains that were never
 * verified: they served no visitor, and any account may add one at the host of another. It also skips hosts that now
 * belong to another account.
 */
const ownSites = ({ handler, reader }: Sources) => {
  const readHolders = async () => {
    const live = (await domainsChanged(reader, 0n)).filter((one) => one.live)
    return new Map(live.map(({ domain, account }) => [keyOf(domain), account]))
  }
  let holders: ReturnType<typeof readHolders> | undefined
  const known = new Map<number, string | undefined>()

  const find = async (id: number) => {
    let [site, account, wasVerified] = ['', 0, false]
    for await (const { after } of handler.steps(domains, id)) {
      ;[site, account] = [after.fields.domain, after.account]
      wasVerified ||= after.verified
    }
    if (!wasVerified) return undefined
    const holder = (await (holders ??= readHolders())).get(keyOf(site))
    return holder === undefined || holder === account ? site : undefined
  }

  return async (id: number) => {
    if (!known.has(id)) known.set(id, await find(id))
    return known.get(id)
  }
}

/** maximum bytes of the addresses in one block, so that any number of renames fits in the log */
const mostBytes = 262_144

/** Returns the newest addresses that fit into a block, the last one first. */
const newestOf = (addresses: ReadonlySet<string>): readonly string[] => {
  const newest: string[] = []
  let bytes = 0
  for (const address of [...addresses].toReversed()) {
    // with the quotation marks and the comma
    bytes += address.length + 3
    if (bytes > mostBytes) break
    newest.push(address)
  }
  return newest
}

/**
 * Returns the current and former short addresses of a link, a bio page or a campaign, newest first, spelled as in
 * blocks. Returns none for other subjects.
 */
export const formerAddresses = async (sources: Sources, { kind, value }: Subject): Promise<readonly string[]> => {
  const { handler } = sources
  const addresses = new Set<string>()
  const add = (site: string | undefined, alias: string) => {
    const address = blockedAddress(site, alias)
    // an address that it got back counts as that new
    addresses.delete(address)
    addresses.add(address)
  }
  if (kind === 'bio') for await (const { after } of handler.steps(bio, value)) add(undefined, after.fields.alias)
  if (kind === 'campaign')
    for await (const { after } of handler.steps(campaign, value)) add(undefined, `r/${after.fields.slug}`)
  if (kind === 'link') {
    const siteOf = ownSites(sources)
    for await (const { after } of handler.steps(link, value))
      // its main one is the newest
      for (const { domain, alias } of addressesOf(after).toReversed()) {
        const site = domain === null ? undefined : await siteOf(domain)
        if (domain === null || site !== undefined) add(site, alias)
      }
  }
  return newestOf(addresses)
}
