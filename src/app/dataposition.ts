import { setTimeout as sleep } from 'node:timers/promises'
import { createListener, readerLocks } from '../postgres/listen.ts'
import { decode, type Notification } from '../postgres/notifications.ts'
import { readerLock } from '../projections/engine/outdated.ts'
import { markOf } from '../security/keyring.ts'
import type { Ledger } from './log/ledger.ts'

type Reading = Extract<Notification, { readonly kind: 'reading' }>
type Own = Pick<Ledger, 'notify' | 'instance' | 'store' | 'keys'>

const readingOf = ({ instance, store, keys }: Omit<Own, 'notify'>): Reading => ({
  kind: 'reading',
  from: instance,
  log: store.logId,
  key: markOf(keys.service),
})

/** Announces that this process reads the tables that are live, and of which log and with which keys. */
export const announceReading = (ledger: Own): Promise<unknown> => ledger.notify(readingOf(ledger))

/** Returns the names of the processes that read tables of this version: they have its locks. */
const readers = async ({ db, projections }: Pick<Ledger, 'db' | 'projections'>): Promise<readonly string[]> => {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select distinct a.application_name as name from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.classid = ${readerLocks} and l.objsubid = 2 and l.granted
       and a.datname = current_database() and l.objid::bigint = any (?)`,
    // pg_locks shows the numbers as unsigned
    [projections.map((projection) => readerLock(projection) >>> 0)],
  )
  return rows.map(({ name }) => name)
}

/** the interval and the maximum number of checks */
const [interval, tries] = [100, 100]

/**
 * Asks the processes of the service to read which tables are live, and waits until they have. Returns a line for each
 * that does not answer, or that has another log or other keys than the database: log and state were replaced while it
 * ran.
 */
export const readersOfOldTables = async (ledger: Ledger): Promise<readonly string[]> => {
  const own = readingOf(ledger)
  const found = new Map<string, Reading>()
  const ask = () => void ledger.notify({ kind: 'replaced', from: own.from }).catch(() => {})
  const listener = createListener(ledger.connection, own.from)
  listener.start({
    message: (text) => {
      const notification = decode(text)
      if (notification?.kind === 'reading') found.set(notification.from, notification)
    },
    up: ask,
    lost: () => {},
  })
  try {
    let expected = await readers(ledger)
    for (let n = 1; n <= tries && expected.some((name) => !found.has(name)); n++) {
      await sleep(interval)
      // a process that was reconnecting has not heard the question
      if (n % 20 === 0) ask()
      expected = await readers(ledger)
    }
    return expected.flatMap((name) => problemOf(name, found.get(name), own) ?? [])
  } finally {
    await listener.close()
  }
}

const problemOf = (name: string, reading: Reading | undefined, own: Reading): string | undefined => {
  if (!reading) return `${name} does not answer`
  if (reading.log !== own.log) return `${name} has the log ${reading.log}, which was replaced by ${own.log}`
  return reading.key === own.key ? undefined : `${name} has other keys than the database`
}
