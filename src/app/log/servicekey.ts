import { randomUUID } from 'node:crypto'
import { codec, Unreadable } from '../../events/codec.ts'
import { systemMetadata } from '../../events/event.ts'
import { type EventStore, isUnused, readToHead } from '../../events/store.ts'
import { streamId } from '../../events/streams.ts'
import { OperatorError } from '../../lib/operatorerror.ts'
import { type Keyring, markOf } from '../../security/keyring.ts'

/** The keys in the database are not those that the log was written with. */
export class ForeignKeys extends OperatorError {
  override readonly name = 'ForeignKeys'
}

const stream = streamId('log', 'key')
const cure =
  'Check that DATABASE_URL, EVENTSTORE_URL and DATA_DIR name the places of one service. If they do, restore the schema `state` from the backup ' +
  'of this log, with the SECRET or DATA_DIR/secret of that time. The log and its keys were not changed.'
const missing = `the database has no keys, but the log has events that need them: the schema \`state\` is empty or new. ${cure}`
const foreign = (found: string) =>
  `the database has other keys than those that the log was written with (${found}): API keys and e-mail addresses would not be recognized, and personal data would be lost. ${cure}`

/**
 * Returns the mark of the service key in the log; undefined in a log that was opened without one and is not marked yet.
 */
const readMark = async (store: Pick<EventStore, 'last'>): Promise<string | undefined> => {
  const [opened, marked] = await Promise.all([store.last('log'), store.last(stream)])
  if (opened?.type === 'LogOpened' && opened.data.serviceKey !== undefined) return opened.data.serviceKey
  return marked?.type === 'ServiceKeyMarked' ? marked.data.serviceKey : undefined
}

const requireMark = (service: Buffer | undefined, mark: string): Buffer => {
  if (!service) throw new ForeignKeys(missing)
  if (markOf(service) !== mark) throw new ForeignKeys(foreign(`mark ${markOf(service)} instead of ${mark}`))
  return service
}

/** Throws `ForeignKeys` when the log is marked with another service key. */
const checkMark = async (store: Pick<EventStore, 'last'>, service: Buffer | undefined): Promise<void> => {
  const mark = await readMark(store)
  if (mark !== undefined) requireMark(service, mark)
}

type Log = Pick<EventStore, 'head' | 'subscribe'>

/**
 * Returns whether the keys open the log: one readable account is enough. A log without accounts, apart from erased
 * ones, fits all keys.
 */
const opensAccounts = async (store: Log): Promise<boolean> => {
  const closed = new Set<number>()
  try {
    for await (const events of readToHead(store, { after: 0n, filter: 'domain', limit: 500 }))
      for (const { type, data } of events) {
        if (type === 'AccountRegistered' && data.email !== null) return true
        if (type === 'AccountRegistered') closed.add(data.id)
        if (type === 'AccountErased') closed.delete(data.id)
      }
  } catch (error) {
    // the projector reports it; it must not keep the service from starting
    if (!(error instanceof Unreadable)) throw error
  }
  return closed.size === 0
}

type MarkedStore = Pick<EventStore, 'append' | 'last' | 'head' | 'subscribe'>

/**
 * Marks a log of release 0.1.0. Of several processes that start together, one appends the mark and the others compare
 * theirs with it.
 */
const mark = async (store: MarkedStore, service: Buffer) => {
  const data = { serviceKey: markOf(service) }
  const event = { id: randomUUID(), type: 'ServiceKeyMarked', data, metadata: systemMetadata() } as const
  await store.append([{ stream, expected: 'no_stream', events: [event] }])
  await checkMark(store, service)
}

/**
 * Returns the service key, if there is one, and whether the log is marked with it. Throws `ForeignKeys`. `open` has the
 * same log, decrypted.
 */
const compareKeys = async (store: Pick<EventStore, 'last' | 'head' | 'subscribe'>, open: Log, keyring: Keyring) => {
  const [service, marked] = await Promise.all([keyring.findService(), readMark(store)])
  if (marked !== undefined) return { service: requireMark(service, marked), isMarked: true }
  if (!service && !(await isUnused(store))) throw new ForeignKeys(missing)
  if (!(await opensAccounts(open))) throw new ForeignKeys(foreign('they open none of its accounts'))
  return { service, isMarked: false }
}

/**
 * Returns the service key after comparing it with the mark in the log. A log without a mark gets one, unless its keys
 * are evidently others. Throws `ForeignKeys` before anything is changed.
 */
export const requireServiceKey = async (store: MarkedStore, keyring: Keyring): Promise<Buffer> => {
  const { service, isMarked } = await compareKeys(store, store, keyring)
  const known = service ?? (await keyring.createService())
  if (!isMarked) await mark(store, known)
  return known
}

/** Throws `ForeignKeys` unless the keys fit a log whose events are read as they are stored. Changes nothing. */
export const requireFittingKeys = async (
  store: Pick<EventStore, 'last' | 'head' | 'subscribe'>,
  keyring: Keyring,
): Promise<void> => {
  const { decode } = codec(keyring)
  const open: Log = {
    head: store.head,
    subscribe: async function* (range) {
      for await (const events of store.subscribe(range)) yield await decode(events)
    },
  }
  await compareKeys(store, open, keyring)
}
