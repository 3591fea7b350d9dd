import { until } from '../test/support/client.ts'
import { type Bench, type Line, median } from './kit.ts'
import { openLinkWriter } from './links.ts'

const [few, many] = [1_000, 100_000]
const runs = 60

/** Measures listing a page of an account with 100,000 links, compared with an account with 1,000. */
export const list = async (bench: Bench): Promise<Line[]> => {
  const connection = await bench.database()
  const service = await bench.service(connection)
  const [small, large] = [await service.register('small'), await service.register('large')]
  const links = await openLinkWriter(connection)
  await links.write(small.id, few)
  await links.write(large.id, many)
  await links.close()
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
  await service.stop()
  return lines
}
