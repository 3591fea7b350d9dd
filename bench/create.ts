import { type Bench, count, type Line, load, median } from './kit.ts'

/** Measures creating links with random aliases over HTTP. Each response is sent when the link can be read. */
export const create = async (bench: Bench): Promise<Line[]> => {
  const runs = bench.size(5, 1)
  const service = await bench.service()
  const run = (seconds: number) =>
    load(
      ...['-c', '32', '-d', String(seconds), '-m', 'POST', '-I'],
      ...['-H', `authorization=Bearer ${service.key}`, '-H', 'content-type=application/json'],
      ...['-b', JSON.stringify({ url: 'https://example.com/some/long/path?utm_source=newsletter&n=[<id>]' })],
      `${service.address}/api/url/add`,
    )
  await run(bench.size(3, 1))
  const loads = []
  for (let n = 0; n < runs; n++) loads.push(await run(bench.size(5, 2)))
  await service.stop()

  const rate = median(loads.map(({ requests, duration }) => requests.total / duration))
  const [p50, p99] = [median(loads.map(({ latency }) => latency.p50)), median(loads.map(({ latency }) => latency.p99))]
  const failed = loads.some((one) => one.errors > 0 || one['2xx'] !== one.requests.total)
  const result = `${count(rate)}/s, p50 ${p50} ms, p99 ${p99} ms${failed ? ', some FAILED' : ''}`
  return [{ what: 'c  creating links, 32 connections', result, target: '>= 1,500/s', met: rate >= 1500 && !failed }]
}
