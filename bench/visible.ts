import { setTimeout as pause } from 'node:timers/promises'
import { type Bench, type Line, quantile, reach } from './kit.ts'

const ms = async (task: () => Promise<unknown>) => {
  const start = performance.now()
  await task()
  return performance.now() - start
}
const describe = (times: readonly number[]) =>
  `p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`

/** Measures the time until a write can be read, and until a click has passed through spool and log and is counted. */
export const visible = async (bench: Bench): Promise<Line[]> => {
  const [writes, clicks] = [bench.size(500, 50), bench.size(50, 5)]
  const service = await bench.service()
  const { key } = service
  let id = 0
  const write = async () => {
    const { json, headers } = await service.post('/api/url/add', { key, body: { url: 'https://example.com/a?b=c' } })
    id = Number(json['id'])
    if (json['error'] !== 0 || headers.has('X-Projection-Pending'))
      throw new Error(`not readable: ${JSON.stringify(json)}`)
  }
  const at = async (count: number) => {
    const times: number[] = []
    for (let n = 0; n < count; n++) {
      times.push(await ms(write))
      await pause(20)
    }
    return times
  }
  await at(bench.size(100, 10))
  const written = await at(writes)

  const { json } = await service.get(`/api/url/${id}`, { key })
  const alias = String(json['details'].alias)
  const clicked = async () => Number((await service.get(`/api/url/${id}`, { key })).json['data'].clicks)
  const counted: number[] = []
  for (let n = 1; n <= clicks; n++) {
    await service.visit(`/${alias}`)
    counted.push(await ms(() => reach('clicks', n, clicked)))
    await pause(Math.random() * 200)
  }
  await service.stop()

  const p99 = quantile(written, 0.99)
  return [
    {
      what: 'e  write until it is readable, about 40/s',
      result: describe(written),
      target: 'p99 <= 50 ms',
      met: p99 <= 50,
    },
    { what: '   click until it is in the statistics', result: describe(counted), target: '', met: true },
  ]
}
