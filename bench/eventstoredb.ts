import { randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import { codec } from '../src/events/codec.ts'
import { eventStoreDb } from '../src/store/eventstoredb.ts'
import { memoryKeyring } from '../test/support/keyring.ts'
import { createLinks } from './create.ts'
import { linkDeleted } from './inserts.ts'
import { type Bench, count, type Line, median, perSecond, reach } from './kit.ts'

const ratioOf = (ours: readonly number[], theirs: readonly number[]) =>
  median(ours.map((rate, i) => rate / (theirs[i] ?? Number.NaN)))

/** Compares creating links over HTTP with the log on EventStoreDB and in PostgreSQL, in turns. */
const measureCreates = async (bench: Bench, url: string): Promise<Line> => {
  const [runs, amount] = [bench.size(5, 1), bench.size(2_000, 200)]
  const start = async (settings: Readonly<Record<string, string>>) => {
    const DATA_DIR = await mkdtemp(join(bench.dir, 'eventstoredb-'))
    const service = await bench.start(await bench.database(), { DATA_DIR, ...settings })
    await service.ready()
    return { ...service, ...(await service.register(`bench-${randomUUID()}`)) }
  }
  const services = [await start({ EVENTSTORE_URL: url }), await start({})] as const
  const rates: readonly [number[], number[]] = [[], []]
  for (let run = 0; run <= runs; run++)
    for (const [i, service] of services.entries()) {
      const created = await createLinks(service, '-c', '32', '-a', String(amount))
      if (created['2xx'] !== amount) throw new Error(`${created['2xx']} of ${amount} links were created`)
      // the first run warms up
      if (run > 0) rates[i]!.push(amount / created.duration)
    }
  for (const service of services) {
    const listed = async () =>
      Number((await service.get('/api/urls?limit=1', { key: service.key })).json['data']?.['result'])
    await reach('links', (runs + 1) * amount, listed)
    await service.stop()
  }
  const ratio = ratioOf(...rates)
  return {
    what: 'c  creating links, EventStoreDB / the embedded log',
    result: `${ratio.toFixed(2)} (${count(median(rates[0]))}/s; ${count(median(rates[1]))}/s)`,
    target: '>= 0.60',
    met: ratio >= 0.6,
  }
}

/** Compares appending through our store with the client alone, in turns. */
const measureAppends = async (bench: Bench, url: string): Promise<Line[]> => {
  const [runs, seconds] = [bench.size(5, 1), bench.size(2, 0.3)]
  const store = await eventStoreDb({ url, codec: codec(memoryKeyring()) })
  const client = EventStoreDBClient.connectionString(url)
  let id = 0
  const name = `link-bench-${randomUUID()}`
  const byStore = async () => {
    const event = linkDeleted(++id)
    const appended = await store.append([{ stream: `${name}-${id}`, expected: 'no_stream', events: [event] }])
    if (!appended.ok) throw new Error('unexpected conflict: each stream is new')
  }
  const byClient = async () => {
    const { id: eventId, type, data, metadata } = linkDeleted(++id)
    const event = jsonEvent({ id: eventId, type, data: { ...data }, metadata: { ...metadata } })
    await client.appendToStream(`${name}-${id}`, event, { expectedRevision: 'no_stream' })
  }
  const lines: Line[] = []
  for (const writers of [1, 32, 128]) {
    const [ours, theirs]: [number[], number[]] = [[], []]
    for (let run = 0; run <= runs; run++) {
      const rates = [await perSecond(writers, seconds, byClient), await perSecond(writers, seconds, byStore)] as const
      if (run === 0) continue // warm-up
      theirs.push(rates[0])
      ours.push(rates[1])
    }
    const ratio = ratioOf(ours, theirs)
    lines.push({
      what: `b  appends on EventStoreDB / the client, ${writers} writer${writers > 1 ? 's' : ''}`,
      result: `${ratio.toFixed(2)} (${count(median(ours))}/s; client ${count(median(theirs))}/s)`,
      target: '>= 0.85',
      met: ratio >= 0.85,
    })
  }
  await store.close()
  await client.dispose()
  return lines
}

/** Measures the log on EventStoreDB, where there is one. */
export const eventstoredb = async (bench: Bench): Promise<Line[]> => {
  const url = process.env['TEST_EVENTSTORE_URL']
  if (url === undefined) {
    const result = 'not measured: set TEST_EVENTSTORE_URL to an empty server, as esdb://localhost:2113?tls=false'
    return [{ what: 'b  the log on EventStoreDB', result, target: '', met: true }]
  }
  // a service refuses a log whose keys another database has, so it comes first
  const creates = await measureCreates(bench, url)
  return [...(await measureAppends(bench, url)), creates]
}
