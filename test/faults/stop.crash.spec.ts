import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { withTimeout } from '../../src/lib/async/timeout.ts'
import { runningEmbedded } from '../../src/postgres/embedded.ts'
import { urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { openStage, query } from '../support/faults.ts'
import type { Service } from '../support/process.ts'

const stage = openStage()

interface Engine {
  readonly settings: Readonly<Record<string, string>>
  /** Lets the log answer nothing. Returns how to end that. */
  readonly hang: () => Promise<() => unknown>
  /** Returns how many requests wait for the log. */
  readonly waiting: () => Promise<number>
}

const embedded = async (): Promise<Engine> => {
  const DATA_DIR = await stage.dir()
  const connection = async () => (await runningEmbedded(DATA_DIR))!
  return {
    settings: { DATA_DIR },
    hang: async () => {
      const holder = await stage.connect(await connection())
      await holder.query('begin; lock table log.events in access exclusive mode')
      return () => holder.query('rollback')
    },
    waiting: async () => (await query(await connection(), 'select 1 from pg_locks where not granted')).length,
  }
}

const eventStoreDb = async (): Promise<Engine> => {
  const double = await startDouble()
  stage.later(double.close)
  let waiting = 0
  return {
    settings: {
      DATA_DIR: await stage.dir(),
      DATABASE_URL: urlOf(await freshDatabase()),
      EVENTSTORE_URL: double.url,
      SECRET: 'a secret for tests only',
    },
    hang: async () => {
      let release = () => {}
      const held = new Promise<void>((resolve) => (release = resolve))
      double.fail(({ kind }) => (kind === 'append' ? (waiting++, { held }) : undefined))
      return () => {
        double.fail(() => undefined)
        release()
      }
    },
    waiting: async () => waiting,
  }
}

const ready = ({ operator }: Service) =>
  until(
    () => operator.get('/readyz?of=api'),
    ({ status }) => status === 200,
  )

/** Sends a request on a connection that the spec can cut. */
const send = ({ address }: Service, key: string, alias: string) => {
  const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {})
  const body = JSON.stringify({ url: 'https://example.com/', custom: alias })
  socket.write(
    `POST /api/url/add HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  return socket
}

const engines = { 'the embedded PostgreSQL': embedded, EventStoreDB: eventStoreDb }

for (const [name, open] of Object.entries(engines))
  describe(`a service on ${name} that is stopped`, function () {
    this.timeout(300_000)
    afterEach(stage.clear)

    it('finishes requests whose clients have gone before it closes the log, and is gone after it says so', async () => {
      const { settings, hang, waiting } = await open()
      const service = await stage.start({ ...settings, LOG_LEVEL: 'info' })
      await ready(service)
      const { json } = await service.post('/register', {
        body: { email: 'ann@example.com', password: 'correct horse 1' },
      })
      const release = await hang()
      const sockets = Array.from({ length: 4 }, (_, n) => send(service, String(json['api_key']), `gone-${n}`))
      await until(waiting, (n) => n > 0)
      for (const socket of sockets) socket.destroy()
      const exited = once(service.child, 'exit')
      service.child.kill('SIGTERM')
      const says = (text: string) =>
        until(
          async () => service.output(),
          (output) => output.includes(text),
        )
      await says('"stopping"')
      // a service that does not wait for them has closed the log by now
      await sleep(500)
      await release()
      await says('Stopped.')
      const [code] = (await withTimeout(20_000, exited)) as [number | null]
      expect(code, service.output()).to.equal(0)
      const failures = service
        .output()
        .split('\n')
        .filter((line) => line.includes('"level":50'))
      // a busy machine may need longer than a request has
      expect(failures.filter((line) => !line.includes('no response within'))).to.deep.equal([])

      const again = await stage.start(settings)
      await ready(again)
      for (let n = 0; n < sockets.length; n++) expect((await again.visit(`/gone-${n}`)).status).to.equal(302)
    })
  })
