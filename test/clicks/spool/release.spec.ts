import { expect } from 'chai'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { addAll, lastOf, numbersOf, range, segmentsIn, take, useSpoolFolder } from './harness.ts'
import { visit } from './visits.ts'

describe('releasing recorded entries', () => {
  const { dir, open } = useSpoolFolder()

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
