import { type Bench, count, type Line, median, reach } from './kit.ts'
import { openLinkWriter } from './links.ts'

/** Measures listing a page of an account with 100,000 links, compared with an account with 1,000. */
export const list = async (bench: Bench): Promise<Line[]> => {
  const [few, many, runs] = [1_000, bench.size(100_000, 5_000), bench.size(60, 5)]
  const connection = await bench.database()
  const service = await bench.service(connection)
  const [small, large] = [await service.register('small'), await service.register('large')]
  const links = await openLinkWriter(connection)
  await links.write(small.id, few)
  await links.write(large.id, many)
  await links.close()
  const listed = async (key: string, query: string) => (await service.get(`/api/urls?${query}`, { key })).json
  await reach('links', many, async () => (await listed(large.key, '')).data.result)

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
    const what = `   list of ${count(many)} links / 1,000: ${query || 'first page'}`
    lines.push({ what, result, target: '<= 2', met: b / a <= 2 })
  }
  await service.stop()
  return lines
}
