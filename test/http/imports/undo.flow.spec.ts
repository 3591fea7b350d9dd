import { expect } from 'chai'
import pg from 'pg'
import type { EventStore } from '../../../src/events/store.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'

const settings = { DOMAIN_CHECK: 'off', RATE_LIMIT_PER_MINUTE: '0' }

describe('taking an import back', () => {
  let app: TestApp
  let other: TestApp
  before(async () => {
    app = await startTestApp(settings)
    other = await startTestApp(settings, app.connection)
  })
  after(async () => {
    await other.close()
    await app.close()
  })

  type Own = Awaited<ReturnType<TestApp['register']>>
  type Details = Readonly<Record<string, unknown>>
  const detailsOf = async (own: Own, id: string) => (await app.get(`/api/import/${id}`, own)).json['details'] as Details
  const ended = (own: Own, id: string) =>
    until(
      () => detailsOf(own, id),
      ({ state }) => !['running', 'undoing', 'checking'].includes(String(state)),
      60_000,
    )
  const bring = async (own: Own, rows: readonly string[]) => {
    const body = ['alias,url,clicks', ...rows].join('\n')
    const headers = { 'Content-Type': 'text/csv' }
    const id = String((await app.post('/api/import', { ...own, body, headers })).json['id'])
    expect(await ended(own, id)).to.include({ state: 'done', created: rows.length })
    return id
  }
  const at = async (own: Own, alias: string) => (await app.get(`/api/urls?short=${alias}`, own)).json['data'].urls[0]
  /** Calls `meanwhile` before the first append with an event of a type. */
  const beforeFirst = (type: string, meanwhile: () => Promise<unknown>) => {
    const store = app.app.ledger.store as { append: EventStore['append'] }
    const { append } = store
    store.append = async (writes) => {
      if (!writes.some(({ events }) => events.some((event) => event.type === type))) return append(writes)
      store.append = append
      await meanwhile()
      return append(writes)
    }
  }

  it('given a link that is changed at the moment of its deletion, then it stays and is counted', async () => {
    const own = await app.register()
    const id = await bring(own, ['race1,https://example.com/1,5'])
    const { id: link } = await at(own, 'race1')
    beforeFirst('LinkDeleted', async () => {
      const body = { url: 'https://example.com/changed' }
      expect((await other.put(`/api/url/${link}/update`, { ...own, body })).status).to.equal(200)
    })
    await app.del(`/api/import/${id}/delete`, own)
    expect(await ended(own, id)).to.include({ state: 'undone', kept: 1 })
    expect(await at(own, 'race1')).to.include({ longurl: 'https://example.com/changed' })
    await app.del(`/api/import/${id}/delete?force=true`, own)
    expect(await ended(own, id)).to.include({ state: 'undone', kept: 0 })
  })

  it('given read tables that are behind, then it goes on until they know how many links stay', async () => {
    const own = await app.register()
    const id = await bring(own, ['behind1,https://example.com/1,0', 'behind2,https://example.com/2,0'])
    const { id: link } = await at(own, 'behind1')
    await app.put(`/api/url/${link}/update`, { ...own, body: { url: 'https://example.com/changed' } })
    const holder = new pg.Client(app.connection)
    await holder.connect()
    try {
      let isHeld = false
      beforeFirst('ImportUndone', async () => {
        await holder.query('begin; select * from read.checkpoints for update')
        isHeld = true
      })
      await app.del(`/api/import/${id}/delete`, own)
      await until(async () => isHeld, Boolean, 30_000)
      for (const end = Date.now() + 4000; Date.now() < end;)
        expect(await detailsOf(own, id)).to.include({ state: 'undoing' })
    } finally {
      await holder.end()
    }
    expect(await ended(own, id)).to.include({ state: 'undone', kept: 1 })
  })
})
