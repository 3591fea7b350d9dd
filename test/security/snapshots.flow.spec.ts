import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { type Database, openDatabase } from '../../src/postgres/database.ts'
import { type Keys, openKeys } from '../../src/security/keyring.ts'
import { openSnapshotStore, type Snapshot, type SnapshotStore } from '../../src/security/snapshots.ts'
import { migratedDatabase } from '../support/database.ts'

const [ann, bob] = [1, 2]
const secret = 'a secret for tests only'
const place = { stream: 'link-1', version: 1 }
const snapshot = (text = 'ann@example.com'): Snapshot => ({
  revision: 1999n,
  event: randomUUID(),
  state: Buffer.from(text),
})

describe('stored snapshots', () => {
  let db: Database
  let keys: Keys
  let snapshots: SnapshotStore
  beforeEach(async () => {
    db = openDatabase(await migratedDatabase(), { name: 'test', max: 4, timeout: 30_000, onError: () => {} })
    keys = await openKeys(db, secret)
    snapshots = openSnapshotStore(db, keys)
    await keys.forSealing(ann)
  })
  afterEach(() => db.destroy())
  const rows = () => db('state.snapshots').orderBy(['stream', 'version'])

  it('are found by stream, version and revision, and replaced', async () => {
    expect(await snapshots.find(place)).to.equal(undefined)
    const [older, newer] = [snapshot('older'), { ...snapshot('newer'), revision: 2999n }]
    for (const one of [older, newer]) {
      await snapshots.save(ann, place, () => one)
      expect(await snapshots.find(place)).to.deep.include(one)
    }
    expect(await snapshots.find(place, 2999n)).to.deep.include(newer)
    expect(await snapshots.find(place, 2998n)).to.deep.include(older)
    expect(await snapshots.find(place, 1998n)).to.equal(undefined)
    const again = snapshot('again')
    await snapshots.save(ann, place, () => again)
    expect(await snapshots.find(place, 1999n)).to.deep.include(again)
    expect(await snapshots.find({ ...place, version: 2 })).to.equal(undefined)
    expect(await snapshots.find({ ...place, stream: 'link-2' })).to.equal(undefined)
  })

  it('of older rules are deleted, those of newer ones are kept', async () => {
    for (const version of [3, 1, 2]) await snapshots.save(ann, { ...place, version }, () => snapshot())
    expect((await rows()).map(({ version }: { version: number }) => version)).to.deep.equal([2, 3])
  })

  it('of large states replace the older ones, which would take more room than the log', async () => {
    const at = (revision: bigint, bytes = 10) => ({ ...snapshot('x'.repeat(bytes)), revision })
    const save = (one: Snapshot) => snapshots.save(ann, place, () => one)
    const revisions = async () =>
      (await rows()).map(({ revision }: { revision: string }) => Number(revision)).toSorted((a, b) => a - b)
    for (const revision of [99n, 199n]) await save(at(revision))
    expect(await revisions()).to.deep.equal([99, 199])
    await save(at(299n, 20_000))
    expect(await revisions()).to.deep.equal([299])
    await save(at(199n))
    expect(await revisions(), 'an older one is not stored again').to.deep.equal([299])
    await save(at(399n))
    expect(await revisions()).to.deep.equal([299, 399])
  })

  it('are dropped stream by stream', async () => {
    for (const stream of ['link-1', 'link-2']) await snapshots.save(ann, { ...place, stream }, () => snapshot())
    await snapshots.drop('link-1')
    expect((await rows()).map(({ stream }: { stream: string }) => stream)).to.deep.equal(['link-2'])
  })

  it('are sealed, and are valid at their place only', async () => {
    await snapshots.save(ann, place, () => snapshot())
    const [row] = (await rows()) as { sealed: Buffer }[]
    expect(row?.sealed.includes('ann@example.com')).to.equal(false)
    await keys.forSealing(bob)
    for (const moved of [
      { stream: 'link-2' },
      { version: 2 },
      { revision: '5' },
      { account: bob },
      { event_id: randomUUID() },
    ]) {
      const before = (await rows())[0] as object
      await db('state.snapshots').update(moved)
      const [now] = (await rows()) as { stream: string; version: number }[]
      expect(await snapshots.find({ stream: now!.stream, version: now!.version }), JSON.stringify(moved)).to.equal(
        undefined,
      )
      await db('state.snapshots').update(before)
    }
    expect(await snapshots.find(place)).not.to.equal(undefined)
  })

  it('cannot be read under another key, as after a restored backup', async () => {
    await snapshots.save(ann, place, () => snapshot())
    await db('state.keys')
      .where({ name: `account-${ann}` })
      .delete()
    const restarted = await openKeys(db, secret)
    expect(await openSnapshotStore(db, restarted).find(place)).to.equal(undefined)
    await restarted.forSealing(ann)
    expect(await openSnapshotStore(db, restarted).find(place)).to.equal(undefined)
  })

  it('are deleted with their account, and not stored again by a process that still has its key', async () => {
    await keys.forSealing(bob)
    await snapshots.save(ann, place, () => snapshot())
    await snapshots.save(bob, { ...place, stream: 'link-2' }, () => snapshot())
    const other = await openKeys(db, secret)
    await other.forOpening([ann])
    await keys.destroy([ann])
    await openSnapshotStore(db, other).save(ann, place, () => snapshot())
    expect((await rows()).map(({ stream }: { stream: string }) => stream)).to.deep.equal(['link-2'])
  })
})
