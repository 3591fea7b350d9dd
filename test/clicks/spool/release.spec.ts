import { expect } from 'chai'
import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openEarlier } from '../../../src/clicks/spool/earlier.ts'
import type { SpoolEntry } from '../../../src/clicks/spool/segment.ts'
import { openShared } from '../../../src/clicks/spool/shared.ts'
import { until } from '../../support/client.ts'
import { addAll, lastOf, numbersOf, range, segmentsIn, smallDisk, take, useSpoolFolder, ways } from './harness.ts'
import { visit } from './visits.ts'

for (const way of ways)
  describe(`releasing recorded entries ${way.where}`, () => {
    const { dir, open } = useSpoolFolder(way)

    it('deletes the segments whose entries are all recorded, and never the newest', async () => {
      const spool = await open({ segmentBytes: 5000 })
      for (const number of range(0, 100)) await spool.add(visit(number))
      const all = await take(spool, 100)
      const bytes = spool.stats().bytes
      const before = await segmentsIn(dir())

      await spool.release(lastOf(all.slice(0, 50)))
      const left = await segmentsIn(dir())
      expect(left.length).to.be.within(before.length / 2 - 1, before.length / 2 + 2)
      expect(left).to.deep.equal(before.slice(-left.length))
      expect(spool.stats().bytes).to.be.below(bytes * 0.7)
      expect(numbersOf(await take(spool, 50, lastOf(all.slice(0, 50))))).to.deep.equal(range(50, 100))

      await spool.release(lastOf(all))
      expect(await segmentsIn(dir())).to.deep.equal(before.slice(-1))
    })

    it('keeps entries that are not recorded, even when their reader stopped in the middle of the segment', async () => {
      const spool = await open({ segmentBytes: 5000 })
      await addAll(spool, range(0, 4))
      const abort = new AbortController()
      const recorded: Record<number, number> = {}
      for await (const batch of spool.read({}, 10, abort.signal)) {
        Object.assign(recorded, lastOf(batch))
        // more arrives, in this segment and in the next, before the reader sees the abort
        for (const number of range(4, 40)) await spool.add(visit(number))
        abort.abort()
      }
      await pause(20)
      await spool.release(recorded)
      expect(numbersOf(await take(spool, 36, recorded))).to.deep.equal(range(4, 40))
    })

    it('lets a reader continue after its segment was released', async () => {
      const spool = await open({ segmentBytes: 5000 })
      for (const number of range(0, 100)) await spool.add(visit(number))
      const all = await take(spool, 100)
      const read: number[] = []
      for await (const batch of spool.read({}, 5, new AbortController().signal)) {
        read.push(...numbersOf(batch))
        if (read.length === 5) await spool.release(lastOf(all.slice(0, 60)))
        if (read.at(-1) === 99) break
      }
      expect(read.slice(0, 5)).to.deep.equal(range(0, 5))
      expect(read.slice(-40)).to.deep.equal(range(60, 100))
    })

    it('deletes a segment whose last record of a partition is damaged', async () => {
      const spool = await open({ segmentBytes: 2000 })
      for (const number of [1, 2, 3, 4, ...range(0, 20).map((n) => 8 + 4 * n)]) await spool.add(visit(number))
      await spool.close()
      const [oldest = ''] = await segmentsIn(dir())
      const text = await readFile(join(dir(), oldest), 'utf8')
      await writeFile(join(dir(), oldest), text.replace('"partition":3,"seq":1', '"partition":3,"seq":7'))

      const again = await open()
      const [earlier] = again.earlier
      const entries = await take(earlier!)
      expect(entries).to.have.length(23)
      await earlier?.release(lastOf(entries))
      expect(await segmentsIn(dir())).not.to.include(oldest)
    })
  })

