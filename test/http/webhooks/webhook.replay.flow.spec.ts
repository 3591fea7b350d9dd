import { expect } from 'chai'
import { openDatabase } from '../../../src/postgres/database.ts'
import { migrate } from '../../../src/postgres/migrate.ts'
import { beginCursor } from '../../../src/postgres/webhooks.ts'
import { copyState, readState } from '../../../src/postgres/state.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { freshDatabase } from '../../support/database.ts'
import { query } from '../../support/faults.ts'
import { accept, type Receiver, respond, startReceiver } from '../../support/receiver.ts'

describe('a webhook that sends a part of the log again', () => {
  let app: TestApp
  let receiver: Receiver
  let key: string
  let path: string
  before(async () => {
    receiver = await startReceiver()
    app = await startTestApp({}, undefined, { webhooks: { post: receiver.post, firstPause: 10 } })
  })
  after(async () => {
    await app.close()
    await receiver.close()
  })
  let accounts = 0
  beforeEach(async () => {
    receiver.behave(accept)
    key = (await app.register()).key
    path = `/replay-${++accounts}`
  })

  const post = (at: string, body: object) => app.post(at, { key, body })
  const hook = async () => {
    const { json, text } = await post('/api/webhook/add', { url: receiver.url(path), events: ['LinkCreated'] })
    expect(json['error'], text).to.equal(0)
    return Number(json['id'])
  }
  const links = async (n: number) => {
    for (let i = 0; i < n; i++) await post('/api/url/add', { url: `https://example.com/${i}` })
  }
  const ids = () => receiver.accepted(path).map(({ data }) => Number(data['event']))
  const arrived = async (n: number) => {
    await until(
      async () => ids().length,
      (found) => found >= n,
    )
    return ids()
  }
  const details = async (id: number) => (await app.get(`/api/webhook/${id}`, { key })).json['details']
  const replay = (id: number, body: object) => post(`/api/webhook/${id}/replay`, body)
  const stored = async (id: number) =>
    (await query<Record<string, unknown>>(app.connection, 'select * from state.webhooks where webhook = $1', [id]))[0]!

  it('sends the part with the same ids, and then resumes where it was', async () => {
    const id = await hook()
    await links(6)
    const all = await arrived(6)
    const messages = receiver.accepted(path).map((message) => message.id)
    receiver.received.length = 0
    const { json, text } = await replay(id, { from: all[1], until: all[3] })
    expect(json, text).to.include({ error: 0, from: all[1], until: all[3] })
    expect(json['message']).to.equal(`Webhook sends events ${all[1]} to ${all[3]} again, then it goes on.`)
    expect(await arrived(3)).to.deep.equal(all.slice(1, 4))
    expect(receiver.accepted(path).map((message) => message.id)).to.deep.equal(messages.slice(1, 4))
    await until(
      () => details(id),
      (shown) => shown.until === null,
    )
    await links(1)
    const after = await arrived(4)
    expect(after.slice(0, 3)).to.deep.equal(all.slice(1, 4))
    expect(after[3]).to.be.above(all[5]!)
    expect((await app.get(`/api/webhook/${id}/history?limit=1`, { key })).json['data'].events[0]).to.include({
      type: 'WebhookPartReplayed',
      message: `Webhook sends events ${all[1]} to ${all[3]} again.`,
    })
  })

  it('shows the part that it sends again, and keeps its place to resume, also in a copy of the database', async () => {
    const id = await hook()
    await links(3)
    const all = await arrived(3)
    receiver.behave(respond(503))
    await links(1)
    await until(
      () => details(id),
      ({ tries }) => tries > 0,
    )
    await replay(id, { from: all[0], until: all[1] })
    const shown = await until(
      () => details(id),
      (row) => row.until !== null,
    )
    expect([shown.until, shown.next]).to.deep.equal([all[1], all[0]])
    const row = await until(
      () => stored(id),
      ({ starts }) => starts === 2,
    )
    // the message that was not accepted is the one to go on with
    expect(Number(row['back'])).to.be.above(all[2]!)
    const copy = openDatabase(await freshDatabase(), { name: 'spec', max: 1, timeout: 30_000, onError: () => {} })
    try {
      await migrate(copy)
      await copyState(app.app.ledger.db, copy)
      const place = (await readState(copy)).webhooks.find(({ webhook }) => webhook === id)
      expect(place).to.include({ until: all[1]! + 1, back: Number(row['back']), back_part: Number(row['back_part']) })
      // a log without the state of its webhooks has where it was at least
      const begun = { account: 1, starts: 3, next: 5, part: { until: 9, next: 2 } }
      const fresh = await beginCursor(copy, { ...begun, webhook: 999_999 })
      expect(fresh).to.deep.include({ next: 5, replay: { until: 9, back: { ordinal: 2, part: 0 } } })
    } finally {
      await copy.destroy()
    }
    receiver.behave(accept)
    expect(await arrived(6)).to.deep.include(all[0])
    const again = ids().slice(3)
    expect(again.slice(0, 2)).to.deep.equal(all.slice(0, 2))
    expect(again[2]).to.be.above(all[2]!)
  })

  it('takes times, days, numbers and `now`, and names the error of the end', async () => {
    const id = await hook()
    await links(3)
    const all = await arrived(3)
    const head = Number((await replay(id, { from: 'now' })).json['from'])
    const day = new Date().toISOString().slice(0, 10)
    for (const end of [head - 1, String(all[2]), 'now', day]) {
      const { json, text } = await replay(id, { from: all[0], until: end })
      expect(json['error'], `${end} ${text}`).to.equal(0)
      expect(Number(json['until']), String(end)).to.be.at.least(all[2]!)
    }
    const wrong: readonly (readonly [object, string])[] = [
      [{ from: all[1], until: all[0] }, '`until` must be after `from`: no event is between them.'],
      [{ from: 'now', until: 'now' }, '`until` must be after `from`: no event is between them.'],
      [{ from: 0, until: '2020-01-01' }, '`until` must be after `from`: no event is between them.'],
      [{ from: 0, until: '2999-01-01' }, '`until` must not be in the future.'],
      [{ from: 0, until: 'soon' }, '`until` must be `now`, the number of an event, or a date and time in UTC.'],
      [{ from: 0, until: -1 }, '`until` must be `now`, the number of an event, or a date and time in UTC.'],
    ]
    for (const [body, message] of wrong) {
      const { status, json } = await replay(id, body)
      expect([status, json['message']], JSON.stringify(body)).to.deep.equal([400, message])
    }
    const { json } = await replay(id, { from: 0, until: 99_999_999 })
    expect(json['message']).to.match(/^`until` must be at most \d+, the number of the newest event\.$/)
  })
})
