import { codec } from '../../src/events/codec.ts'
import { eventStoreDb, type EventStoreDbOptions } from '../../src/store/eventstoredb.ts'
import { startDouble } from './eventstoredb.ts'
import { memoryKeyring } from './keyring.ts'

export interface Engine {
  readonly url: string
  readonly close: () => Promise<void>
}

const real = process.env['TEST_EVENTSTORE_URL']

/** Which EventStoreDB the specs run against, to be said in their titles. */
export const eventStoreEngine = real
  ? 'EventStoreDB, THE REAL SERVER of TEST_EVENTSTORE_URL'
  : 'EventStoreDB, A STAND-IN of this repository (a real server is taken when TEST_EVENTSTORE_URL is set)'

let told = false
const tell = () => {
  if (!told) process.stdout.write(`\n  ==> ${eventStoreEngine}\n\n`)
  told = true
}

/** The real server, whose log others have written to, or an empty stand-in. */
export const openEventStore = async (): Promise<Engine> => {
  tell()
  if (real) return { url: real, close: async () => {} }
  const { url, close } = await startDouble()
  return { url, close }
}

/** A stand-in that can be told to fail, and a log on it. */
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
