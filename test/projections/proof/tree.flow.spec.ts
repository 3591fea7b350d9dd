import { expect } from 'chai'
import { engineOf } from '../../../src/app/log/postgres.ts'
import { openCounter } from '../../../src/app/proof/counter.ts'
import { openSigner, signCheckpoint } from '../../../src/app/proof/proofs.ts'
import { dropTree, followTree } from '../../../src/projections/proof/tree.ts'
import { treeSize } from '../../../src/queries/proof/tree.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'

describe('the tree over the log', () => {
  let app: TestApp
  before(async () => (app = await startTestApp()))
  after(() => app.close())

  it('is followed by several processes, of which one adds the events and the others go on after it, also when it is dropped', async () => {
    const { key } = await app.register()
    const { db, stored } = app.app.ledger
    const [stop, seen] = [new AbortController(), [0, 0]]
    const options = { db, store: stored, engine: engineOf(app.config) } as const
    const followers = Promise.all(
      seen.map((_, n) => followTree(options, async (size) => void (seen[n] = size), stop.signal)),
    )
    const ended = followers.catch((error: unknown) => String(error))
    for (let round = 0; round < 3; round++) {
      const before = await treeSize(db)
      await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })
      const sizes = async () => [await treeSize(db), ...seen]
      const isFollowed = ([size, ...others]: number[]) => size! > before && others.every((other) => other === size)
      expect(await Promise.race([until(sizes, isFollowed), ended])).to.satisfy(isFollowed)
      // as `linkledger rebuild` does
      if (round === 1) await dropTree(db)
    }
    stop.abort()
    await followers
    // one that looked before another has signed more
    const counter = await openCounter(app.app.ledger)
    const [signer, size] = [await openSigner(app.app.ledger), await treeSize(db)]
    await signCheckpoint(db, signer, size, counter)
    expect((await signCheckpoint(db, signer, size - 1, counter)).size).to.be.at.least(size)
  })

  it('is dropped while events are being added to it, and neither waits for the other', async () => {
    const { db } = app.app.ledger
    let dropping: Promise<unknown> = Promise.resolve()
    // as adding does: the size first, then the hashes
    await db.transaction(async (tx) => {
      await tx.raw('lock table read.tree in row exclusive mode')
      dropping = Promise.resolve(dropTree(db))
      dropping.catch(() => {})
      await until(
        async () => (await db.raw<{ rows: unknown[] }>('select from pg_locks where not granted')).rows.length,
        (waiting) => waiting > 0,
      )
      await tx.raw(`insert into read.tiles (level, number, hashes) values (9, 9, '')`)
    })
    await dropping
    expect(await db('read.tiles').where({ level: 9 })).to.deep.equal([])
  })
})
