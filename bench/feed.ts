// tsx bench/feed.ts ACCOUNT FIRST LINKS: adds visits of LINKS links to a spool and records them, with the settings of a
// service. Its input says with each line how many visits there may be in all. When the input ends, it prints how many
// there are once all are recorded.
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { openLedger } from '../src/app/log/ledger.ts'
import { createClassifier } from '../src/clicks/classify.ts'
import { openClickRecord } from '../src/clicks/record.ts'
import { createRelays } from '../src/clicks/deliver.ts'
import { logSink } from '../src/clicks/sink.ts'
import { openSpool } from '../src/clicks/spool/spool.ts'
import type { Visit } from '../src/clicks/visit.ts'
import { readConfig } from '../src/config.ts'
import { openCountries } from '../src/clicks/visitor/geoip.ts'

const [account = 0, first = 0, links = 0] = process.argv.slice(2).map(Number)
const agents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
]
const below = (n: number) => Math.floor(Math.random() * n)

const visit = (): Visit => {
  // the n-th link is visited in proportion to 1/n
  const n = Math.floor(links ** Math.random()) - 1
  return {
    at: new Date().toISOString(),
    account,
    link: first + n,
    revision: 0,
    destination: `https://example.com/some/long/path/${n}?utm_source=newsletter&utm_medium=email`,
    rule: 'link',
    source: { kind: 'link', id: first + n },
    address: `203.${below(16)}.${below(256)}.${below(256)}`,
    agent: agents[below(agents.length)]!,
    referrer: below(2) === 0 ? '' : `https://site-${below(1000)}.example/`,
    languages: 'en-GB,en;q=0.9,de;q=0.5',
    prefetch: false,
  }
}

const ledger = await openLedger(readConfig(process.env), pino({ level: 'silent' }), 'service')
const route = { log: 'local', partitions: 4 }
const dir = `${ledger.config.DATA_DIR}/spool`
const spool = await openSpool({ dir, route, logId: ledger.store.logId, log: () => {} })
const record = openClickRecord({ store: ledger.store, ...route })
const relays = createRelays({
  store: ledger.store,
  log: () => {},
  keyring: ledger.keys,
  classify: createClassifier({ countryOf: openCountries().of, isOurHost: () => false }),
  onProblem: (error) => console.error(error),
})
await relays.add({ dir, route, earlier: [], own: spool, sink: logSink(record), record })
console.log('ready')

let [allowed, added, ended] = [0, 0, false]
const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => (allowed = Number(line)))
lines.on('close', () => (ended = true))
while (!ended) {
  // as many as arrive in one turn of the event loop
  const now = Math.min(100, allowed - added)
  if (now <= 0) await pause(2)
  else await Promise.all(Array.from({ length: now }, () => spool.add(visit())))
  added += Math.max(0, now)
}
await spool.close()
const left = await relays.drain(600_000)
if (left > 0) throw new Error(`${left} clicks were not recorded`)
await relays.stop()
await ledger.close()
console.log(added)
