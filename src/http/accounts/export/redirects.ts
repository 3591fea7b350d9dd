import { aliasPath, isExact, shownAlias } from '../../../lib/short/alias.ts'
import { csvLine } from '../../../lib/csv.ts'
import { isWeb } from '../../../lib/schemes.ts'
import { redirectingLinks } from '../../../queries/accounts/export.ts'
import type { Reader } from '../../../queries/reader.ts'
import { type LinkAddresses, origin } from '../../links/address.ts'
import type { Content } from './archive.ts'

/** A short address and where it leads. */
interface Redirect {
  /** `go.example.com/spring` */
  readonly from: string
  /** the same, as a URL has it */
  readonly encoded: string
  /** whether letter case counts in its path */
  readonly exact: boolean
  readonly to: string
  /** as its owner writes it; the whole URL where a table would not have it unchanged */
  readonly alias: string
}

/** Signs that servers would read as quotes, or as the names of variables. */
const signs = /["\\$`{}]/g
const codeOf = (sign: string) => sign.charCodeAt(0).toString(16)
const plain = (url: string) => url.replaceAll(signs, (sign) => `%${codeOf(sign).toUpperCase()}`)
/** Returns a regular expression of nginx and Caddy for an address as it is. */
const pattern = (address: string) => `~^${address.replaceAll(/["\\$`{}.*+?^()|[\]]/g, (sign) => `\\x${codeOf(sign)}`)}$`
/** Returns a line of a map, in which the servers compare decoded paths. */
const quoted = ({ from, to }: Redirect, isPattern: boolean) => `"${isPattern ? pattern(from) : from}" "${plain(to)}"`

/** What a table has unchanged: no spreadsheet takes it for a formula, and no reader trims it. */
const inTable = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}_./ -]*[\p{L}\p{N}\p{M}_./-])?$/u

/** The formats of the same list: the content of a line, and the header of a file. */
const forms: readonly {
  readonly folder: string
  readonly extension: string
  readonly head?: string
  readonly line: (redirect: Redirect) => string
}[] = [
  { folder: 'csv', extension: 'csv', head: 'alias,url\n', line: ({ alias, to }) => csvLine([alias, to]) },
  // nginx compares strings of a map without letter case
  { folder: 'nginx', extension: 'map', line: (one) => `${quoted(one, one.exact)};` },
  // Caddy compares them as they are, but replaces names in braces before
  { folder: 'caddy', extension: 'caddy', line: (one) => quoted(one, plain(one.from) !== one.from) },
  {
    folder: 'netlify',
    extension: '_redirects',
    // an asterisk would stand for all paths
    line: ({ encoded, to }) => `https://${encoded.replaceAll('*', '%2A')} ${to} 302`,
  },
  {
    folder: 'cloudflare',
    extension: 'csv',
    head: 'source_url,target_url,status_code\n',
    line: ({ encoded, to }) => csvLine([encoded, to, 302]),
  },
]

/**
 * The links of an account as maps for other servers, so that its addresses go on without this service: those that
 * redirect now, to anybody, by their main destination.
 */
export const redirectMaps = (account: number, reader: Reader, addresses: LinkAddresses): Content[] => {
  const redirects = async function* (): AsyncGenerator<Redirect> {
    for await (const { others, url, ...main } of redirectingLinks(reader, account)) {
      if (!isWeb(url)) continue
      for (const { alias, domain } of [main, ...(others ?? [])]) {
        const site = origin({ domain: domain === null ? null : Number(domain) }, addresses)
        const [shown, path] = [shownAlias(alias), aliasPath(alias)]
        const host = site.replace(/^https?:\/\//, '')
        yield {
          alias: inTable.test(shown) ? shown : `${site}/${path}`,
          ...{ from: `${host}/${shown}`, encoded: `${host}/${path}`, to: url },
          exact: isExact(alias),
        }
      }
    }
  }
  return forms.map(({ folder, ...form }) => ({ folder: `redirects/${folder}`, lines: redirects(), form }))
}
