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

/** One target of each kind, none of which this visitor matches, so that all are evaluated. */
const targets = {
  devicetarget: [{ device: 'iphone', link: 'https://example.com/phone' }],
  geotarget: [{ location: 'Canada', link: 'https://example.com/ca' }],
  languagetarget: [{ language: 'fr', link: 'https://example.com/fr' }],
}

/** Measures redirects of a cached link with durable clicks against a server that only returns 302, and of a link with targets against one without. */
export const redirect = async (bench: Bench): Promise<Line[]> => {
  const [service, server] = [await bench.service(), await startListening(['--eval', bare])]
  const { key } = service
  const { json } = await service.post('/api/url/add', { key, body: { url: target, custom: 'bench' } })
  const targeted = await service.post('/api/url/add', { key, body: { url: target, custom: 'targeted', ...targets } })
  const clicksOf = async (id: unknown) => {
    const read = await service.get(`/api/url/${String(id)}`, { key })
    return Number(read.json['data'].clicks)
  }
  const clicks = async () => Math.min(await clicksOf(json['id']), await clicksOf(targeted.json['id']))
  const visit = async (address: string, alias = 'bench') => {
    const { requests: sent, ...rest } = await load(
      ...['-c', '32', '-a', String(requests), '-L', '20', '-H', `user-agent=${browser}`],
      ...['-H', 'accept-language=en-GB,en;q=0.9,de;q=0.5'],
      `${address}/${alias}`,
    )
    if (rest['3xx'] !== requests) throw new Error(`${rest['3xx']} of ${requests} requests were redirected`)
    return { rate: sent.total / rest.duration, p99: rest.latency.p99 }
  }

  const [rates, bareRates, p99, ratios] = [[], [], [], []] as number[][] as [number[], number[], number[], number[]]
  let sent = 0
  for (let run = 0; run <= runs; run++) {
    const bareRun = await visit(server.address)
    const ours = await visit(service.address)
    sent += requests
    // every redirected click is counted, and no work is left that would slow down the next run
    const counted = () => clicksOf(json['id'])
    if ((await until(counted, (n) => n === sent, 120_000)) !== sent)
      throw new Error(`${sent} clicks, ${await counted()} counted`)
    const theirs = await visit(service.address, 'targeted')
    if ((await until(clicks, (n) => n === sent, 120_000)) !== sent)
      throw new Error(`${sent} clicks, ${await clicks()} counted`)
    if (run === 0) continue // warm-up
    bareRates.push(bareRun.rate)
    rates.push(ours.rate)
    p99.push(ours.p99)
    ratios.push(theirs.rate / ours.rate)
  }
  await service.stop()
  await server.stop()

  const ratio = median(rates.map((rate, i) => rate / (bareRates[i] ?? 0)))
  const result = `${ratio.toFixed(2)} (${count(median(rates))}/s, p99 ${median(p99)} ms; bare ${count(median(bareRates))}/s)`
  const targetedRatio = median(ratios)
  return [
    { what: 'a  redirect with durable clicks / bare node:http', result, target: '>= 0.60', met: ratio >= 0.6 },
    {
      what: 'a  redirect by targets / plain redirect',
      result: targetedRatio.toFixed(2),
      target: '>= 0.80',
      met: targetedRatio >= 0.8,
    },
  ]
}
