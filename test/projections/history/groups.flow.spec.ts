import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import type { DomainEvent } from '../../../src/events/index.ts'
import { changesOf } from '../../../src/projections/engine/projection.ts'
import { newGeneration, tableNames } from '../../../src/projections/engine/tables.ts'
import { accountEvents } from '../../../src/projections/history/accountevents.ts'
import { at, linkCreated, recorded } from '../../support/events.ts'
import { openTestLog, type TestLog } from '../../support/log.ts'

describe('the groups of events of an account', () => {
  let log: TestLog
  before(async () => (log = await openTestLog()))
  after(() => log.close())

  type Asked = readonly [event: DomainEvent, request: string, seconds: number]
  /** Returns the events of each group by their numbers, as they are stored in batches of one size. */
  const groupsOf = async (asked: readonly Asked[], size: number): Promise<readonly (readonly number[])[]> => {
    const events = recorded(asked.map(([event]) => event)).map((event, n) => ({
      ...event,
      metadata: { ...event.metadata, account: 1, request: asked[n]![1], at: at(asked[n]![2]) },
    }))
    const { generation } = await newGeneration(log.db, accountEvents, log.store.logId)
    const table = tableNames(accountEvents, generation)
    if ('on' in accountEvents) throw new Error('it writes by itself')
    for (let from = 0; from < events.length; from += size)
      await accountEvents.write(log.db, table, events.slice(from, from + size), changesOf)
    const rows: { position: string; group_id: string; leads: boolean }[] = await log
      .db(table('account_events'))
      .orderBy('position')
      .select('position', 'group_id', 'leads')
    const idOf = (row: (typeof rows)[number]) => row.group_id ?? row.position
    const groups = [...new Set(rows.map(idOf))].map((id) => rows.filter((row) => idOf(row) === id))
    for (const [first, ...others] of groups)
      expect([first!.leads, others.some(({ leads }) => leads)]).to.deep.equal([true, false])
    return groups.map((group) => group.map(({ position }) => Number(position)))
  }

  const updated = (id: number): DomainEvent => ({ type: 'LinkUpdated', data: { id, changes: { title: 'x' } } })
  const [request, later, by] = [randomUUID(), randomUUID(), randomUUID()]

  it('end ten minutes after they began, whatever ids a client gives its requests', async () => {
    const asked: Asked[] = [
      [updated(1), request, 0],
      [updated(2), request, 599],
      [updated(3), later, 599],
      [updated(1), request, 600],
      [updated(1), request, 1199],
      [updated(1), request, 1200],
      [updated(1), 'nightly', 1200],
      [updated(1), 'nightly', 1200],
    ]
    for (const size of [1, 3, 8])
      expect(await groupsOf(asked, size)).to.deep.equal([[1, 2], [3], [4, 5], [6], [7], [8]])
  })

  it('of an import have what names it, also when it goes on hours later, and not that it was taken back', async () => {
    const brought = (id: number): DomainEvent => {
      const { type, data } = linkCreated({ id })
      return { type, data: { ...data, import: by } }
    }
    const address = { id: 7, account: 1, address: 2, domain: 0, alias: 'b', added: at(0) }
    const asked: Asked[] = [
      [{ type: 'ImportStarted', data: { id: by, account: 1 } }, request, 0],
      [brought(7), request, 1],
      [
        { type: 'ClicksImported', data: { id: 7, account: 1, source: 'a', clicks: 1, uniques: null, import: by } },
        request,
        1,
      ],
      [{ type: 'LinkAddressAdded', data: { ...address, token: `${by}:${randomUUID()}` } }, request, 2],
      [updated(7), by, 2],
      [linkCreated({ id: 8 }), by, 3],
      [brought(9), later, 7200],
      [{ type: 'ImportFinished', data: { id: by, account: 1, format: 'csv', links: 2 } }, later, 7201],
      [{ type: 'ImportUndone', data: { id: by, account: 1, links: 2, kept: 0 } }, by, 7300],
    ]
    for (const size of [1, 4, 9]) expect(await groupsOf(asked, size)).to.deep.equal([[1, 2, 3, 4, 7, 8], [5], [6], [9]])
  })
})
