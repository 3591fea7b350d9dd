import { randomBytes } from 'node:crypto'
import { codec } from '../../src/events/codec.ts'
import { eventStoreDb, type EventStoreDbOptions } from '../../src/store/eventstoredb.ts'
import { startDouble } from './eventstoredb.ts'
import { memoryKeyring } from './keyring.ts'

export interface Engine {
  readonly url: string
  /** of the streams of one spec: the real server has those of others */
  readonly prefix: string
  /** what a service on it is started with */
  readonly settings: { readonly EVENTSTORE_URL: string; readonly EVENTSTORE_PREFIX: string }
  readonly close: () => Promise<void>
}

const real = process.env['TEST_EVENTSTORE_URL']

/** Which EventStoreDB the specs run against; part of their titles. */
export const eventStoreEngine = real
  ? 'EventStoreDB, THE REAL SERVER of TEST_EVENTSTORE_URL'
  : 'EventStoreDB, A STAND-IN of this repository (set TEST_EVENTSTORE_URL to use a real server)'

let announced = false
const announce = () => {
  if (!announced) process.stdout.write(`\n  ==> ${eventStoreEngine}\n\n`)
  announced = true
}

/** Opens the real server, whose log may have other events, or an empty stand-in. */
export const openEventStore = async (): Promise<Engine> => {
  announce()
  const { url, close } = real ? { url: real, close: async () => {} } : await startDouble()
  const prefix = `spec${randomBytes(6).toString('hex')}`
  return { url, prefix, settings: { EVENTSTORE_URL: url, EVENTSTORE_PREFIX: prefix }, close }
}

/** Opens a stand-in that can fail on command, and an event store on it. */
export const openDouble = async (options: Partial<EventStoreDbOptions> = {}) => {
  const double = await startDouble()
  const store = await eventStoreDb({ url: double.url, codec: codec(memoryKeyring()), ...options })
  return {
    double,
    store,
    close: async () => {
      await store.close()
      await double.close()
    },
  }
}
