import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { startTestApp, urlOf } from '../support/app.ts'
import { client } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { expectAll } from '../support/deliveries.ts'
import { long, longestMs, note, openStage, randomFrom, repeatable, rounds, seed } from '../support/faults.ts'
import { visitsTo } from '../support/load.ts'
import { accept, forget, type Receiver, reset, respond, startReceiver } from '../support/receiver.ts'

const script = fileURLToPath(new URL('webhooks-service.ts', import.meta.url))

/** How the receiver behaves in a round until shortly before the kill. */
const behaviours = { accept, 'status 500': respond(500), reset, 'no answer kept': forget } as const

describe(`a service with webhooks that is killed (${repeatable})`, function () {
  // FAULTS=long FAULTS_SECONDS=3600 has time for all rounds; what is left is sent after them
  // and on a slow machine: a webhook that has failed for a minute waits as long for its next attempt
  this.timeout((long ? longestMs : 0) + 600_000)
  const random = randomFrom(seed)
  const stage = openStage()
  let receiver: Receiver
  before(async () => {
    receiver = await startReceiver()
    stage.later(receiver.close)
  })
  after(stage.clear)

  const start = async (settings: Readonly<Record<string, string>>) => {
    const child = spawn(process.execPath, ['--import', 'tsx', script, String(receiver.port)], {
      env: { PATH: process.env['PATH'] ?? '', ...settings },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    stage.later(() => child.kill('SIGKILL'))
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const { value } = (await lines.next()) as { value?: string }
    const address = /listens on (\S+)/.exec(value ?? '')?.[1]
    if (!address) throw new Error('the service has ended')
    const kill = async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    return { ...client(address), kill }
  }

  it('sends every event and every click, in log order and with the same ids, after kill -9, outages and replays with an end', async () => {
    const connection = await freshDatabase()
    const settings = { DATABASE_URL: urlOf(connection), DATA_DIR: await stage.dir(), SECRET: 'a secret for tests only' }
    let service = await start(settings)
    const { key, id: account } = await service.register()
    const add = async (n: number) =>
      (await service.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: `killed-${n}` } })).json
    const { id: link } = await add(0)
    const { id: webhook } = (
      await service.post('/api/webhook/add', {
        key,
        body: { url: receiver.url(), events: ['LinkCreated', 'clicks'], from: 0 },
      })
    ).json
    /** Sends a few messages again that were accepted, so that the order of the first ones stays. */
    const replay = async () => {
      const events = [...new Set(receiver.accepted().map(({ data }) => Number(data['event'])))]
      const first = random(Math.max(1, events.length - 5))
      const [from, until] = [events[first], events[Math.min(first + 5, events.length - 1)]]
      if (from === undefined) return 0
      const { json, text } = await service.post(`/api/webhook/${Number(webhook)}/replay`, {
        key,
        body: { from, until },
      })
      expect(json['error'], text).to.equal(0)
      return 1
    }
    let [n, kills, replays] = [0, 0, 0]
    const outages: Record<string, number> = {}
    for (const _ of rounds(2, 100)) {
      const load = stage.load(service, 4, visitsTo([{ id: Number(link), alias: 'killed-0' }], random))
      const name = Object.keys(behaviours)[random(4)] as keyof typeof behaviours
      receiver.behave(behaviours[name])
      outages[name] = (outages[name] ?? 0) + 1
      if (random(2) === 0) replays += await replay()
      for (let made = 0; made < 3; made++) await add(++n)
      receiver.behave(accept)
      await load.answers(30 + random(100))
      await service.kill()
      await load.stop()
      kills++
      service = await start(settings)
    }
    await service.kill()
    // what is left is sent by another process; it also reads the log for the comparison
    const app = await startTestApp({ DATA_DIR: settings.DATA_DIR }, connection, {
      webhooks: { post: receiver.post, firstPause: 20 },
    })
    stage.later(app.close)
    const messages = await expectAll(app.app.ledger, receiver, account, '/hook', 300_000)
    const repeated = receiver.accepted().length - messages
    const receivers = Object.entries(outages).map(([name, times]) => `${name} ${times}`)
    note(`${kills} kills, ${replays} replays with an end; the receiver: ${receivers.join(', ')}`)
    note(`${messages} messages, 0 gaps, ${repeated} repeated with the same id and body`)
  })
})
