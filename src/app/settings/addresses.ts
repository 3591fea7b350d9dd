import { isIP } from 'node:net'

/** The ports that anything can listen on. */
export const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535

const example = 'must be an address like postgres://user:password@host:5432/database'
const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']
/** Options in the query of a PostgreSQL address: those of libpq, which providers write, and those of pg alone. */
const databaseOptions = new Set(
  `host port user password dbname database application_name fallback_application_name connect_timeout options client_encoding
  ssl sslmode sslcert sslkey sslrootcert sslpassword sslnegotiation sslsni sslcrl channel_binding gssencmode krbsrvname
  target_session_attrs load_balance_hosts hostaddr passfile service require_auth replication uselibpqcompat pgbouncer
  keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout statement_timeout query_timeout lock_timeout
  idle_in_transaction_session_timeout`.split(/\s+/),
)

/** Parses it as pg does: the query may have the host. Returns undefined when it cannot be parsed. */
const parse = (text: string) => {
  try {
    const url = new URL(text.replace('@/', '@none/'))
    // the end of a password
    if (/[@#]/.test(url.pathname + url.search + url.hash)) return undefined
    decodeURIComponent(url.username + url.password + url.hostname)
    decodeURI(url.pathname)
    return { url, host: url.searchParams.get('host') ?? (text.includes('@/') ? '' : url.hostname) }
  } catch {
    return undefined
  }
}

/** Returns what is wrong with the address of a PostgreSQL and what would be right, or undefined for a valid one. */
export const databaseProblem = (text: string): string | undefined => {
  if (!/^postgres(ql)?:\/\//.test(text)) return example
  if (/\s/.test(text)) return `${example}, without spaces: write %20 for one in a password`
  const parsed = parse(text)
  if (!parsed)
    return `${example}, with a port up to 65535: write : as %3A, / as %2F, @ as %40, # as %23 and % as %25 in a password`
  const { url, host } = parsed
  const options = url.searchParams
  if (host === '')
    return 'must name a host: postgres://user:password@host:5432/database, or ?host=/folder for a Unix socket'
  if (host.includes(',')) return 'must name one host: Linkledger connects to one server'
  const port = options.get('port') ?? (url.port || '5432')
  if (!isPort(port)) return 'must have a port from 1 to 65535'
  const unknown = [...options.keys()].find((name) => !databaseOptions.has(name))
  if (unknown !== undefined) return `has the option ${JSON.stringify(unknown)}, which PostgreSQL does not have`
  const mode = options.get('sslmode')
  if (mode !== null && !sslModes.includes(mode)) return `must set sslmode to one of ${sslModes.join(', ')}`
  if (!/^\d{1,4}$/.test(options.get('connect_timeout') ?? '0')) return 'must set connect_timeout to a number of seconds'
  return undefined
}

/** Returns whether a text is `host:port`, with brackets around an IPv6 address. */
export const isHostAndPort = (text: string): boolean => {
  const [, six, name, port = ''] = /^(?:\[([^\]]*)\]|([\w.-]+)):([^:]*)$/.exec(text) ?? []
  return isPort(port) && (six === undefined ? name !== undefined : isIP(six) === 6)
}
