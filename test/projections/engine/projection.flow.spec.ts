import { expect } from 'chai'
import fc from 'fast-check'
import {
  add,
  type Change,
  coalesce,
  patch,
  put,
  remove,
  type TableNames,
  writeChanges,
} from '../../../src/projections/engine/projection.ts'
import type { Row } from '../../../src/projections/engine/row.ts'
import { type Database, openDatabase } from '../../../src/postgres/database.ts'
import { freshDatabase } from '../../support/database.ts'
import { long, repeatable, seed } from '../../support/faults.ts'
import { applyInMemory } from '../../support/given.ts'

/** `items` has rows that are put, patched and removed, `counts` rows that are put, added to and removed. */
const columns = { items: ['kind', 'id', 'a', 'b', 'c'], counts: ['id', 'n', 'm'] } as const
const tables = Object.keys(columns) as (keyof typeof columns)[]

const key = fc
  .record({ kind: fc.constantFrom('x', 'y'), id: fc.integer({ min: 1, max: 2 }) })
  .chain(({ kind, id }) => fc.constantFrom<Row>({ kind, id }, { id, kind }))
/** part of a key: the change concerns every row of the kind */
const kindOnly = fc.constantFrom('x', 'y').map((kind) => ({ kind }))
const countKey = fc.integer({ min: 1, max: 2 }).map((id) => ({ id }))
const row = fc.record(
  {
    a: fc.integer({ min: 0, max: 9 }),
    b: fc.constantFrom(null, 'text', 'quo"te ? \\ é'),
    c: fc.constantFrom([1, 'x'], { y: null }),
  },
  { requiredKeys: [] },
)
const patchRow = row.filter((changed) => Object.keys(changed).length > 0)
const numbers = fc.record(
  { n: fc.integer({ min: -9, max: 9 }), m: fc.integer({ min: -9, max: 9 }) },
  { requiredKeys: [] },
)
const sums = numbers.filter((added) => Object.keys(added).length > 0)
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(key, row).map(([k, r]) => put('items', k, r)),
  fc.tuple(key, patchRow).map(([k, r]) => patch('items', k, r)),
  fc.tuple(kindOnly, patchRow).map(([k, r]) => patch('items', k, r)),
  key.map((k) => remove('items', k)),
  fc.tuple(countKey, numbers).map(([k, r]) => put('counts', k, r)),
  fc.tuple(countKey, sums).map(([k, r]) => add('counts', k, r as Record<string, number>)),
  countKey.map((k) => remove('counts', k)),
)

describe('merging changes of read tables', () => {
  it('leaves one change per row, in order', () => {
    expect(
      coalesce([
        put('t', { id: 1 }, { a: 1, b: 1 }),
        put('t', { id: 2 }, { a: 2, b: 2 }),
        patch('t', { id: 1 }, { b: 9 }),
        remove('t', { id: 2 }),
        patch('t', { id: 3 }, { a: 3 }),
        patch('t', { id: 3 }, { b: 3 }),
        add('n', { id: 1 }, { x: 1 }),
        add('n', { id: 1 }, { x: 2, y: 5 }),
      ]),
    ).to.deep.equal([
      put('t', { id: 1 }, { a: 1, b: 9 }),
      remove('t', { id: 2 }),
      patch('t', { id: 3 }, { a: 3, b: 3 }),
      add('n', { id: 1 }, { x: 3, y: 5 }),
    ])
  })
  it('recognises a row in any order of its key columns', () => {
    expect(coalesce([put('t', { a: 1n, b: 'x' }, { n: 1 }), remove('t', { b: 'x', a: 1n })])).to.deep.equal([
      remove('t', { b: 'x', a: 1n }),
    ])
  })
  it('refuses to both patch a row and add to it', () => {
    const [patched, added] = [patch('t', { id: 1 }, { a: 1 }), add('t', { id: 1 }, { n: 1 })]
    expect(() => coalesce([patched, added])).to.throw('cannot add to a row')
    expect(() => coalesce([added, patched])).to.throw('cannot patch a row')
  })
})

describe(`writing changes to the database (${repeatable})`, () => {
  let db: Database
  before(async () => {
    db = openDatabase(await freshDatabase(), { name: 'spec', max: 2, timeout: 5000, onError: () => {} })
    for (const way of ['single', 'batched'])
      await db.raw(`
        create table ${way}_items (kind text, id int, a int, b text, c json, primary key (kind, id));
        create table ${way}_counts (id int primary key, n int, m int)`)
  })
  after(() => db.destroy())

  const named =
    (way: string): TableNames =>
    (table) =>
      `${way}_${table}`
  /** Returns every row as text, with null for missing values. */
  const texts = (rows: readonly Row[], names: readonly string[]) =>
    rows.map((found) => JSON.stringify(names.map((name) => found[name] ?? null))).toSorted()
  const read = async (way: string) =>
    Object.fromEntries(
      await Promise.all(
        tables.map(
          async (table) => [table, texts((await db(named(way)(table)).select()) as Row[], columns[table])] as const,
        ),
      ),
    )

  it('gives the same rows in batches of any size as one by one', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 5 }), async (batches) => {
        for (const way of ['single', 'batched'])
          for (const table of tables) await db.raw(`truncate ${named(way)(table)}`)
        for (const batch of batches) await db.transaction((tx) => writeChanges(tx, named('batched'), batch))
        for (const one of batches.flat()) await writeChanges(db, named('single'), [one])

        const meant = applyInMemory(new Map(), batches.flat())
        const expected = Object.fromEntries(
          tables.map((table) => [table, texts([...(meant.get(table)?.values() ?? [])], columns[table])]),
        )
        expect(await read('single'), 'one by one').to.deep.equal(expected)
        expect(await read('batched'), 'in batches').to.deep.equal(expected)
      }),
      { seed, numRuns: long ? 2000 : 60 },
    )).timeout(long ? 300_000 : 60_000)

  it('keeps the order of events where a change concerns many rows, as an erasure does', async () => {
    const erase = (kind: string) => patch('items', { kind }, { b: null })
    const create = (kind: string, id: number) => put('items', { kind, id }, { a: id, b: 'personal', c: null })
    const change = (kind: string, id: number) => patch('items', { kind, id }, { a: 9 })
    for (const batch of [
      [erase('x'), create('y', 1), erase('y')],
      [create('y', 1), erase('y'), change('y', 1)],
    ]) {
      await db.raw('truncate batched_items')
      await writeChanges(db, named('batched'), batch)
      expect(await db('batched_items').pluck('b')).to.deep.equal([null])
    }
  })

  it('uses one statement per operation and set of columns', async () => {
    const statements: string[] = []
    const count = ({ sql }: { sql: string }) => statements.push(sql)
    db.on('query', count)
    const many = Array.from({ length: 100 }, (_, id) => [
      put('items', { kind: 'p', id }, { a: id, b: null, c: [] }),
      patch('items', { kind: 'q', id }, { a: id }),
      add('counts', { id }, { n: 1 }),
    ])
    await writeChanges(db, named('batched'), many.flat())
    db.removeListener('query', count)
    expect(statements.length).to.be.at.most(4)
    expect(await db('batched_items').where({ kind: 'p' }).count()).to.deep.equal([{ count: '100' }])
  })
})
