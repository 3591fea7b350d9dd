import { expect } from 'chai'
import { openDatabase } from '../../src/postgres/database.ts'
import {
  acceptedWebhooks,
  beginCursor,
  moveCursors,
  settleAttempt,
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
    await settleAttempt(db, leader, { ...attempt, ...outcome }, { starts: 1, next: 10, part: 0, ...failing })
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
      const place = { starts: 1, next: 10, part: 0, failingSince, tries: 0, dueAt: null, replay: undefined }
      await settleAttempt(db, leader, { ...of, ...outcome }, place)
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
})
