import { expect } from 'chai'
import { readdir } from 'node:fs/promises'
import { importFolder } from '../../../src/http/imports/file.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'

type Own = Awaited<ReturnType<TestApp['register']>>

describe('an import whose beginning cannot be stored', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp()
    const { db } = app.app.ledger
    await db.raw(`create function public.is_away() returns trigger language plpgsql as
      $$ begin raise exception 'away' using errcode = '57P03'; end $$`)
  })
  after(() => app.close())

  /** Lets no event of imports be stored, and no row of one be changed. Returns what ends that. */
  const outage = async () => {
    const { db } = app.app.ledger
    await db.raw(`create trigger is_away before insert on log.events for each row
      when (new.type like 'Import%') execute function public.is_away()`)
    await db.raw(`create trigger is_away before update or delete on state.imports for each row
      when (old.work = 'import') execute function public.is_away()`)
    return async () => {
      await db.raw('drop trigger is_away on log.events')
      await db.raw('drop trigger is_away on state.imports')
    }
  }
  const send = ({ key }: Own, query = '', headers = {}) =>
    app.post(`/api/import?${query}`, {
      key,
      body: 'url,alias\nhttps://example.com/x,outage\n',
      headers: { 'Content-Type': 'text/csv', ...headers },
    })
  const ended = ({ key }: Own, id: string) =>
    until(
      async () => (await app.get(`/api/import/${id}`, { key })).json['details'] as { state: string; created: number },
      ({ state }) => !['checking', 'running'].includes(state),
      60_000,
    )
  const files = () => readdir(importFolder(app.config.DATA_DIR))

  it('leaves nothing: no file, and nothing that is running once the outage is over', async () => {
    const own = await app.register()
    const headers = { 'Idempotency-Key': 'again' }
    const end = await outage()
    expect((await send(own, '', headers)).status).to.equal(503)
    expect(await files()).to.deep.equal([])
    await end()
    const { json } = await until(
      () => send(own, '', headers),
      ({ status }) => status !== 409,
      30_000,
    )
    expect(await ended(own, json['id'] as string), JSON.stringify(json)).to.include({ state: 'done', created: 1 })
    expect((await app.get('/api/imports', own)).json['data']).to.include({ result: 1 })
  }).timeout(300_000)

  it('can begin after its dry run when the outage is over', async () => {
    const own = await app.register()
    const { json } = await send(own, 'dryRun=true')
    const id = json['id'] as string
    expect(await ended(own, id)).to.include({ state: 'checked' })
    const start = () => app.post(`/api/import/${id}/start`, { ...own, body: {} })
    const end = await outage()
    expect((await start()).status).to.equal(503)
    await end()
    expect(await ended(own, id)).to.include({ state: 'failed' })
    await until(start, ({ status }) => status === 200, 30_000)
    expect(await ended(own, id)).to.include({ state: 'done' })
  }).timeout(300_000)
})
