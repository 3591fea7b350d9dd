import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { hashTexts } from '../../../src/app/proof/leafhash.ts'
import { openLeafThreads } from '../../../src/app/proof/leafthreads.ts'
import { leavesOf, type StoredEvent } from '../../../src/events/proof/leaf.ts'
import { parseRaw, type RawText } from '../../../src/events/rawtext.ts'
import { at, click, clicked } from '../../support/events.ts'

describe('hashing events in threads', () => {
  /** Events with at least this many bytes of JSON together. */
  const eventsOf = (count: number, clicks: number): RawText[] =>
    Array.from({ length: count }, (_, i) => ({
      ...{
        id: randomUUID(),
        stream: 'clicks-local-0',
        revision: BigInt(i),
        position: BigInt(i + 1),
        at: at(count - i),
      },
      type: 'LinkClicked',
      data: JSON.stringify(clicked(...Array.from({ length: clicks }, (__, n) => click({ link: n + 1 }))).data),
      metadata: '{"v":1}',
    }))
  const place = { size: 7, at: at(2) }

  it('makes the leaves of the tree, whose clock never goes back', () => {
    const events = eventsOf(3, 2)
    const { leaves, clicks } = hashTexts({ events, place })
    const expected = leavesOf(
      events.map((text) => parseRaw(text) as StoredEvent),
      place,
    )
    expect(Buffer.from(leaves)).to.deep.equal(Buffer.concat(expected))
    expect(clicks).to.equal(6)
  })

  it('has the same results as this thread, and goes on after a thread has ended', async () => {
    const pool = openLeafThreads(2)
    const tasks = [1, 2, 3].map((count) => ({ events: eventsOf(count, 1000), place }))
    const broken = { events: eventsOf(1, 1000).map((event) => ({ ...event, metadata: '{' })), place }
    const problem = pool.run(broken).catch((error: unknown) => String(error))
    const found = await Promise.all(tasks.slice(0, 1).map(pool.run))
    expect(await problem).to.match(/ThreadLost: .*SyntaxError/)
    found.push(...(await Promise.all(tasks.slice(1).map(pool.run))))
    expect(found.map(({ clicks }) => clicks)).to.deep.equal([1000, 2000, 3000])
    for (const [i, { leaves }] of found.entries())
      expect(Buffer.from(leaves)).to.deep.equal(Buffer.from(hashTexts(tasks[i]!).leaves))
    await pool.close()
  })
})
