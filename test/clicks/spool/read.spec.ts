import { expect } from 'chai'
import { type FileHandle, open as openFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { disk } from '../../../src/clicks/spool/file.ts'
import {
  addAll,
  lastOf,
  newestIn,
  numbersOf,
  range,
  scripted,
  segmentsIn,
  take,
  useSpoolFolder,
  ways,
} from './harness.ts'
import { visit } from './visits.ts'

/** Counts the bytes that this process reads through file handles while `run` is under way. */
const countBytesRead = async (file: string, run: () => Promise<unknown>): Promise<number> => {
  const handle = await openFile(file)
  const prototype = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  const read = Reflect.get(prototype, 'read') as (...args: unknown[]) => Promise<{ bytesRead: number }>
  let bytes = 0
  const counting = async function (this: FileHandle, ...args: unknown[]) {
    const result = await read.apply(this, args)
    bytes += result.bytesRead
    return result
  }
  Reflect.set(prototype, 'read', counting)
  try {
    await run()
  } finally {
    Reflect.set(prototype, 'read', read)
  }
  return bytes
}

for (const way of ways)
  describe(`reading a spool ${way.where}`, () => {
    const { dir, open } = useSpoolFolder(way)

    it('yields nothing before it is synced to disk, and everything afterwards', async () => {
      let letSync = (): void => {}
      let gate: Promise<void> = Promise.resolve()
      const spool = await open({
        io: scripted({
          fdatasync: async (fd) => {
            await gate
            await disk.fdatasync(fd)
          },
        }),
      })
      gate = new Promise((resolve) => (letSync = resolve))
      await addAll(spool, range(0, 10))
      const read = take(spool, 10)
      expect(await Promise.race([read, pause(50, 'nothing')])).to.equal('nothing')
      letSync()
      expect(numbersOf(await read)).to.deep.equal(range(0, 10))
    })

    it('resumes in the middle without opening earlier segments', async () => {
      const spool = await open({ segmentBytes: 5000 })
      for (const number of range(0, 200)) await spool.add(visit(number))
      const all = await take(spool, 200)
      expect(await segmentsIn(dir())).to.have.length.above(10)
      for (const name of (await segmentsIn(dir())).slice(0, 5)) await writeFile(join(dir(), name), 'unreadable\n')
      for (const middle of [130, 131, 150, 199]) {
        expect(await take(spool, 200 - middle, lastOf(all.slice(0, middle)), 7)).to.deep.equal(all.slice(middle))
      }
      expect(spool.stats().quarantined).to.equal(0)
    })

    it('reads each byte of a segment once, even when it waits between visits', async () => {
      const spool = await open()
      const bytesRead = await countBytesRead(await newestIn(dir()), async () => {
        const reading = take(spool, 100, {}, 10)
        for (const number of range(0, 100)) await spool.add(visit(number)).then(() => pause(3))
        await reading
      })
      expect(bytesRead).to.equal(spool.stats().bytes)
    })

    it('yields full batches while there is more, and does not wait to fill the last one', async () => {
      const spool = await open({ segmentBytes: 10_000 })
      await addAll(spool, range(0, 250))
      await take(spool, 250)
      const sizes: number[] = []
      for await (const batch of spool.read({}, 100, new AbortController().signal)) {
        sizes.push(batch.length)
        if (sizes.length === 3) break
      }
      expect(sizes).to.deep.equal([100, 100, 50])
    })

    it('ends when the signal aborts, between two batches and while it waits', async () => {
      const spool = await open()
      await addAll(spool, range(0, 10))
      const abort = new AbortController()
      const read: number[] = []
      for await (const batch of spool.read({}, 3, abort.signal)) {
        read.push(...numbersOf(batch))
        if (read.length === 6) abort.abort()
      }
      expect(read).to.deep.equal(range(0, 6))

      const last = lastOf(await take(spool, 10))
      const waiting = new AbortController()
      setTimeout(() => waiting.abort(), 20)
      for await (const batch of spool.read(last, 3, waiting.signal)) {
        expect.fail(`read ${batch.length}`)
      }
    })
  })
