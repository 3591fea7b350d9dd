import type { Domains } from '../../../cache/domains.ts'
import { aliasKey, exactAliasesAt } from '../../../lib/short/alias.ts'
import type { Targets } from '../../../cache/targets.ts'
import type { Target } from '../../../queries/links/target.ts'

export interface OwnLinkOptions {
  readonly targets: Pick<Targets, 'get'>
  readonly domains: Pick<Domains, 'byHost'>
}

const ourPath = /^\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})\/?$/

/** Returns the aliases that a short address may have, the likely ones first; none for an address of anything else. */
export const aliasesIn = ({ host, pathname }: URL, domains: OwnLinkOptions['domains']): readonly string[] =>
  domains.byHost(host)?.exact
    ? exactAliasesAt(pathname).flatMap(({ alias, segments }) => (segments === undefined ? alias : []))
    : (ourPath.exec(pathname)?.slice(1) ?? [])

/** Returns the link of an account at a short address of ours: one visit then counts for it and for what leads to it. */
export const findOwnLink = async (
  { targets, domains }: OwnLinkOptions,
  { host, aliases }: { readonly host: string; readonly aliases: readonly string[] },
  account: number,
): Promise<Target | undefined> => {
  for (const alias of aliases) {
    const found = await targets.get(domains.byHost(host)?.id ?? null, aliasKey(alias))
    if (found) return 'link' in found && found.account === account ? found : undefined
  }
  return undefined
}
