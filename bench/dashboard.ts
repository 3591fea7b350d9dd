import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Browser, chromium, type Page } from 'playwright-core'
import { openDatabase } from '../src/postgres/database.ts'
import type { EmbeddedConnection } from '../src/postgres/embedded.ts'
import { program } from '../test/support/browser.ts'
import { appendClicks } from './clickdata.ts'
import { type Bench, count, type Line, quantile, reach } from './kit.ts'
import { firstLink, openLinkWriter } from './links.ts'

const day = 86_400_000
/** a phone on a slow network: ms that each request waits, and bytes per second */
const [latency, throughput] = [400, 50 * 1024]
const secret = { SECRET: 'a secret for benchmarks only' }
const user = { email: 'owner@example.com', password: 'correct horse 1' }
/** what is on a screen once all of its data are there */
const loaded = 'main:not(:has([aria-busy=true])) h1'
/** ms until a page is given up */
const timeoutMs = 120_000

/**
 * Writes links of one account and their clicks of 90 days to the log, and starts a service that has them in its tables.
 */
const openService = async (bench: Bench, on: EmbeddedConnection, links: number, clicks: number) => {
  const settings = { ...secret, SESSION_RATE_LIMIT_PER_MINUTE: '0', DATA_DIR: join(bench.dir, 'dashboard') }
  const first = await bench.start(on, settings)
  const { json } = await first.post('/register', { body: user })
  await first.stop()
  const [account, key] = [Number(json['id']), String(json['api_key'])]
  const writer = await openLinkWriter(on)
  await writer.write(account, links)
  await writer.close()
  const db = openDatabase(on, { name: 'bench', max: 2, timeout: 60_000, onError: () => {} })
  const [from, to] = [new Date(Date.now() - 90 * day), new Date()]
  const visitors = Math.ceil(clicks / 10)
  await appendClicks(db, { clicks, links, hot: 0.2, accounts: 1, visitors, from, to, firstLink, account })
  await db.destroy()
  const service = await bench.start(on, settings)
  const total = async () => {
    const { json: stats } = await service.get('/api/account/stats?from=2020-01-01&interval=month', { key })
    return Number(stats['data']?.['total']?.['visits'])
  }
  await reach('clicks', clicks, total, 600_000)
  // changes to step back through, with all clicks before them
  for (let n = 0; n < 40; n++)
    await service.put(`/api/url/${firstLink + n}/update`, { key, body: { url: `https://example.com/changed/${n}` } })
  return service
}

/** Returns what a browser keeps that has signed in. */
const signIn = async (browser: Browser, address: string) => {
  const context = await browser.newContext()
  const headers = { Origin: address, 'Sec-Fetch-Site': 'same-origin' }
  const answer = await context.request.post(`${address}/api/session`, { data: user, headers })
  if (!answer.ok()) throw new Error(`the sign-in responded ${answer.status()}`)
  const state = await context.storageState()
  await context.close()
  return state
}
type State = Awaited<ReturnType<typeof signIn>>

/**
 * Opens a page for the first time on the slow network. Returns the ms until something is seen, and until `whole` is on
 * it.
 */
const firstVisit = async (browser: Browser, url: string, whole: string, storageState?: State) => {
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    ...(storageState && { storageState }),
  })
  const page = await context.newPage()
  page.setDefaultTimeout(timeoutMs)
  const protocol = await context.newCDPSession(page)
  await protocol.send('Network.enable')
  const limits = { offline: false, latency, downloadThroughput: throughput, uploadThroughput: throughput }
  await protocol.send('Network.emulateNetworkConditions', limits)
  const began = performance.now()
  await page.goto(url, { waitUntil: 'commit' })
  await page.waitForSelector(whole)
  const ms = performance.now() - began
  const expression = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime`
  const { result } = await protocol.send('Runtime.evaluate', { expression, returnByValue: true })
  await context.close()
  return { seen: Number(result.value), ms }
}

/**
 * Sets the timeline of a screen to the change before. Returns the ms until the last of the answers of that moment is
 * there.
 */
const stepBack = async (page: Page) => {
  const waiting = new Set<unknown>()
  let [asked, last] = [0, 0]
  const onRequest = (request: unknown) => {
    asked++
    waiting.add(request)
  }
  const onEnd = (request: unknown) => {
    waiting.delete(request)
    last = performance.now()
  }
  page.on('request', onRequest).on('requestfinished', onEnd).on('requestfailed', onEnd)
  const began = performance.now()
  await page.locator('.timeline input').press('ArrowLeft')
  while (asked === 0 || waiting.size > 0 || performance.now() - last < 200) {
    if (performance.now() - began > timeoutMs) throw new Error('the timeline asked for nothing')
    await pause(5)
  }
  await page.waitForSelector(loaded)
  page.off('request', onRequest).off('requestfinished', onEnd).off('requestfailed', onEnd)
  return last - began
}

/** Serves a page that has nothing but a word. */
const startPlain = async () => {
  const server = createServer((_, res) => res.end('<!doctype html><title>x</title><h1>x</h1>')).listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() }
}

const spread = (times: readonly number[]) =>
  `p50 ${count(quantile(times, 0.5))} ms, p95 ${count(quantile(times, 0.95))} ms`

/**
 * Measures how long a user of the dashboard waits: the first screen on a slow network beside a bare page, and steps of
 * the timeline.
 */
export const dashboard = async (bench: Bench): Promise<Line[]> => {
  if (!existsSync(program))
    return [{ what: `   dashboard: no Chromium at ${program}`, result: '', target: '', met: true }]
  const [links, clicks] = [bench.size(100_000, 200), bench.size(200_000, 1_000)]
  const [visits, steps] = [bench.size(10, 2), bench.size(20, 3)]
  const service = await openService(bench, await bench.database(), links, clicks)
  const plain = await startPlain()
  const browser = await chromium.launch({ executablePath: program, chromiumSandbox: false })
  try {
    const state = await signIn(browser, service.address)
    const bare: number[] = []
    const first: { readonly seen: number; readonly ms: number }[] = []
    for (let n = 0; n < visits; n++) {
      bare.push((await firstVisit(browser, plain.address, 'h1')).seen)
      first.push(await firstVisit(browser, `${service.address}/dashboard`, loaded, state))
    }
    const page = await (await browser.newContext({ storageState: state })).newPage()
    page.setDefaultTimeout(timeoutMs)
    const back = { overview: [] as number[], links: [] as number[] }
    for (const [name, times] of Object.entries(back)) {
      await page.goto(`${service.address}/dashboard${name === 'overview' ? '' : `/${name}`}`)
      await page.waitForSelector(loaded)
      for (let n = -2; n < steps; n++) {
        const ms = await stepBack(page)
        if (n >= 0) times.push(ms)
      }
    }
    const [seen, whole] = [first.map((one) => one.seen), first.map((one) => one.ms)]
    const slow = `${latency} ms, ${throughput / 1024} KB/s`
    const most = (what: string, times: readonly number[], goal: number): Line => {
      const met = quantile(times, 0.95) <= goal
      return { what, result: spread(times), target: `<= ${count(goal)} ms`, met }
    }
    return [
      { what: `   bare page seen, ${slow}`, result: spread(bare), target: '', met: true },
      most(`   dashboard seen, ${slow}`, seen, 1200),
      most(`   its data are there, ${slow}`, whole, 4000),
      most(`   a step back on the overview, ${count(clicks)} clicks`, back.overview, 300),
      most(`   a step back on the list of ${count(links)} links`, back.links, 300),
    ]
  } finally {
    await browser.close()
    plain.stop()
    await service.stop()
  }
}
