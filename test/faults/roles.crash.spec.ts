import { expect } from 'chai'
import { urlOf } from '../support/app.ts'
import { client, until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { note, openStage } from '../support/faults.ts'
import type { Service } from '../support/process.ts'

describe('roles in separate processes on one database', function () {
  this.timeout(300_000)
  const stage = openStage()
  let [first, second, working, standby]: Service[] = []
  let key = ''
  before(async () => {
    const connection = await freshDatabase()
    const settings = { DATABASE_URL: urlOf(connection), SECRET: 'a secret for tests only' }
    // notifications arrive all the time, also while a process is starting
    const talker = await stage.connect(connection)
    const talking = setInterval(() => void talker.query(`notify linkledger, 'log nobody'`).catch(() => {}), 1)
    stage.later(() => clearInterval(talking))
    const start = async (ROLES: string) => stage.start({ ...settings, ROLES, DATA_DIR: await stage.dir() })
    working = await start('projector')
    ;[first, second] = await Promise.all([start('http,relay'), start('http,relay')])
    standby = await start('projector')
    ;({ key } = await first!.register())
  })
  after(stage.clear)

  const add = async (service: Service, n: number) => {
    // a write waits two seconds for its tables, which is too short when the machine stands still
    const made = await until(
      () => service.post('/api/url/add', { key, body: { url: `https://example.com/${n}` } }),
      ({ headers }) => !headers.has('X-Projection-Pending'),
    )
    expect([made.status, made.headers.get('X-Projection-Pending')]).to.deep.equal([200, null])
    return { id: Number(made.json['id']), path: `/${String(made.json['short']).split('/').at(-1)}` }
  }
  const active = async (service: Service) =>
    /^linkledger_projector_active 1$/m.test(await (await fetch(`${service.operator.address}/metrics`)).text())
  const ready = async (service: Service) => (await fetch(`${service.address}/readyz?of=api`)).status

  it('make a link created through one process available through the other, and count the clicks of both', async () => {
    const { id, path } = await add(first!, 1)
    expect((await second!.get(`/api/url/${id}`, { key })).status).to.equal(200)
    for (let n = 0; n < 20; n++) expect((await (n % 2 === 0 ? first! : second!).visit(path)).status).to.equal(302)
    const clicks = async () => Number((await second!.get(`/api/url/${id}`, { key })).json['data'].clicks)
    expect(await until(clicks, (n) => n >= 20)).to.equal(20)
    for (const service of [first!, second!, working!, standby!]) expect(await ready(service)).to.equal(200)
  })

  it('respond only to probes and metrics in a process without the role http', async () => {
    const { get } = client(working!.address, () => {})
    for (const path of ['/api/urls', '/register', '/anything']) {
      const { status, json } = await get(path)
      expect([status, json]).to.deep.equal([
        404,
        {
          error: 1,
          message: 'This process does not run the `http` role.',
          code: 'not_found',
          params: { what: 'role' },
        },
      ])
    }
    expect((await working!.get('/healthz')).status).to.equal(200)
  })

  it('keep working when the projector is killed: the standby replaces it within ten seconds', async () => {
    expect([await active(working!), await active(standby!)]).to.deep.equal([true, false])
    const { id, path } = await add(first!, 2)
    const killed = Date.now()
    await working!.end('SIGKILL')
    expect((await first!.visit(path)).status).to.equal(302)
    expect(await until(() => active(standby!), Boolean, 10_000), 'the standby works').to.equal(true)
    const clicks = async () => Number((await first!.get(`/api/url/${id}`, { key })).json['data'].clicks)
    expect(await until(clicks, (n) => n === 1, 10_000)).to.equal(1)
    note(`the standby had taken over, and counted, ${Date.now() - killed} ms after the kill`)
    await add(second!, 3)
  })
})
