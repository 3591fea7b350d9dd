import { expect } from 'chai'
import { cp, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { disk } from '../../../src/clicks/spool/file.ts'
import { long, randomFrom, repeatable, rounds, seed } from '../../support/faults.ts'
import {
  addAll,
  expectContiguous,
  newestIn,
  numbersOf,
  range,
  scripted,
  segmentsIn,
  spoolsIn,
  take,
  useSpoolFolder,
} from './harness.ts'
import { visit } from './visits.ts'

/** Returns the visits in an undamaged segment, with the range of bytes that each takes, newline included. */
const recordsIn = async (file: string) => {
  let start = 0
  return (await readFile(file, 'latin1')).split(/(?<=\n)/).flatMap((line) => {
    const [from, number] = [start, Number(/"revision":(\d+)/.exec(line)?.[1] ?? Number.NaN)]
    start += line.length
    return Number.isNaN(number) ? [] : [{ number, start: from, end: start }]
  })
}

describe(`a spool after a power loss (${repeatable})`, () => {
  const { dir, home, open, readOut } = useSpoolFolder()

  /** Creates a copy of the folder, changed by the test. */
  const copyOf = async (change: (newest: string) => Promise<void>): Promise<string> => {
    const copy = await mkdtemp(join(home(), 'copy-'))
    await cp(dir(), copy, { recursive: true })
    await change(await newestIn(copy))
    return copy
  }

  it('holds the synced entries: every entry that was read is there, and no number is used twice', async () => {
    let cut = 0
    const spool = await open({
      segmentBytes: 1e6,
      io: scripted({
        fdatasync: async (fd) => {
          const { size } = await stat(await newestIn(dir()))
          await disk.fdatasync(fd)
          cut = size
        },
      }),
    })
    await addAll(spool, range(0, 100))
    const read = await take(spool, 100)
    await addAll(spool, range(100, 120))
    const copy = await copyOf((file) => truncate(file, cut))
    await spool.close()

    const restored = await open({ dir: copy })
    await addAll(restored, range(200, 220))
    await restored.close()
    const [before = [], after = []] = await spoolsIn(copy)
    expect(before.slice(0, 100)).to.deep.equal(read)
    expect(numbersOf(after)).to.deep.equal(range(200, 220))
    for (const entries of [before, after]) expectContiguous(entries)
  })

  it('opens a file that is cut off at any byte, and reads the entries before it', async function () {
    this.timeout(long ? 600_000 : 120_000) // it waits for the disk at each cut
    const spool = await open()
    await addAll(spool, range(0, 5))
    await spool.close()
    const bytes = await readFile(await newestIn(dir()))
    const ends = [...bytes.keys()].filter((i) => bytes[i] === 10).map((i) => i + 1)
    const [header = 0] = ends
    const copy = await copyOf(async () => {})
    const [name = ''] = await segmentsIn(dir())
    // always near each end of a line; in between, each byte in the long run
    const nearEnd = (cut: number) => cut < 3 || ends.some((end) => Math.abs(end - cut) < 3)
    const cuts = [...range(0, header + 3), ...range((ends.at(-3) ?? 0) - 2, bytes.length + 1)]
    for (const cut of cuts.filter((at) => long || nearEnd(at) || at % 23 === 0)) {
      await rm(copy, { recursive: true })
      await cp(dir(), copy, { recursive: true })
      await writeFile(join(copy, name), bytes.subarray(0, cut))
      const whole = ends.filter((end) => end <= cut).length
      const again = await open({ dir: copy })
      await again.add(visit(99))
      const reading = take(again)
      await again.close()
      expect(numbersOf(await reading)).to.deep.equal([99])
      expectContiguous(await reading)
      expect(again.earlier.map(({ id }) => id)).to.deep.equal(whole <= 2 ? [] : [spool.id])
      const entries = again.earlier[0] ? await take(again.earlier[0]) : []
      expect(numbersOf(entries), `cut at ${cut}`).to.deep.equal(range(0, Math.max(0, whole - 2)))
      expectContiguous(entries)
    }
  })

  it('opens with an empty or unfinished newest segment', async () => {
    const spool = await open({ segmentBytes: 3000 })
    for (const number of range(0, 30)) await spool.add(visit(number))
    await spool.close()
    const newest = await newestIn(dir())
    const bytes = await readFile(newest)
    const number = Number(newest.slice(-16, -6)) + 1
    for (const length of [0, 1, 50]) {
      const copy = await copyOf((file) =>
        writeFile(join(file, '..', `${String(number).padStart(10, '0')}.spool`), bytes.subarray(0, length)),
      )
      const again = await open({ dir: copy })
      await again.add(visit(30))
      await again.close()
      const spools = await spoolsIn(copy)
      expect(again.earlier.map(({ id }) => id)).to.deep.equal([spool.id])
      expect(spools.map(numbersOf)).to.deep.equal([range(0, 30), [30]])
      for (const entries of spools) expectContiguous(entries)
    }
  })

  it('cuts off a torn end, and logs it', async () => {
    const spool = await open()
    await addAll(spool, range(0, 5))
    await spool.close()
    const bytes = await readFile(await newestIn(dir()))
    await writeFile(await newestIn(dir()), Buffer.concat([bytes, bytes.subarray(-250, -1), Buffer.alloc(5000)]))

    const torn = await newestIn(dir())
    const warnings: object[] = []
    const again = await open({ log: (level, _, details) => warnings.push({ level, ...details }) })
    expect(warnings).to.deep.equal([{ level: 'warn', path: torn, bytes: 5249 }])
    expect(await readFile(torn)).to.deep.equal(bytes)
    expect(again.stats().quarantined).to.equal(0)
  })

  it('keeps the readable segments when the newest is unreadable', async () => {
    const spool = await open({ segmentBytes: 3000 })
    for (const number of range(0, 30)) await spool.add(visit(number))
    await spool.close()
    const before = await segmentsIn(dir())
    const bytes = await readFile(await newestIn(dir()))
    await writeFile(await newestIn(dir()), bytes.fill(0, 0, 400))

    const again = await open()
    await again.add(visit(30))
    const reading = take(again)
    await again.close()
    expect(again.id).not.to.equal(spool.id)
    expect(again.stats().quarantined).to.equal(1)
    expect((await reading).map(({ seq }) => seq)).to.deep.equal([1])
    expect(await segmentsIn(dir())).to.include.members(before.slice(0, -1))
    expect((await spoolsIn(dir()))[0]?.length).to.be.within(1, 29)
  })

  it('loses nothing when the newline between two lines is damaged, also between the copies of a header', async () => {
    const spool = await open()
    await addAll(spool, range(0, 20))
    const all = await take(spool, 20)
    await spool.close()
    const bytes = await readFile(await newestIn(dir()))
    const newlines = [...bytes.keys()].filter((i) => bytes[i] === 10)
    for (const at of [...newlines.slice(0, 4), ...newlines.slice(-2)]) {
      const copy = await copyOf(async (file) => {
        const damaged = Buffer.from(bytes)
        damaged[at] = 10 ^ (1 << (at % 8))
        await writeFile(file, damaged)
      })
      expect(await readOut(copy), `newline at ${at}`).to.deep.equal(all)
    }
  })

  it('loses exactly the records that a random cut or bit flip hits', async function () {
    this.timeout(long ? 1_800_000 : 60_000)
    const random = randomFrom(seed)
    const spool = await open({ segmentBytes: 6000 })
    for (const number of range(0, 100)) await spool.add(visit(number))
    const all = new Map((await take(spool, 100)).map((entry) => [`${entry.partition} ${entry.seq}`, entry]))
    await spool.close()

    for (const round of rounds(12, 200)) {
      const context = `SEED=${seed}, round ${round}`
      const lost = new Set<number>()
      const copy = await copyOf(async (file) => {
        const cut = random((await stat(file)).size + 1)
        for (const { number, end } of await recordsIn(file)) if (end > cut) lost.add(number)
        await truncate(file, cut)
      })
      // at most one in a segment: two could hit both copies of its header
      const names = (await segmentsIn(copy)).slice(0, -1)
      for (const _ of range(0, random(4))) {
        const [name = ''] = names.splice(random(names.length), 1)
        const file = join(copy, name)
        const bytes = await readFile(file)
        const at = random(bytes.length)
        // the newline after a record, at `end - 1`, is not part of it
        for (const { number, start, end } of await recordsIn(file)) if (at >= start && at < end - 1) lost.add(number)
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8))
        await writeFile(file, bytes)
      }
      const reopened = await open({ dir: copy })
      await addAll(reopened, range(1000, 1010))
      await reopened.close()
      const entries = await readOut(copy)
      const old = entries.filter((entry) => 'visit' in entry && entry.visit.revision < 1000)
      for (const entry of old) expect(entry, context).to.deep.equal(all.get(`${entry.partition} ${entry.seq}`))
      expect(numbersOf(old), context).to.deep.equal(range(0, 100).filter((number) => !lost.has(number)))
      expect(numbersOf(entries).slice(-10), context).to.deep.equal(range(1000, 1010))
      await rm(copy, { recursive: true })
    }
  })
})
