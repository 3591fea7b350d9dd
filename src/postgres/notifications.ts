/** The channel of LISTEN and NOTIFY on which the processes that share a database talk to each other. */
export const channel = 'linkledger'

interface Sent {
  /** name of the process that sent it; each process uses its own as `application_name` */
  readonly from: string
}
/** The process has appended to the log. Without `filter`, events of any kind. */
type Appended = Sent & { readonly kind: 'appended'; readonly filter?: string }
/**
 * The events that pass `filter` are in read tables up to `position`. `tables` is the mark of these tables: those of
 * another release may be behind. It is undefined for clicks, and in a message of a release before 0.3.0.
 */
type Projected = Sent & {
  readonly kind: 'projected'
  readonly filter: string
  readonly position: bigint
  readonly tables?: string
}
/** A write to `stream` was answered before it was in the read tables. */
type Pending = Sent & { readonly kind: 'pending'; readonly stream: string; readonly position: bigint }
/** A new generation of read tables has replaced the one before. */
type Replaced = Sent & { readonly kind: 'replaced' }
/** Halted projections are to be tried again at once. */
type Retry = Sent & { readonly kind: 'retry' }
/**
 * The process has read which tables are live, and reads them with the log `log` and the service key of the mark `key`.
 */
type Reading = Sent & { readonly kind: 'reading'; readonly log: string; readonly key: string }
export type Notification = Appended | Projected | Pending | Replaced | Retry | Reading

/** The first words of the messages. A release may run next to an older one, so they stay as they are. */
const words = {
  appended: 'log',
  projected: 'seen',
  // a release before 0.3.0 takes `seen` of domain events for what its own tables have
  tables: 'tables',
  pending: 'late',
  replaced: 'live',
  retry: 'retry',
  reading: 'reads',
} as const
/** The same for the filter `domain`. */
const domainFilter = 'rest'
const wordOf = (filter: string) => (filter === 'domain' ? domainFilter : filter)
const filterOf = (word: string) => (word === domainFilter ? 'domain' : word)

/** Returns the text that `decode` reads: `<word> <from>` and up to two fields, separated by spaces. */
export const encode = (notification: Notification): string => {
  const head = `${words[notification.kind]} ${notification.from}`
  switch (notification.kind) {
    case 'appended':
      return notification.filter === undefined ? head : `${head} ${wordOf(notification.filter)}`
    case 'projected':
      return notification.tables === undefined
        ? `${head} ${wordOf(notification.filter)} ${notification.position}`
        : `${words.tables} ${notification.from} ${notification.tables} ${notification.position}`
    case 'pending':
      return `${head} ${notification.stream} ${notification.position}`
    case 'reading':
      return `${head} ${notification.log} ${notification.key}`
    default:
      return head
  }
}

/** A filter that only a newer release knows may concern every reader of this one. */
const appendedFilter = (name: string | undefined) =>
  name === domainFilter || name === 'clicks' ? { filter: filterOf(name) } : {}

/** Returns undefined for a text that this release does not know: a newer one may have sent it. */
export const decode = (text: string): Notification | undefined => {
  const [word, from, name, digits = ''] = text.split(' ')
  if (!from) return undefined
  if (word === words.appended) return { kind: 'appended', from, ...appendedFilter(name) }
  if (word === words.replaced) return { kind: 'replaced', from }
  if (word === words.retry) return { kind: 'retry', from }
  if (word === words.reading) return name && digits ? { kind: 'reading', from, log: name, key: digits } : undefined
  if (!name || !/^\d+$/.test(digits)) return undefined
  const position = BigInt(digits)
  if (word === words.projected) return { kind: 'projected', from, filter: filterOf(name), position }
  if (word === words.tables) return { kind: 'projected', from, filter: 'domain', position, tables: name }
  if (word === words.pending) return { kind: 'pending', from, stream: name, position }
  return undefined
}

/** SQL expression that sends the text in its first binding when the transaction commits. */
export const notify = `pg_notify('${channel}', ?)`

/** SQL that sends each text of the array in its first binding. */
export const notifyAll = `select pg_notify('${channel}', text) from unnest(?::text[]) as text`

/**
 * SQL that sends `appended` in the name of the connection it runs on. Its first binding is what `appendedSuffix`
 * returns.
 */
export const notifyAppended = `select pg_notify('${channel}', '${words.appended} ' || current_setting('application_name') || $1)`

/** Returns the end of the message for events that pass these filters. */
export const appendedSuffix = (filters: ReadonlySet<string>): string => {
  const [filter] = filters
  return filters.size === 1 && filter !== undefined ? ` ${wordOf(filter)}` : ''
}
