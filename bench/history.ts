import { type Bench, count, type Line, quantile } from './kit.ts'

/** Measures the history and the revisions of a link that was changed often. */
export const history = async (bench: Bench): Promise<Line[]> => {
  const [changes, runs] = [bench.size(1_000, 20), bench.size(50, 5)]
  const service = await bench.service()
  const { key } = service
  const { json } = await service.post('/api/url/add', { key, body: { url: 'https://example.com/0' } })
  for (let n = 1; n < changes; n++)
    await service.put(`/api/url/${json['id']}/update`, { key, body: { url: `https://example.com/${n}` } })

  const lines: Line[] = []
  for (const path of [`/api/url/${json['id']}/history`, `/api/url/${json['id']}/revisions`, '/api/account/history']) {
    const times: number[] = []
    for (let run = -3; run < runs; run++) {
      const start = performance.now()
      const { json: answer } = await service.get(path, { key })
      if (run >= 0) times.push(performance.now() - start)
      const found = Number(answer['data']?.result)
      if (found < changes) throw new Error(`${path} has ${found} of ${changes} changes`)
    }
    const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)]
    const what = `   ${path.replace(String(json['id']), ':id')}, ${count(changes)} changes`
    lines.push({
      what,
      result: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
      target: 'p50 <= 20 ms',
      met: p50 <= 20,
    })
  }
  await service.stop()
  return lines
}
