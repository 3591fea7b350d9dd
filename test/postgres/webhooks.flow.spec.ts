import { expect } from 'chai'
import { openDatabase } from '../../src/postgres/database.ts'
import { copyPlaces, copyState } from '../../src/postgres/state.ts'
import {
  acceptedWebhooks,
  beginCursor,
  moveCursors,
  settleAttempts,
  takeLead,
  webhooksWithCursor,
} from '../../src/postgres/webhooks.ts'
import { migratedDatabase } from '../support/database.ts'

describe('the stored place of a webhook', () => {
  it('stays where an attempt has failed, while the tail goes on', async () => {
    const settings = { name: 'test', max: 2, timeout: 30_000, onError: () => {} }
    const db = openDatabase(await migratedDatabase(), settings)
    const [leader, webhook, account] = ['one', 7, 1]
    await takeLead(db, leader)
    await beginCursor(db, { webhook, account, starts: 1, next: 5 })
    const idle = { webhook, starts: 1, next: 10, part: 0, idle: true, replay: undefined }
    expect(await moveCursors(db, { leader, next: 10, moved: [idle] })).to.equal(true)
    const attempt = { webhook, account, message: 'evt_10_0', type: 'LinkCreated', ordinal: 10, try: 1 }
    const outcome = { status: 500, ms: 1, delivered: false, problem: 'status 500', excerpt: '' }
    const failing = { failingSince: new Date(), tries: 1, dueAt: new Date(), replay: undefined }
    const cursor = { starts: 1, next: 10, part: 0, ...failing }
    await settleAttempts(db, leader, [{ ...attempt, ...outcome, cursor }])
    await moveCursors(db, { leader, next: 11, moved: [] })
    expect(await webhooksWithCursor(db)).to.deep.equal([webhook])
    const part = { until: 3, next: 0 }
    const { replay } = await beginCursor(db, { webhook, account, starts: 2, next: 0, part })
    expect(replay).to.deep.equal({ until: 3, back: { ordinal: 10, part: 0 } })
    await db.destroy()
  })

  it('says whose last attempt was accepted, also after attempts that failed', async () => {
    const settings = { name: 'test', max: 2, timeout: 30_000, onError: () => {} }
    const db = openDatabase(await migratedDatabase(), settings)
    const [leader, account] = ['one', 1]
    await takeLead(db, leader)
    const attempt = async (webhook: number, delivered: boolean) => {
      const of = { webhook, account, message: 'evt_10_0', type: 'LinkCreated', ordinal: 10, try: 1 }
      const outcome = { status: delivered ? 200 : 500, ms: 1, delivered, problem: '', excerpt: '' }
      const failingSince = delivered ? null : new Date()
      const cursor = { starts: 1, next: 10, part: 0, failingSince, tries: 0, dueAt: null, replay: undefined }
      await settleAttempts(db, leader, [{ ...of, ...outcome, cursor }])
    }
    for (const webhook of [7, 8, 9]) await beginCursor(db, { webhook, account, starts: 1, next: 5 })
    for (const [webhook, delivered] of [
      [7, false],
      [7, true],
      [8, true],
      [8, false],
    ] as const)
      await attempt(webhook, delivered)
    expect([...(await acceptedWebhooks(db))]).to.deep.equal([7])
    await db.destroy()
  })

  it('moves several webhooks at once, except one that has begun again, and keeps no attempt of a deleted one', async () => {
    const settings = { name: 'test', max: 2, timeout: 30_000, onError: () => {} }
    const db = openDatabase(await migratedDatabase(), settings)
    const account = 1
    await takeLead(db, 'one')
    for (const [webhook, starts] of [
      [7, 1],
      [8, 2],
      [9, 1],
    ] as const)
      await beginCursor(db, { webhook, account, starts, next: 5 })
    const settled = [10, 9, 8, 7].map((webhook) => {
      const outcome = { status: 200, ms: 1, delivered: true, problem: '', excerpt: `{"of":"${webhook}, 'ü'"}` }
      const place = {
        starts: 1,
        next: 20 + webhook,
        part: webhook,
        replay: { until: 3, back: { ordinal: 2, part: 1 } },
      }
      const cursor = { ...place, failingSince: null, tries: 0, dueAt: null }
      const of = { webhook, account, message: `evt_${webhook}`, type: 'LinkCreated', ordinal: webhook, try: 1 }
      return { ...of, ...outcome, cursor }
    })
    await settleAttempts(db, 'one', settled)
    await settleAttempts(db, 'another', [{ ...settled[3]!, cursor: { ...settled[3]!.cursor, next: 99 } }])
    const places = await db('state.webhooks').orderBy('webhook').select('webhook', 'next', 'part', 'until', 'back')
    expect(places).to.deep.equal([
      { webhook: '7', next: '27', part: 7, until: '3', back: '2' },
      { webhook: '8', next: '5', part: 0, until: null, back: null },
      { webhook: '9', next: '29', part: 9, until: '3', back: '2' },
    ])
    const kept = await db('state.webhook_deliveries').orderBy(['webhook', 'id']).select('webhook', 'message', 'excerpt')
    expect(kept).to.deep.equal(
      [7, 7, 8, 9].map((n) => ({ webhook: `${n}`, message: `evt_${n}`, excerpt: `{"of":"${n}, 'ü'"}` })),
    )
    await db.destroy()
  })

  it('is copied again where the service has gone on between two copies of its log', async () => {
    const settings = { name: 'test', max: 2, timeout: 30_000, onError: () => {} }
    const [from, to] = [await migratedDatabase(), await migratedDatabase()].map((one) => openDatabase(one, settings))
    const [leader, webhook] = ['one', 7]
    await takeLead(from!, leader)
    await beginCursor(from!, { webhook, account: 1, starts: 1, next: 5 })
    await copyState(from!, to!)
    const moved = { webhook, starts: 1, next: 40, part: 2, idle: false, replay: undefined }
    await moveCursors(from!, { leader, next: 40, moved: [moved] })
    await copyState(from!, to!)
    await copyPlaces(from!, to!)
    const places = await to!('state.webhooks').select('webhook', 'next', 'part', 'idle')
    expect(places).to.deep.equal([{ webhook: '7', next: '40', part: 2, idle: false }])
    await Promise.all([from!.destroy(), to!.destroy()])
  })
})
