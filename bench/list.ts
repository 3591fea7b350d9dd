import { randomUUID } from 'node:crypto'
import { link } from '../src/commands/link.ts'
import { codec } from '../src/events/codec.ts'
import { systemMetadata } from '../src/events/event.ts'
import { createSignal } from '../src/lib/signal.ts'
import { postgresStore } from '../src/store/postgres.ts'
import { openPool } from '../src/postgres/database.ts'
import { until } from '../test/support/client.ts'
import { memoryKeyring } from '../test/support/keyring.ts'
import { type Bench, type Line, median } from './kit.ts'

const [few, many] = [1_000, 100_000]
const runs = 60
const perAppend = 500

/** Measures listing a page of an account with 100,000 links, compared with an account with 1,000. */
export const list = async (bench: Bench): Promise<Line[]> => {
  const connection = await bench.database()
  const service = await bench.service(connection)
  const [small, large] = [await service.register('small'), await service.register('large')]
  const pool = openPool(connection, { name: 'bench', timeout: 60_000, max: 2, onError: () => {} })
  const store = await postgresStore(pool, codec(memoryKeyring()), createSignal())

  let id = 1_000_000
  const created = (account: number) => {
    id++
    const fields = { ...link.initialState.fields, alias: `a${id}`, url: `https://example.com/${id}` }
    const data = { id, account, ...fields, password: null, token: randomUUID() }
    const event = { type: 'LinkCreated', id: randomUUID(), data, metadata: systemMetadata(account) } as const
    return { stream: `link-${id}`, expected: 'no_stream', events: [event] } as const
  }
  const fill = async (account: number, count: number) => {
    for (let n = 0; n < count; n += perAppend)
      await store.append(Array.from({ length: perAppend }, () => created(account)))
  }
  await fill(small.id, few)
  await fill(large.id, many)
  const listed = async (key: string, query: string) => (await service.get(`/api/urls?${query}`, { key })).json
  await until(
    () => listed(large.key, ''),
    ({ data }) => data.result === many,
    120_000,
  )

  const ms = async (key: string, query: string) => {
    const start = performance.now()
    await listed(key, query)
    return performance.now() - start
  }
  const lines: Line[] = []
  for (const query of ['', 'page=10', 'order=click', 'order=click&page=10']) {
    const times: Record<'small' | 'large', number[]> = { small: [], large: [] }
    for (let run = 0; run < runs; run++) {
      times.small.push(await ms(small.key, query))
      times.large.push(await ms(large.key, query))
    }
    const [a, b] = [median(times.small), median(times.large)]
    const result = `${(b / a).toFixed(2)} (${b.toFixed(1)} ms; ${a.toFixed(1)} ms)`
    const what = `   list of 100,000 links / 1,000: ${query || 'first page'}`
    lines.push({ what, result, target: '<= 2', met: b / a <= 2 })
  }
  await store.close()
  await pool.end()
  await service.stop()
  return lines
}
