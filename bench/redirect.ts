import { browser, until } from '../test/support/client.ts'
import { type Bench, count, type Line, load, median, startListening } from './kit.ts'

const runs = 5
const requests = 40_000
const target = 'https://example.com/some/long/path?utm_source=newsletter&utm_medium=email'

const bare = `
  const server = require('node:http').createServer((req, res) => {
    res.writeHead(302, { Location: '${target}', 'Cache-Control': 'private, no-store', 'Content-Length': 0 })
    res.end()
  })
  server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port))`

/** A cached link whose clicks are durable, against a server that does nothing but answer 302. */
export const redirect = async (bench: Bench): Promise<Line[]> => {
  const [service, server] = [await bench.service(), await startListening(['--eval', bare])]
  const { key } = service
  const { json } = await service.post('/api/url/add', { key, body: { url: target, custom: 'bench' } })
  const clicks = async () => {
    const read = await service.get(`/api/url/${json['id']}`, { key })
    return Number(read.json['data'].clicks)
  }
  const visit = async (address: string) => {
    const { requests: sent, ...rest } = await load(
      ...['-c', '32', '-a', String(requests), '-L', '20', '-H', `user-agent=${browser}`],
      `${address}/bench`,
    )
    if (rest['3xx'] !== requests) throw new Error(`${rest['3xx']} of ${requests} requests were redirected`)
    return { rate: sent.total / rest.duration, p99: rest.latency.p99 }
  }

  const [rates, bareRates, p99] = [[], [], []] as number[][] as [number[], number[], number[]]
  let sent = 0
  for (let run = 0; run <= runs; run++) {
    const bareRun = await visit(server.address)
    const ours = await visit(service.address)
    sent += requests
    // every answered click is counted, and no work is left over that would weigh on the next run
    if ((await until(clicks, (n) => n === sent, 120_000)) !== sent)
      throw new Error(`${sent} clicks, ${await clicks()} counted`)
    if (run === 0) continue // the first warms up
    bareRates.push(bareRun.rate)
    rates.push(ours.rate)
    p99.push(ours.p99)
  }
  await service.stop()
  await server.stop()

  const ratio = median(rates.map((rate, i) => rate / (bareRates[i] ?? 0)))
  const result = `${ratio.toFixed(2)} (${count(median(rates))}/s, p99 ${median(p99)} ms; bare ${count(median(bareRates))}/s)`
  return [{ what: 'a  redirect with durable clicks / bare node:http', result, target: '>= 0.60', met: ratio >= 0.6 }]
}
