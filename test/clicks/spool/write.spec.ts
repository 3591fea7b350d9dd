import { expect } from 'chai'
import { stat } from 'node:fs/promises'
import { disk } from '../../../src/clicks/spool/file.ts'
import {
  addAll,
  expectContiguous,
  lastOf,
  newestIn,
  numbersOf,
  range,
  scripted,
  segmentsIn,
  sequenceOf,
  spoolsIn,
  take,
  useSpoolFolder,
} from './harness.ts'
import { route, visit } from './visits.ts'

describe('writing to a spool', () => {
  const { dir, open, readOut } = useSpoolFolder()

  it('numbers the entries of each partition from 1, under a new id at every start', async () => {
    const ids = new Set<string>()
    for (const round of range(0, 3)) {
      const spool = await open()
      ids.add(spool.id)
      await addAll(spool, range(round * 50, round * 50 + 50))
      await spool.close()
    }
    const spools = await spoolsIn(dir())
    expect(ids.size).to.equal(3)
    expect(spools.map(numbersOf)).to.deep.equal([range(0, 50), range(50, 100), range(100, 150)])
    expect(spools.map((entries) => sequenceOf(entries, 1).length)).to.deep.equal([13, 12, 13])
    for (const entries of spools) expectContiguous(entries)
  })

  it('leaves no files behind when processes start that take no visits', async () => {
    for (const _ of range(0, 5)) await (await open()).close()
    expect(await segmentsIn(dir())).to.have.length(1)
    expect((await open()).earlier).to.deep.equal([])
  })

  it('spreads scans of QR codes without a link over the partitions, and keeps each code in one', async () => {
    const spool = await open()
    for (const id of [1, 2, 3, 1, 2, 3]) await spool.add({ ...visit(id), link: 0, source: { kind: 'qr', id } })
    await spool.close()
    const entries = await readOut()
    const partitionsOf = (code: number) =>
      entries.filter((entry) => 'visit' in entry && entry.visit.source.id === code).map(({ partition }) => partition)
    expect([1, 2, 3].map((code) => new Set(partitionsOf(code)).size)).to.deep.equal([1, 1, 1])
    expect(new Set(entries.map(({ partition }) => partition)).size).to.be.above(1)
  })

  it('keeps the entries of earlier starts apart, until they are removed', async () => {
    const first = await open({ segmentBytes: 2000 })
    for (const number of range(0, 40)) await first.add(visit(number))
    const before = await take(first, 40)
    await first.release(lastOf(before))
    expect(await segmentsIn(dir())).to.have.length(1)
    await first.close()

    const second = await open()
    await addAll(second, range(40, 60))
    const after = await take(second, 20)
    expect(second.id).not.to.equal(first.id)
    expectContiguous(after)
    expect(numbersOf(after)).to.deep.equal(range(40, 60))

    const [earlier] = second.earlier
    expect(earlier).to.include({ id: first.id })
    expect(earlier?.stats().lastSeq).to.deep.equal([10, 10, 10, 10])
    expect(numbersOf(await take(earlier!)).at(-1)).to.equal(39)
    expect(second.stats().bytes).to.be.above(earlier!.stats().bytes)
    await earlier?.remove()
    expect(earlier?.exists()).to.equal(false)
    expect(await segmentsIn(dir())).to.have.length(1)
  })

  it('writes all visits of one turn of the event loop at once', async () => {
    let writes = 0
    const spool = await open({ io: scripted({ write: (...args) => ((writes += 1), disk.write(...args)) }) })
    writes = 0
    await addAll(spool, range(0, 500))
    expect(writes).to.equal(1)
  })

  it('drops no visit while the disk works, however many arrive in one turn', async () => {
    const spool = await open({ backlogVisits: 10 })
    await addAll(spool, range(0, 1005))
    expect(spool.stats()).to.deep.include({ waiting: 0, dropped: 0 })
    expect(numbersOf(await take(spool, 1005))).to.deep.equal(range(0, 1005))
  })

  it('loses no visit when it is closed, and lets readers reach the end', async () => {
    const spool = await open({ syncMs: 60_000 })
    const adding = addAll(spool, range(0, 3000))
    const reading = take(spool)
    await spool.close()
    await adding
    expect(numbersOf(await reading)).to.deep.equal(range(0, 3000))
    expect(numbersOf(await readOut())).to.deep.equal(range(0, 3000))
  })

  it('keeps segments of another route apart', async () => {
    const local = await open()
    await addAll(local, range(0, 10))
    await local.close()

    const kafka = await open({ route: { log: 'kafka', partitions: 6 } })
    await addAll(kafka, range(10, 20))
    const entries = await take(kafka, 10)
    await kafka.release(lastOf(entries))
    await kafka.close()
    expect(numbersOf(entries)).to.deep.equal(range(10, 20))
    expect(kafka.earlier.map(({ id, route }) => ({ id, route }))).to.deep.equal([{ id: local.id, route }])
    expect((await spoolsIn(dir())).map(numbersOf)).to.deep.equal([range(0, 10), range(10, 20)])
  })

  it('makes its folder and files private', async () => {
    const spool = await open()
    await spool.add(visit(1))
    expect((await stat(dir())).mode & 0o777).to.equal(0o700)
    expect((await stat(await newestIn(dir()))).mode & 0o777).to.equal(0o600)
  })
})
