import { expect } from 'chai'
import { past, projectionsWith } from '../../../src/projections/index.ts'
import { keyOf } from '../../../src/projections/history/past.ts'
import { add, type Change, patch, put, remove } from '../../../src/projections/engine/projection.ts'
import type { Row } from '../../../src/projections/engine/row.ts'
import { type Version, versionsAfter as versionsInParts } from '../../../src/projections/history/versions.ts'

const open = (2n ** 63n - 1n).toString()
const dated = (...changes: readonly [number, Change][]) =>
  changes.map(([position, change]) => ({ position: BigInt(position), change }))
/** The versions, each as one object. */
const versionsAfter: (...args: Parameters<typeof versionsInParts>) => {
  readonly ended: Row[]
  readonly added: Row[]
} = (...args) => {
  const { ended, added } = versionsInParts(...args)
  return { ended, added: added.map((parts) => Object.assign({}, ...parts) as Row) }
}
const stored = (row: Row, since = 1n): Version => ({ row: [row], since, stored: true, first: false })
const inForce = (...versions: readonly Version[]) =>
  new Map(versions.map((version) => [JSON.stringify([`${version.row[0]?.['id'] as number}`]), version]))

describe('the versions of rows', () => {
  it('end where the next one begins, and a patch changes only its columns', () => {
    const before = inForce(stored({ id: 7, name: 'a', color: 'red' }))
    const { ended, added } = versionsAfter(
      ['id'],
      before,
      dated([3, patch('t', { id: 7 }, { name: 'b' })], [5, patch('t', { id: 7 }, { color: 'blue' })]),
    )
    expect(ended).to.deep.equal([{ id: 7, since: 1n, until: 3n }])
    expect(added).to.deep.equal([
      { id: 7, name: 'b', color: 'red', since: 3n, until: 5n, first: false },
      { id: 7, name: 'b', color: 'blue', since: 5n, until: open, first: false },
    ])
  })

  it('are one for each event, for any of its writes', () => {
    const { ended, added } = versionsAfter(
      ['id'],
      inForce(),
      dated([2, put('t', { id: 1 }, { name: 'a' })], [2, patch('t', { id: 1 }, { name: 'b' })]),
    )
    expect(ended).to.deep.equal([])
    expect(added).to.deep.equal([{ id: 1, name: 'b', since: 2n, until: open, first: true }])
  })

  it('add up numbers, and know the first of a row', () => {
    const changes = dated([2, add('t', { id: 1 }, { n: 1 })], [4, add('t', { id: 1 }, { n: -1 })])
    expect(versionsAfter(['id'], inForce(), changes).added).to.deep.equal([
      { id: 1, n: 1, since: 2n, until: 4n, first: true },
      { id: 1, n: 0, since: 4n, until: open, first: false },
    ])
    expect(versionsAfter(['id'], inForce(stored({ id: 1, n: 40 })), changes).added.at(-1)).to.include({ n: 40 })
  })

  it('end for all rows that a part of the key names, and a patch of nothing makes none', () => {
    const rows = inForce(stored({ id: 1, account: 5 }), stored({ id: 2, account: 6 }))
    const { ended, added } = versionsAfter(
      ['id'],
      rows,
      dated([9, remove('t', { account: 5 })], [9, patch('t', { id: 3 }, { account: 5 })]),
    )
    expect(ended).to.deep.equal([{ id: 1, since: 1n, until: 9n }])
    expect(added).to.deep.equal([])
  })

  it('are kept of every table that the API reads, unless a setting leaves them out', () => {
    expect(Object.keys(past.tables)).to.include.members(['past_links', 'past_channel_items', 'past_domains_counts'])
    expect(Object.keys(past.tables)).to.not.include('past_reports')
    expect(projectionsWith({ withPast: false })).to.not.include(past)
    expect(keyOf('create table t (a bigint, b text, primary key (a, b))')).to.deep.equal(['a', 'b'])
    expect(keyOf('create table t (id bigint primary key, b text)')).to.deep.equal(['id'])
  })
})
