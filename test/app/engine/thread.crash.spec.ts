import { expect } from 'chai'
import { pino } from 'pino'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { startProgram } from '../../../src/lib/thread.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until as waitUntil } from '../../support/client.ts'
import { makeTable } from '../../support/mmdb.ts'
import { note, randomFrom, repeatable, seed } from '../../support/faults.ts'

/** A thread that loads the sources may take a minute where others work on the processors, too. */
const until = <T>(ask: () => Promise<T>, matches: (answer: T) => boolean) => waitUntil(ask, matches, 180_000)

describe(`an engine in a thread of its own (${repeatable})`, function () {
  this.timeout(900_000)
  const threads: Worker[] = []
  /** what the next threads run instead of an engine */
  let stuck: string | undefined
  let app: TestApp
  let key: string
  let folder: string
  let list: string
  let table: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'linkledger-engine-'))
    list = join(folder, 'blocked')
    await writeFile(list, '')
    table = join(folder, 'countries')
    await writeFile(table, makeTable('Ours', 4, { '0': { country_code: 'SE' }, '1': { country_code: 'SE' } }))
    const files = { BLOCKLIST_FILE: list, GEOIP_FILE: table }
    app = await startTestApp({ ...files, TRUST_PROXY: '1', LOG_LEVEL: 'warn' }, undefined, {
      inOneThread: false,
      engineThreads: {
        checkMs: 300,
        start: (file, options) => {
          const thread = stuck ? new Worker(stuck, { ...options, eval: true }) : startProgram(file, options)
          threads.push(thread)
          return thread
        },
      },
    })
    await works()
    ;({ key } = await app.register())
  })
  after(async () => {
    await app.close()
    await rm(folder, { recursive: true })
  })

  const works = () =>
    until(
      () => app.operator.get('/readyz'),
      ({ json }) => (json['problems'] as []).length === 0,
    )
  const link = async (custom: string) => {
    const { status, json } = await app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom } })
    expect(status).to.equal(200)
    return Number(json['id'])
  }
  const clicksOf = async (id: number) => {
    const { json } = await app.get(`/api/url/${id}`, { key })
    return (json['data'] as { readonly clicks?: number } | undefined)?.clicks
  }

  it('counts each visit once, whenever the thread is killed', async () => {
    const id = await link('killed')
    const random = randomFrom(seed)
    let answered = 0
    let visiting = true
    const visit = async () => {
      while (visiting) {
        const { status } = await app.visit('/killed')
        expect(status).to.equal(302)
        answered++
        await sleep(2)
      }
    }
    const visits = Promise.all([visit(), visit(), visit()])
    for (let killed = 1; killed <= 3; killed++) {
      const before = threads.length
      await sleep(random(500))
      await threads.at(-1)!.terminate()
      const [from, problems] = [answered, await app.operator.get('/readyz')]
      expect(problems.json['problems']).to.include(
        'the engine has ended and is started again: nothing is counted or shown meanwhile',
      )
      await until(
        async () => threads.length,
        (n) => n > before,
      )
      expect(answered, 'visits are answered without it').to.be.above(from)
      // the new one works before it is killed in its turn
      await works()
    }
    visiting = false
    await visits
    note(`${answered} visits`)
    await until(
      () => clicksOf(id),
      (clicks) => clicks === answered,
    )
    // none comes twice
    await link('afterwards')
    expect(await clicksOf(id)).to.equal(answered)
  })

  it('is replaced when it hangs, which probes and metrics say before, and each visit is counted', async () => {
    const id = await link('still')
    const before = threads.length
    stuck = `
      const { parentPort } = require('node:worker_threads')
      parentPort.postMessage({ kind: 'state', state: { relays: [], aside: [], weaknesses: [], problems: [] } })
      setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 200)`
    await threads.at(-1)!.terminate()
    await until(
      async () => threads.length,
      (n) => n > before,
    )
    stuck = undefined
    for (let n = 0; n < 5; n++) expect((await app.visit('/still')).status).to.equal(302)
    const problems = async () => (await app.operator.get('/readyz')).json['problems'] as readonly string[]
    const said = await until(problems, (all) => all.some((one) => /^the engine has not answered for \d+ s: /.test(one)))
    expect(said.join()).to.include('nothing is counted or shown meanwhile')
    const metric = async (name: string) =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec((await app.operator.get('/metrics')).text)?.[1])
    expect(await metric('linkledger_relay_lag_clicks')).to.be.at.least(5)
    expect(await metric('linkledger_projector_active')).to.equal(0)
    expect(
      await until(
        () => clicksOf(id),
        (clicks) => clicks === 5,
      ),
    ).to.equal(5)
    expect(await metric('linkledger_engine_restarts_total')).to.be.at.least(2)
    await works()
  })

  it('keeps the table of countries and its counts when it restarts while GEOIP_FILE cannot be read', async () => {
    const id = await link('abroad')
    const countries = async () => {
      const { json } = await app.get(`/api/url/${id}/stats?by=country`, { key })
      return (json['data'] as { readonly by: { readonly country: unknown } }).by.country
    }
    const visit = () => app.visit('/abroad', { 'X-Forwarded-For': '8.8.8.8' })
    const appends = async () =>
      Number(/^linkledger_append_seconds_count (\d+)$/m.exec((await app.operator.get('/metrics')).text)?.[1])
    const counted = await appends()
    await writeFile(table, 'cut off')
    await until(
      async () => (await app.operator.get('/readyz')).json['problems'] as readonly string[],
      (all) => all.some((one) => one.startsWith('GEOIP_FILE is not read')),
    )
    const before = threads.length
    await threads.at(-1)!.terminate()
    await until(
      async () => threads.length,
      (n) => n > before,
    )
    expect(await appends()).to.be.at.least(counted)
    expect((await visit()).status).to.equal(302)
    await until(
      () => clicksOf(id),
      (clicks) => clicks === 1,
    )
    expect(JSON.stringify(await countries())).to.include('Sweden')
    await writeFile(table, makeTable('Ours', 4, { '0': { country_code: 'JP' }, '1': { country_code: 'JP' } }))
    await works()
    expect((await visit()).status).to.equal(302)
    await until(
      async () => JSON.stringify(await countries()),
      (found) => found.includes('Japan'),
    )
  })

  it('is measured with the thread of the requests', async () => {
    await link('measured')
    const { text } = await app.operator.get('/metrics')
    // links are appended by one thread, visits by the other
    const stored = Number(/^linkledger_appends_total\{outcome="stored"\} (\d+)$/m.exec(text)?.[1])
    expect(stored).to.be.above(3)
    expect(text).to.match(/^linkledger_job_failing_seconds\{job="proofs"\} 0$/m)
    expect(text).to.match(/^linkledger_job_failing_seconds\{job="cleanup"\} 0$/m)
    expect(text).to.match(/^linkledger_projector_active 1$/m)
  })

  it('asks the thread of the requests before it sends to a webhook, whether the operator blocks the address', async () => {
    const { json: made } = await app.post('/api/webhook/add', { key, body: { url: 'https://hooks.example.net/' } })
    const webhook = `/api/webhook/${made['id']}`
    await writeFile(list, 'hooks.example.net\n')
    await until(
      () => app.post(`${webhook}/test`, { key }),
      ({ json }) => String(json['problem']).includes('blocks this address'),
    )
    await link('sent')
    const created = async () => {
      const { json } = await app.get(`${webhook}/deliveries`, { key })
      const { deliveries } = json['data'] as { readonly deliveries: readonly { readonly type: string }[] }
      return deliveries.find(({ type }) => type === 'LinkCreated')
    }
    expect(await until(created, Boolean)).to.include({
      delivered: false,
      problem: 'the operator of this service blocks this address',
    })
  })

  it('says how many clicks are left in the spool when it has ended while the service stops', async () => {
    const alerts: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void alerts.push(line) })
    let thread: Worker | undefined
    const start: typeof startProgram = (file, options) => (thread = startProgram(file, options))
    const other = await startTestApp({}, undefined, { inOneThread: false, engineThreads: { start } }, log)
    const owner = await other.register()
    const body = { url: 'https://example.com/', custom: 'left' }
    await until(
      () => other.post('/api/url/add', { key: owner.key, body }),
      ({ status }) => status === 200,
    )
    await thread!.terminate()
    for (let n = 0; n < 4; n++) expect((await other.visit('/left')).status).to.equal(302)
    await other.close()
    expect(alerts.join()).to.include('"clicks":4').and.to.include('clicks are left in the spool')
  })
})
