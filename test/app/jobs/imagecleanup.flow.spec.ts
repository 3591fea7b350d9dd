import { expect } from 'chai'
import { cleanUpImages } from '../../../src/app/jobs/imagecleanup.ts'
import { qrs } from '../../../src/projections/qr/qr.ts'
import { openImageStore } from '../../../src/security/images.ts'
import type { TestApp } from '../../support/app.ts'
import { qrClient, qrSetUp } from '../../support/clients/qr.ts'
import { query } from '../../support/faults.ts'

describe('images that no event names', () => {
  const { logos, stage, start } = qrSetUp()
  const logo = `data:image/png;base64,${logos.png.toString('base64')}`
  let app: TestApp
  let key: string
  let account: number
  before(async () => void ({ app } = await start()))
  beforeEach(async () => void ({ key, id: account } = await app.register()))
  after(stage.clear)
  const { create, update } = qrClient(
    () => app,
    () => key,
  )
  const cleanUp = () => cleanUpImages(app.app.ledger)
  const imageStore = () => openImageStore(app.app.ledger.db, app.app.ledger.keys)
  const age = () => query(app.connection, "update state.images set used_at = now() - interval '25 hours'")
  const hashes = async (of = account) => {
    const rows = await query<{ hash: string }>(app.connection, 'select hash from state.images where account = $1', [of])
    return rows.map(({ hash }) => hash)
  }

  it('are deleted after a day; those that an event names are kept, also when they were replaced', async () => {
    const { id } = await create({ type: 'text', data: 'Hello', logo })
    await update(id, { data: 'Hello', logo: null })
    const named = await hashes()
    // as left by a request whose event was refused
    const unused = await imageStore().save(account, Buffer.from('an image that no event names'))
    expect(await cleanUp()).to.equal(0)
    expect(await hashes()).to.have.members([...named, unused])
    await age()
    expect(await cleanUp()).to.equal(1)
    expect(await hashes()).to.deep.equal(named)
  })

  it('are kept for another day when they are stored again, as by the next attempt', async () => {
    const image = Buffer.from('an image that is sent again')
    await imageStore().save(account, image)
    await age()
    await imageStore().save(account, image)
    expect(await cleanUp()).to.equal(0)
    expect(await hashes()).to.have.length(1)
  })

  it('are kept while the tables are behind the log, and when their account is unknown', async () => {
    await imageStore().save(account, Buffer.from('an image that may be named by an event that is not projected yet'))
    const unknown = account + 1000
    await imageStore().save(unknown, Buffer.from('an image of an account in another log'))
    await age()
    const { reader, store } = app.app.ledger
    const ahead = { head: async () => (await store.head('domain')) + 1n }
    expect(await cleanUpImages({ reader, store: ahead })).to.equal(0)
    expect(await hashes()).to.have.length(1)
    await cleanUp()
    expect([await hashes(), await hashes(unknown)].map(({ length }) => length)).to.deep.equal([0, 1])
  })

  it('are kept once a newer release has worked on the log: its events, which this one cannot read, may name them', async () => {
    await imageStore().save(account, Buffer.from('an image that an event of a newer release names'))
    await age()
    const newer = (projection: string, version: number) =>
      query(
        app.connection,
        `insert into read.checkpoints (projection, version, generation, log_id, position, live)
         values ($1, $2, 1, '00000000-0000-4000-8000-000000000000', 0, false)`,
        [projection, version],
      )
    const deletedAfter = async (projection: string, version: number) => {
      await newer(projection, version)
      const deleted = await cleanUp()
      await query(app.connection, 'delete from read.checkpoints where projection = $1 and version = $2', [
        projection,
        version,
      ])
      return deleted
    }
    expect(await deletedAfter('qrs', qrs.version + 1)).to.equal(0)
    expect(await deletedAfter('avatars', 1)).to.equal(0)
    expect(await hashes()).to.have.length(1)
    expect(await deletedAfter('qrs', qrs.version - 1)).to.equal(1)
  })

  it('and those of erased accounts are deleted, also when they were stored after erasure', async () => {
    await create({ type: 'text', data: 'Hello', logo })
    await query(
      app.connection,
      `update ${app.app.ledger.tables.name('accounts')} set status = 'erased' where id = $1`,
      [account],
    )
    await age()
    expect(await cleanUp()).to.equal(1)
    expect(await hashes()).to.have.length(0)
  })
})
