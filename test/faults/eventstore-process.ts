import { setTimeout as sleep } from 'node:timers/promises'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import { asStored } from '../../src/events/codec.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import { type Double, startDouble } from '../support/eventstoredb.ts'

/**
 * `eventstore-process.ts <client|adapter>`: appends to two servers, with the bare client or with our adapter. The
 * connection to the second is cut while both appends wait for their answer; then the first server answers. Prints
 * `alive` if that did not end the process.
 */
const append: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  client: (url) =>
    EventStoreDBClient.connectionString(url).appendToStream('s', jsonEvent({ type: 't', data: {} }), {
      expectedRevision: 'no_stream',
    }),
  adapter: (url) => eventStoreDb({ url, codec: asStored, timeoutMs: 2000 }),
}

const [first, second] = [await startDouble(), await startDouble()]
let answer: (value?: unknown) => void = () => {}
const held = new Promise((resolve) => (answer = resolve))
first.fail(({ kind }) => (kind === 'append' ? { held } : undefined))
second.fail(({ kind }) => (kind === 'append' ? 'silent' : undefined))

const arrived = async ({ calls }: Double) => {
  while (calls.append + calls.batchAppend === 0) await sleep(10)
}
for (const double of [first, second]) append[process.argv[2]!]!(double.url).catch(() => {})
await Promise.all([arrived(first), arrived(second)])
await second.down()
await sleep(300) // the client notices the cut
answer()
await sleep(1000)
process.stdout.write('alive\n', () => process.exit(0))
