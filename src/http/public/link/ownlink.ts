import type { Domains } from '../../../cache/domains.ts'
import { aliasKey, exactAliasAt } from '../../../lib/short/alias.ts'
import type { Targets } from '../../../cache/targets.ts'
import type { Target } from '../../../queries/links/target.ts'

export interface OwnLinkOptions {
  readonly targets: Pick<Targets, 'get'>
  readonly domains: Pick<Domains, 'byHost'>
}

const ourPath = /^\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})\/?$/

/** Returns the alias of a short address; undefined for an address of anything else. */
export const aliasIn = ({ host, pathname }: URL, domains: OwnLinkOptions['domains']): string | undefined =>
  domains.byHost(host)?.exact ? exactAliasAt(pathname) : ourPath.exec(pathname)?.[1]

/** Returns the link of an account at a short address of ours: one visit then counts for it and for what leads to it. */
export const findOwnLink = async (
  { targets, domains }: OwnLinkOptions,
  { host, alias }: { readonly host: string; readonly alias: string },
  account: number,
): Promise<Target | undefined> => {
  const found = await targets.get(domains.byHost(host)?.id ?? null, aliasKey(alias))
  return found && 'link' in found && found.account === account ? found : undefined
}