for (const way of ways)
  describe(`a spool of a quiet service ${way.where}`, () => {
    const { dir, open } = useSpoolFolder(way)
    const secret = 'a user agent that is kept nowhere'
    const secretVisit = (n: number) => ({ ...visit(n), agent: secret })

    /** Returns the segments that have something of a visitor. */
    const segmentsWithVisitors = async () => {
      const names = await segmentsIn(dir())
      const texts = await Promise.all(names.map((name) => readFile(join(dir(), name), 'utf8').catch(() => '')))
      return names.filter((_, i) => texts[i]?.includes(secret))
    }

    it('has nothing of a visitor soon after the visit was recorded', async () => {
      const spool = await open({ renewMs: 5 })
      const reading = spool.read({}, 10, new AbortController().signal)
      const recorded: Record<number, number> = {}
      const written = spool.add(secretVisit(0))
      for await (const entries of reading) {
        await written
        expect(await segmentsWithVisitors()).to.have.length(1)
        Object.assign(recorded, lastOf(entries))
        await spool.release(recorded)
        expect(await until(segmentsWithVisitors, ({ length }) => length === 0)).to.deep.equal([])
        const [number = 0] = numbersOf(entries)
        if (number === 3) break
        await spool.add(secretVisit(number + 1))
      }
      expect(await segmentsIn(dir())).to.have.length(1)
    })

    it('keeps every visit that is not recorded when its newest segment is replaced', async () => {
      const spool = await open({ renewMs: 1 })
      await addAll(spool, range(0, 10))
      const all = await take(spool, 10)
      await spool.release(lastOf(all.slice(0, 4)))
      await until(
        () => segmentsIn(dir()),
        ({ length }) => length === 2,
      )
      expect(numbersOf(await take(spool, 6, lastOf(all.slice(0, 4))))).to.deep.equal(numbersOf(all.slice(4)))
      await spool.release(lastOf(all))
      await until(
        () => segmentsIn(dir()),
        ({ length }) => length === 1,
      )
    })

    it('begins no segment while nothing is recorded', async () => {
      const spool = await open({ renewMs: 1 })
      await addAll(spool, range(0, 10))
      await spool.release({})
      await pause(20)
      expect(await segmentsIn(dir())).to.have.length(1)
    })

    it('loses nothing on a full disk, and goes on when it has room again', async () => {
      const full = smallDisk()
      const spool = await open({ renewMs: 1, io: full.io })
      await addAll(spool, range(0, 4))
      full.room = 0
      await spool.release(lastOf(await take(spool, 4)))
      await pause(20)
      expect(await segmentsIn(dir())).to.have.length(1)
      full.room = Infinity
      await until(
        async () => spool.stats().releasedUpTo,
        (upTo) => upTo.every((seq) => seq === 1),
      )
      await addAll(spool, range(4, 8))
      expect(numbersOf(await take(spool, 4, { 0: 1, 1: 1, 2: 1, 3: 1 }))).to.deep.equal(range(4, 8))
    })

    it('begins no segment after it was closed', async () => {
      const spool = await open({ renewMs: 1 })
      await spool.add(visit(0))
      const entries = await take(spool, 1)
      await spool.close()
      await spool.release(lastOf(entries))
      await pause(20)
      expect(await segmentsIn(dir())).to.have.length(1)
    })

    /** Copies the folder as a process leaves it that is killed now. */
    const copyAtOnce = (copy: string) => {
      mkdirSync(copy)
      for (const name of readdirSync(dir())
        .filter((one) => one.endsWith('.spool'))
        .sort()) {
        // an entry that is recorded may be deleted meanwhile
        if (existsSync(join(dir(), name))) copyFileSync(join(dir(), name), join(copy, name))
      }
    }

    it('has every visit that is not recorded when its process is killed, whenever that is', async () => {
      const spool = await open({ renewMs: 1 })
      const entries: SpoolEntry[] = []
      for (const round of range(0, 30)) {
        await spool.add(visit(round))
        entries.push(...(await take(spool, 1, lastOf(entries))))
        if (round % 3 > 0) await spool.release(lastOf(entries.slice(0, -1)))
        const copy = `${dir()}-${round}`
        copyAtOnce(copy)
        const [earlier] = await openEarlier(copy, () => {})
        const left = earlier ? await take(earlier, Infinity, earlier.stats().releasedUpTo) : []
        expect(numbersOf(left).at(-1), `round ${round}`).to.equal(round)
      }
    })
  })

describe('a segment that is released while another thread reads', () => {
  const { dir, open } = useSpoolFolder()

  it('is left out by that thread, also when it hears of it after the file is gone', async () => {
    const spool = await open({ renewMs: 1 })
    await addAll(spool, range(0, 4))
    const all = await take(spool, 4)
    const known = structuredClone({ files: spool.files(), stats: spool.stats(), found: spool.found })
    const [first] = await segmentsIn(dir())
    await spool.release(lastOf(all))
    await until(
      () => segmentsIn(dir()),
      (left) => left.length === 1 && left[0] !== first,
    )
    const other = openShared({ id: spool.id, isNew: false, ...known }, () => {})
    const reading = take(other.spool, 4, lastOf(all))
    reading.catch(() => {})
    await addAll(spool, range(4, 8))
    await until(
      async () => spool.files().segments,
      (segments) => segments.every(({ size, synced }) => size === synced),
    )
    // it has found by now that there is no such file
    await pause(50)
    other.update(structuredClone(spool.files()), spool.stats())
    expect(numbersOf(await reading)).to.deep.equal(range(4, 8))
  })
})
