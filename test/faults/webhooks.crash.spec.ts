import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startTestApp, urlOf } from '../support/app.ts'
import { client } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { expectAll } from '../support/deliveries.ts'
import { long, note, openStage, randomFrom, repeatable, rounds, seed } from '../support/faults.ts'
import { visitsTo } from '../support/load.ts'
import { accept, forget, type Receiver, reset, respond, startReceiver } from '../support/receiver.ts'

const script = fileURLToPath(new URL('webhooks-service.ts', import.meta.url))

describe(`a service with webhooks that is killed (${repeatable})`, function () {
  this.timeout(long ? 1_800_000 : 120_000)
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

  it('sends every event and every click, in log order and with the same ids, after kill -9 and outages (fault 252)', async () => {
    const connection = await freshDatabase()
    const settings = { DATABASE_URL: urlOf(connection), DATA_DIR: await stage.dir(), SECRET: 'a secret for tests only' }
    let service = await start(settings)
    const { key, id: account } = await service.register()
    const add = async (n: number) =>
      (await service.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: `killed-${n}` } })).json
    const { id: link } = await add(0)
    await service.post('/api/webhook/add', {
      key,
      body: { url: receiver.url(), events: ['LinkCreated', 'clicks'], from: 0 },
    })
    let n = 0
    let kills = 0
    for (const _ of rounds(2, 100)) {
      const load = stage.load(service, 4, visitsTo([{ id: Number(link), alias: 'killed-0' }], random))
      receiver.behave([accept, respond(500), reset, forget][random(4)]!)
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
    const messages = await expectAll(app.app.ledger, receiver, account, '/hook', 120_000)
    note(`${kills} kills, ${messages} messages, ${receiver.accepted().length} accepted`)
  })
})
