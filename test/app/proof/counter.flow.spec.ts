import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { openCounter } from '../../../src/app/proof/counter.ts'
import { idSequence, lostIds } from '../../../src/postgres/ids.ts'
import { keepCheckpoint } from '../../../src/postgres/checkpoints.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'

describe('the number of checkpoints', () => {
  let app: TestApp
  let dir = ''
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkledger-counted-'))
    // no checkpoint of its own comes between
    app = await startTestApp({ ROLES: 'http,relay', DATA_DIR: dir })
  })
  after(async () => {
    await app.close()
    await rm(dir, { recursive: true, force: true })
  })
  beforeEach(async () => {
    await db()('state.checkpoints').delete()
    await (await counter()).restart(db())
  })

  const db = () => app.app.ledger.db
  const counter = (DATA_DIR = dir) => openCounter({ ...app.app.ledger, config: { ...app.config, DATA_DIR } })
  const uncounted = async () => undefined
  /** Keeps a checkpoint as if it were signed so many hours ago. */
  const keep = async (size: number, hoursAgo = 0, in_ = dir) => {
    const numbers = await counter(in_)
    const last = await keepCheckpoint(db(), { size, note: '' }, async (tx) => {
      await tx.raw(
        `update state.checkpoints set signed_at = date_trunc('hour', now()) - ? * interval '1 hour' + interval '1 min' where size = ?`,
        [hoursAgo, size],
      )
      return numbers.number(tx)
    })
    await numbers.note(last)
  }
  const found = async (in_ = dir) => (await (await counter(in_)).check(db())).map(({ text }) => text)
  const remove = (...sizes: number[]) => db()('state.checkpoints').whereIn('size', sizes).delete()

  it('misses those that were deleted, and still does after more were signed', async () => {
    for (const size of [10, 20, 30]) await keep(size)
    expect(await found()).to.deep.equal([])
    await remove(20)
    expect(await found()).to.deep.equal(['1 checkpoint is missing between that of 10 events and that of 30'])
    await remove(10, 30)
    expect((await found())[0]).to.match(
      /^3 checkpoints are missing, the newest: DATA_DIR\/checkpoints has the number 3/,
    )
    await keep(40)
    expect(await found()).to.deep.equal(['3 checkpoints are missing before that of 40 events'])
  })

  it('says at a start that the log has lost its end, and ids that it may have given are not given again', async () => {
    for (const size of [10, 20]) await keep(size)
    const id = await idSequence(db(), 'link')()
    const home = await mkdtemp(join(tmpdir(), 'linkledger-counted-'))
    const again = async () => {
      await copyFile(join(dir, 'checkpoints'), join(home, 'checkpoints'))
      await (await startTestApp({ ROLES: 'http,relay', DATA_DIR: home }, app.connection)).close()
      return idSequence(db(), 'link')()
    }
    try {
      expect(await again()).to.equal(id + 1)
      await remove(20)
      expect(await again()).to.equal(id + 1 + lostIds + 1)
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  })

  it('misses none that is signed while it looks', async () => {
    await keep(10)
    // a reader of this file blocks until it is written here
    const slow = await mkdtemp(join(dir, 'slow-'))
    execFileSync('mkfifo', [join(slow, 'checkpoints')])
    const looking = found(slow)
    const noted = await open(join(slow, 'checkpoints'), 'w')
    await keep(20)
    await noted.writeFile(await readFile(join(dir, 'checkpoints')))
    await noted.close()
    expect(await looking).to.deep.equal([])
  })

  it('misses none that were thinned out: of those older than two days, the last of each hour is kept', async () => {
    for (const [size, hoursAgo] of [
      [10, 60],
      [20, 60],
      [30, 60],
      [40, 59],
      [50, 59],
      [60, 1],
      [70, 0],
    ] as const)
      await keep(size, hoursAgo)
    const kept = await db()<{ size: string }>('state.checkpoints').select('size').orderBy('size')
    expect(kept.map(({ size }) => Number(size))).to.deep.equal([30, 50, 60, 70])
    expect(await found()).to.deep.equal([])
    await remove(30)
    expect(await found()).to.deep.equal(['at least 1 checkpoint is missing before that of 50 events'])
  })

  it('believes no number that the service has not sealed', async () => {
    for (const size of [10, 20, 30]) await keep(size)
    await remove(30)
    await db()('state.checkpoints').where({ size: 20 }).update({ number: 3 })
    expect((await found())[0]).to.equal('the checkpoint of 20 events has not the number that this service has given it')
    await db()('state.checkpoints').where({ size: 10 }).update({ series: null })
    expect((await found()).join()).to.include('the checkpoint of 10 events has lost its number')
  })

  it('begins with the upgrade: those of an older release get their numbers when the next one is signed', async () => {
    for (const size of [10, 20]) await keepCheckpoint(db(), { size, note: '' }, uncounted)
    expect(await found()).to.deep.equal([])
    await keep(30)
    expect(await found()).to.deep.equal([])
    await remove(10)
    expect(await found()).to.deep.equal(['1 checkpoint is missing before that of 20 events'])
  })

  it('misses none when an older release has signed one between two that have numbers', async () => {
    for (const size of [10, 30]) await keep(size)
    await keepCheckpoint(db(), { size: 20, note: '' }, uncounted)
    expect(await found()).to.deep.equal([])
    await keep(40)
    expect(await found()).to.deep.equal([])
    await remove(30)
    expect(await found()).to.have.lengthOf(1)
  })

  it('is known to the process that signs: another DATA_DIR misses those in between, and not the newest', async () => {
    for (const size of [10, 20, 30]) await keep(size)
    await remove(30)
    expect(await found()).to.have.lengthOf(1)
    const other = join(dir, 'other')
    expect(await found(other)).to.deep.equal([])
    await remove(10)
    expect(await found(other)).to.have.lengthOf(1)
  })

  it('begins again with the first checkpoint after a restore, with an event', async () => {
    const events = async () =>
      (await db()('log.events').where({ type: 'CheckpointCountRestarted' })).map(({ data }) => String(data.why))
    for (const size of [10, 20]) await keep(size)
    const before = await events()
    // a restore brings back older rows, without their numbers
    await remove(20)
    await db()('state.checkpoints').update({ series: null, number: null, before: null, seal: null })
    await (await counter()).noteRestored(db())
    expect([await found(), await events()]).to.deep.equal([[], before])
    for (const size of [30, 40]) await keep(size)
    expect([await found(), await events()]).to.deep.equal([[], [...before, 'restored']])
    await remove(10)
    expect(await found()).to.have.lengthOf(1)
  })

  it('begins again after a restore in every process, despite the checkpoints in its DATA_DIR', async () => {
    const signing = await mkdtemp(join(dir, 'signing-'))
    for (const size of [10, 20, 30]) await keep(size, 0, signing)
    const expectNone = async () => expect([await found(), await found(signing)]).to.deep.equal([[], []])
    // by a command on another machine
    await remove(20, 30)
    await db()('state.checkpoints').update({ series: null, number: null, before: null, seal: null })
    await (await counter()).noteRestored(db())
    await expectNone()
    for (const size of [20, 40]) await keep(size, 0, signing)
    await expectNone()
    await keep(50)
    await expectNone()
    await remove(20)
    expect([await found(), await found(signing)].map(({ length }) => length)).to.deep.equal([1, 1])
  })

  it('begins again by no note that the service has not sealed, and by each once', async () => {
    const next = { series: randomUUID(), seal: 'x' }
    await db()('state.next_series').insert(next)
    for (const size of [10, 20]) await keep(size)
    await (await counter()).noteRestored(db())
    await keep(30)
    const [used] = await db()('state.next_series')
    await (await counter()).restart(db())
    await db()('state.next_series').insert(used).onConflict('single').merge()
    await keep(40)
    await remove(30)
    expect(await found()).to.have.lengthOf(1)
    expect(await db()('state.checkpoints').where({ series: next.series })).to.have.lengthOf(0)
  })

  it('begins again by an event of the service only', async () => {
    for (const size of [10, 20]) await keep(size)
    await remove(20)
    expect(await found()).to.have.lengthOf(1)
    await (await counter()).restart(db())
    expect(await found()).to.deep.equal([])
    await remove(10)
    expect(await found()).to.have.lengthOf(1)
    const stream = 'log-checkpoints'
    await db().raw(
      `insert into log.events select (select max(position) + 1 from log.events), stream, revision + 1, gen_random_uuid(), type, data, metadata, at
       from log.events where stream = ? order by revision desc limit 1`,
      [stream],
    )
    expect(await found()).to.have.lengthOf(2)
    expect((await found())[0]).to.include('this service has not added it')
    await db().raw(`delete from log.events where position = (select max(position) from log.events where stream = ?)`, [
      stream,
    ])
  })
})
