import type { Handler } from '../commands/handle.ts'
import { link } from '../commands/links/link.ts'
import { blockedAddress } from '../commands/operator/block.ts'
import { bio } from '../commands/pages/bio.ts'
import { domainsChanged } from '../queries/domains/domain.ts'
import type { Reader } from '../queries/reader.ts'

interface Subject {
  readonly kind: string
  readonly value: string
}

/**
 * Returns the short addresses that a link or a bio page has and had, in the spelling that they are blocked in; none of
 * anything else that can be blocked.
 */
export const formerAddresses = async (
  { handler, reader }: { readonly handler: Pick<Handler, 'steps'>; readonly reader: Reader },
  { kind, value }: Subject,
): Promise<readonly string[]> => {
  const addresses = new Set<string>()
  if (kind === 'bio')
    for await (const { after } of handler.steps(bio, value))
      addresses.add(blockedAddress(undefined, after.fields.alias))
  if (kind === 'link') {
    const domains = new Map((await domainsChanged(reader, 0n)).map(({ id, domain }) => [id, domain]))
    for await (const { after } of handler.steps(link, value)) {
      const { domain, alias } = after.fields
      addresses.add(blockedAddress(domain === null ? undefined : domains.get(domain), alias))
    }
  }
  return [...addresses]
}
