import { aliasPath, shownAlias } from '../../../lib/short/alias.ts'
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
  readonly to: string
  readonly alias: string
}

/** Signs that servers would read as the names of variables, as URLs may write them, too. */
const plain = (url: string) =>
  url.replaceAll(/["\\$`{}]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
const quoted = ({ from, to }: Redirect) => `"${plain(from)}" "${plain(to)}"`

/** The forms of the same list: what a line is, and what stands before the first line of a file. */
const forms: readonly {
  readonly folder: string
  readonly extension: string
  readonly head?: string
  readonly line: (redirect: Redirect) => string
}[] = [
  { folder: 'csv', extension: 'csv', head: 'alias,url\n', line: ({ alias, to }) => csvLine([alias, to]) },
  { folder: 'nginx', extension: 'map', line: (one) => `${quoted(one)};` },
  { folder: 'caddy', extension: 'caddy', line: quoted },
  { folder: 'netlify', extension: '_redirects', line: ({ encoded, to }) => `https://${encoded} ${to} 302` },
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
        const host = origin({ domain: domain === null ? null : Number(domain) }, addresses).replace(/^https?:\/\//, '')
        yield {
          alias: shownAlias(alias),
          from: `${host}/${shownAlias(alias)}`,
          encoded: `${host}/${aliasPath(alias)}`,
          to: url,
        }
      }
    }
  }
  return forms.map(({ folder, ...form }) => ({ folder: `redirects/${folder}`, lines: redirects(), form }))
}
