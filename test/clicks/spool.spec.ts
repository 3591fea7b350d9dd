import { expect } from 'chai'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { SpoolEntry } from '../../src/clicks/spool/segment.ts'
import { disk, type Io } from '../../src/clicks/spool/segmentfile.ts'
import { openSpool, type Spool, type SpoolOptions } from '../../src/clicks/spool/spool.ts'
import type { DroppedVisits } from '../../src/clicks/visit.ts'
import { needsLinux, skipWithoutMount } from '../support/skip.ts'
import { quiet, route, visit } from './spool-visits.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

/** mulberry32 */
const randomFrom = (start: number): ((below: number) => number) => {
  let state = start
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i)

describe(`the spool (SEED=${seed} repeats what is random here)`, () => {
  /** this test's own folder: what is in it, and nothing else, is removed */
  let home: string
  let dir: string
  const opened: Spool[] = []

  const open = async (options: Partial<SpoolOptions> = {}): Promise<Spool> => {
    const spool = await openSpool({ dir, route, log: quiet, syncMs: 2, retryMs: 5, ...options })
    opened.push(spool)
    return spool
  }

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'linkledger-spool-'))
    dir = join(home, 'spool')
  })

  afterEach(async () => {
    for (const spool of opened.splice(0)) await spool.close()
    await rm(home, { recursive: true, force: true })
  })

  const addAll = (spool: Spool, numbers: readonly number[], link?: number): Promise<void[]> =>
    Promise.all(numbers.map((number) => spool.add(visit(number, link))))

  /** The next `count` entries, or those that come before the spool is closed. */
  const take = async (spool: Spool, count = Infinity, after = {}, limit = 100): Promise<SpoolEntry[]> => {
    const taken: SpoolEntry[] = []
    if (count === 0) return taken
    for await (const batch of spool.read(after, limit, new AbortController().signal)) {
      expect(batch.length).to.be.within(1, limit)
      taken.push(...batch)
      if (taken.length >= count) break
    }
    return taken
  }

  /** Everything that the folder holds. */
  const readOut = async (folder = dir, after = {}): Promise<SpoolEntry[]> => {
    const spool = await open({ dir: folder })
    const entries = take(spool, Infinity, after)
    await spool.close()
    return await entries
  }

  const numbersOf = (entries: readonly SpoolEntry[]): number[] =>
    entries.flatMap((entry) => ('visit' in entry ? [entry.visit.revision] : []))

  const dropsOf = (entries: readonly SpoolEntry[]): DroppedVisits[] =>
    entries.flatMap((entry) => ('dropped' in entry ? [entry.dropped] : []))

  const sequence = (entries: readonly SpoolEntry[], partition: number): number[] =>
    entries.filter((entry) => entry.partition === partition).map(({ seq }) => seq)

  const expectContiguous = (entries: readonly SpoolEntry[]): void => {
    for (const partition of range(0, route.partitions)) {
      const numbers = sequence(entries, partition)
      expect(numbers, `partition ${partition}`).to.deep.equal(range(1, numbers.length + 1))
    }
  }

  const lastOf = (entries: readonly SpoolEntry[]): Record<number, number> =>
    Object.fromEntries(entries.map(({ partition, seq }) => [partition, seq]))

  const segmentsIn = async (folder = dir): Promise<string[]> =>
    (await readdir(folder)).filter((name) => name.endsWith('.spool') && !name.startsWith('quarantine')).sort()

  const newestIn = async (folder = dir): Promise<string> => join(folder, (await segmentsIn(folder)).at(-1) ?? '')

  /** A disk that does what the test says. */
  const scripted = (script: Partial<Io>): Io => ({ ...disk, ...script })

  const noSpace = (): never => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }

  /** A disk that fills up after so many more bytes, like a real one: a part of a write may still fit. */
  const small = (): { io: Io; room: number } => {
    const state = {
      room: Infinity,
      io: scripted({
        write: (fd, bytes, offset, length, position) => {
          const fits = Math.min(length, state.room)
          if (fits === 0) noSpace()
          state.room -= fits
          return disk.write(fd, bytes, offset, fits, position)
        },
      }),
    }
    return state
  }

  describe('in peace', () => {
    it('numbers the entries of each partition from 1, over restarts', async () => {
      const ids = new Set<string>()
      for (const round of range(0, 3)) {
        const spool = await open()
        ids.add(spool.id)
        await addAll(spool, range(round * 50, round * 50 + 50))
        await spool.close()
      }
      const entries = await readOut()
      expect(ids.size).to.equal(1)
      expect(numbersOf(entries)).to.deep.equal(range(0, 150))
      expect(sequence(entries, 1)).to.have.length(38)
      expectContiguous(entries)
    })

    it('spreads scans of QR codes, which go to no link, over the partitions, and keeps each code in one', async () => {
      const spool = await open()
      for (const id of [1, 2, 3, 1, 2, 3]) await spool.add({ ...visit(id), link: 0, source: { kind: 'qr', id } })
      await spool.close()
      const entries = await readOut()
      const partitionsOf = (code: number) =>
        entries.filter((entry) => 'visit' in entry && entry.visit.source.id === code).map(({ partition }) => partition)
      expect([1, 2, 3].map((code) => new Set(partitionsOf(code)).size)).to.deep.equal([1, 1, 1])
      expect(new Set(entries.map(({ partition }) => partition)).size).to.be.above(1)
    })

    it('goes on with the numbers after all of it was released', async () => {
      const first = await open({ segmentBytes: 2000 })
      for (const number of range(0, 40)) await first.add(visit(number))
      const before = await take(first, 40)
      await first.release(lastOf(before))
      expect(await segmentsIn()).to.have.length(1)
      await first.close()

      const second = await open()
      await addAll(second, range(40, 60))
      const after = await take(second, 20, lastOf(before))
      expect(second.id).to.equal(first.id)
      expectContiguous([...before, ...after])
      expect(numbersOf(after)).to.deep.equal(range(40, 60))
    })

    it('hands on nothing that is not synced, and all of it once it is', async () => {
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

    it('makes one write of all visits of one turn of the event loop', async () => {
      let writes = 0
      const spool = await open({ io: scripted({ write: (...args) => ((writes += 1), disk.write(...args)) }) })
      writes = 0
      await addAll(spool, range(0, 500))
      expect(writes).to.equal(1)
    })

    it('drops nothing while the disk takes it, however much comes in one turn', async () => {
      const spool = await open({ backlogVisits: 10 })
      await addAll(spool, range(0, 1005))
      expect(spool.stats()).to.deep.include({ waiting: 0, dropped: 0 })
      expect(numbersOf(await take(spool, 1005))).to.deep.equal(range(0, 1005))
    })

    it('reads on from the middle without opening what lies before it', async () => {
      const spool = await open({ segmentBytes: 5000 })
      for (const number of range(0, 200)) await spool.add(visit(number))
      const all = await take(spool, 200)
      expect(await segmentsIn()).to.have.length.above(10)
      for (const name of (await segmentsIn()).slice(0, 5)) await writeFile(join(dir, name), 'unreadable\n')
      for (const middle of [130, 131, 150, 199]) {
        expect(await take(spool, 200 - middle, lastOf(all.slice(0, middle)), 7)).to.deep.equal(all.slice(middle))
      }
      expect(spool.stats().quarantined).to.equal(0)
    })

    it('reads each byte of a segment once, however long it waits between visits', async function () {
      needsLinux(this)
      const bytesRead = (): number => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
      const spool = await open()
      const reading = take(spool, 100, {}, 10)
      await addAll(spool, range(0, 10))
      await pause(20)
      const before = bytesRead()
      for (const number of range(10, 100)) await spool.add(visit(number)).then(() => pause(3))
      await reading
      // 28 kB of entries; a new look at the segment for each would be 1.4 MB
      expect(bytesRead() - before).to.be.below(200_000)
    })

    it('hands on full batches while there is more, and does not wait to fill one', async () => {
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

    it('ends a reader that is aborted, waiting or not', async () => {
      const spool = await open()
      await addAll(spool, range(0, 10))
      const abort = new AbortController()
      const read: number[] = []
      for await (const batch of spool.read({}, 3, abort.signal)) {
        read.push(...numbersOf(batch))
        if (read.length === 6) abort.abort()
      }
      expect(read).to.deep.equal(range(0, 6))

      const waiting = new AbortController()
      setTimeout(() => waiting.abort(), 20)
      for await (const batch of spool.read(lastOf(await take(spool, 10)), 3, waiting.signal)) {
        expect.fail(`read ${batch.length}`)
      }
    })

    it('deletes the segments whose entries are all recorded, and never the newest', async () => {
      const spool = await open({ segmentBytes: 5000 })
      for (const number of range(0, 100)) await spool.add(visit(number))
      const all = await take(spool, 100)
      const bytes = spool.stats().bytes
      const before = await segmentsIn()

      await spool.release(lastOf(all.slice(0, 50)))
      const left = await segmentsIn()
      expect(left.length).to.be.within(before.length / 2 - 1, before.length / 2 + 2)
      expect(left).to.deep.equal(before.slice(-left.length))
      expect(spool.stats().bytes).to.be.below(bytes * 0.7)
      expect(numbersOf(await take(spool, 50, lastOf(all.slice(0, 50))))).to.deep.equal(range(50, 100))

      await spool.release(lastOf(all))
      expect(await segmentsIn()).to.deep.equal(before.slice(-1))
    })

    it('deletes nothing that was not recorded, though a reader left in the middle of the segment', async () => {
      const spool = await open({ segmentBytes: 5000 })
      await addAll(spool, range(0, 4))
      const abort = new AbortController()
      const recorded: Record<number, number> = {}
      for await (const batch of spool.read({}, 10, abort.signal)) {
        Object.assign(recorded, lastOf(batch))
        // More comes, in this segment and in the next, before the reader learns that it shall stop.
        for (const number of range(4, 40)) await spool.add(visit(number))
        abort.abort()
      }
      await pause(20)
      await spool.release(recorded)
      expect(numbersOf(await take(spool, 36, recorded))).to.deep.equal(range(4, 40))
    })

    it('lets a reader go on that stood in a segment while it was released', async () => {
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

    it('loses nothing on closing, and lets readers come to the end', async () => {
      const spool = await open({ syncMs: 60_000 })
      const adding = addAll(spool, range(0, 3000))
      const reading = take(spool)
      await spool.close()
      await adding
      expect(numbersOf(await reading)).to.deep.equal(range(0, 3000))
      expect(numbersOf(await readOut())).to.deep.equal(range(0, 3000))
    })

    it('keeps segments of another route, does not read them, and says so once', async () => {
      const local = await open()
      await addAll(local, range(0, 10))
      await local.close()

      const warnings: string[] = []
      const kafka = await open({
        route: { log: 'kafka', partitions: 6 },
        log: (_, message) => void warnings.push(message),
      })
      await addAll(kafka, range(10, 20))
      const entries = await take(kafka, 10)
      await kafka.release(lastOf(entries))
      await kafka.close()
      expect(kafka.id).to.equal(local.id)
      expect(numbersOf(entries)).to.deep.equal(range(10, 20))
      expect(warnings).to.have.length(1)

      expect(numbersOf(await readOut())).to.deep.equal(range(0, 10))
    })

    it('shows its folder and files to nobody else', async () => {
      const spool = await open()
      await spool.add(visit(1))
      expect((await stat(dir)).mode & 0o777).to.equal(0o700)
      expect((await stat(await newestIn())).mode & 0o777).to.equal(0o600)
    })

    it('stays small in memory while 200,000 visits pass', async function () {
      setFlagsFromString('--expose-gc')
      const collect = runInNewContext('gc') as () => void
      const heap = (): number => (collect(), process.memoryUsage().heapUsed)
      const spool = await open({ segmentBytes: 4 * 1024 ** 2 })
      const total = 200_000
      const before = heap()
      let most = 0

      const adding = (async () => {
        for (let number = 0; number < total; number += 500) await addAll(spool, range(number, number + 500))
      })()
      let read = 0
      const taken: Record<number, number> = {}
      for await (const batch of spool.read({}, 500, new AbortController().signal)) {
        for (const { partition, seq } of batch) {
          expect(seq).to.equal((taken[partition] ?? 0) + 1)
          taken[partition] = seq
        }
        read += batch.length
        if (read % 20_000 < 500) {
          await spool.release(taken)
          most = Math.max(most, heap())
        }
        if (read === total) break
      }
      await adding
      expect(most - before).to.be.below(12 * 1024 ** 2)
      expect(await segmentsIn()).to.have.length.below(20)
    })
  })

  describe('killed with kill -9', () => {
    it('has every acknowledged visit, exactly once and in order', async () => {
      const random = randomFrom(seed)
      const acknowledged: number[] = []
      for (const round of range(0, 4)) {
        const script = join(import.meta.dirname, 'spool-writer.ts')
        // Into a file, because a killed process loses what it could not put into a full pipe.
        const printed = join(home, `acknowledged-${round}`)
        const stdout = openSync(printed, 'w')
        const writer = spawn(process.execPath, ['--import', 'tsx', script, dir, String(round * 1_000_000)], {
          stdio: ['ignore', stdout, 'inherit'],
        })
        closeSync(stdout)
        while ((await stat(printed)).size === 0 && writer.exitCode === null) await pause(5)
        await pause(random(250))
        writer.kill('SIGKILL')
        await once(writer, 'close')
        const text = await readFile(printed, 'utf8')
        acknowledged.push(...text.slice(0, text.lastIndexOf('\n')).split('\n').map(Number))
      }
      const entries = await readOut()
      const numbers = numbersOf(entries)
      const kept = new Set(numbers)
      const writers = 8
      expect(acknowledged, `SEED=${seed}`).to.have.length.above(100)
      expect(
        acknowledged.filter((number) => !kept.has(number)),
        `SEED=${seed}`,
      ).to.deep.equal([])
      expect(kept.size, 'each once').to.equal(numbers.length)
      expectContiguous(entries)
      // Each writer waited for one visit before it added the next.
      for (const writer of range(0, writers)) {
        const own = numbers.filter((number) => number % writers === writer)
        expect(own).to.deep.equal(own.toSorted((a, b) => a - b))
      }
      // What was added and not yet acknowledged may be there: at most one visit of each writer in each round.
      expect(numbers.length - acknowledged.length).to.be.within(0, 4 * writers)
    })
  })

  describe('after a power loss (fault 30)', () => {
    /** A copy of the folder, cut or changed as the test likes. */
    const copyOf = async (change: (file: string) => Promise<void>): Promise<string> => {
      const copy = await mkdtemp(join(home, 'copy-'))
      await cp(dir, copy, { recursive: true })
      await change(await newestIn(copy))
      return copy
    }

    it('goes on from what was synced: everything that was read is there, and no number means two visits', async () => {
      let cut = 0
      const spool = await open({
        segmentBytes: 1e6,
        io: scripted({
          fdatasync: async (fd) => {
            const { size } = await stat(await newestIn())
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
      const entries = await readOut(copy)
      expect(entries.slice(0, 100)).to.deep.equal(read)
      expect(numbersOf(entries).slice(-20)).to.deep.equal(range(200, 220))
      expectContiguous(entries)
    })

    it('opens a file that is cut at any byte, and goes on without a hole', async function () {
      this.timeout(60_000) // some hundred times it waits for the disk
      const spool = await open()
      await addAll(spool, range(0, 5))
      await spool.close()
      const bytes = await readFile(await newestIn())
      const ends = [...bytes.keys()].filter((i) => bytes[i] === 10).map((i) => i + 1)
      const [header = 0] = ends
      const copy = await copyOf(async () => {})
      const [name = ''] = await segmentsIn()
      for (const cut of [...range(0, header + 3), ...range((ends.at(-3) ?? 0) - 2, bytes.length + 1)]) {
        await rm(copy, { recursive: true })
        await cp(dir, copy, { recursive: true })
        await writeFile(join(copy, name), bytes.subarray(0, cut))
        const whole = ends.filter((end) => end <= cut).length
        const cutSpool = await open({ dir: copy })
        await cutSpool.add(visit(99))
        const reading = take(cutSpool)
        await cutSpool.close()
        const entries = await reading
        expect(numbersOf(entries), `cut at ${cut}`).to.deep.equal([...range(0, Math.max(0, whole - 2)), 99])
        expectContiguous(entries)
        if (whole === 0) expect(cutSpool.id, 'numbers lost, id lost').not.to.equal(spool.id)
        else expect(cutSpool.id).to.equal(spool.id)
      }
    })

    it('opens with an empty or unfinished newest segment', async () => {
      const spool = await open({ segmentBytes: 3000 })
      for (const number of range(0, 30)) await spool.add(visit(number))
      await spool.close()
      const newest = await newestIn()
      const bytes = await readFile(newest)
      const number = Number(newest.slice(-16, -6)) + 1
      for (const length of [0, 1, 50]) {
        const copy = await copyOf((file) =>
          writeFile(join(file, '..', `${String(number).padStart(10, '0')}.spool`), bytes.subarray(0, length)),
        )
        const again = await open({ dir: copy })
        await again.add(visit(30))
        const entries = take(again)
        await again.close()
        expect(again.id).to.equal(spool.id)
        expect(numbersOf(await entries)).to.deep.equal(range(0, 31))
        expectContiguous(await entries)
      }
    })

    it('cuts a torn end off, and says so', async () => {
      const spool = await open()
      await addAll(spool, range(0, 5))
      await spool.close()
      const bytes = await readFile(await newestIn())
      await writeFile(await newestIn(), Buffer.concat([bytes, bytes.subarray(-250, -1), Buffer.alloc(5000)]))

      const warnings: object[] = []
      const again = await open({ log: (level, _, details) => warnings.push({ level, ...details }) })
      expect(warnings).to.deep.equal([{ level: 'warn', path: await newestIn(), bytes: 5249 }])
      expect(await readFile(await newestIn())).to.deep.equal(bytes)
      expect(again.stats().quarantined).to.equal(0)
    })

    it('begins as another spool, and keeps the old segments, when nobody can tell the numbers', async () => {
      const spool = await open({ segmentBytes: 3000 })
      for (const number of range(0, 30)) await spool.add(visit(number))
      await spool.close()
      const before = await segmentsIn()
      const bytes = await readFile(await newestIn())
      await writeFile(await newestIn(), bytes.fill(0, 0, 400))

      const again = await open()
      await again.add(visit(30))
      const reading = take(again)
      await again.close()
      expect(again.id).not.to.equal(spool.id)
      expect(again.stats().quarantined).to.equal(1)
      expect((await reading).map(({ seq }) => seq)).to.deep.equal([1])
      expect(await segmentsIn()).to.include.members(before.slice(0, -1))
      expect((await open()).id).to.equal(again.id)
    })

    it('puts a damaged record into quarantine and delivers the rest', async () => {
      const spool = await open({ segmentBytes: 4000 })
      for (const number of range(0, 60)) await spool.add(visit(number))
      await spool.close()
      const [, middle = ''] = await segmentsIn()
      const bytes = await readFile(join(dir, middle))
      const at = bytes.indexOf('"revision"', 1500) + 1
      bytes[at] = 64
      await writeFile(join(dir, middle), bytes)

      const entries = await readOut()
      const numbers = numbersOf(entries)
      const [missing = -1, ...others] = range(0, 60).filter((number) => !numbers.includes(number))
      expect(others).to.deep.equal([])
      expect(numbers).to.deep.equal(range(0, 60).filter((number) => number !== missing))
      expect(sequence(entries, missing % 4)).to.deep.equal(
        range(1, 16).filter((seq) => seq !== Math.floor(missing / 4) + 1),
      )
      const copy = (await readFile(join(dir, 'quarantine'), 'latin1')).trim().split(' ')
      expect(copy[0]).to.equal(middle)
      expect(Buffer.from(copy[2] ?? '', 'base64').toString()).to.include(`@evision":${missing}`)

      const warnings: string[] = []
      const again = await open({ log: (_, message) => void warnings.push(message) })
      expect(numbersOf(await take(again, 59))).to.deep.equal(numbers)
      expect(again.stats().quarantined, 'not a second time').to.equal(1)
      expect(warnings).to.deep.equal([])
      await again.release(lastOf(entries))
      expect(await segmentsIn(), 'damage keeps nothing from being released').to.have.length(1)
    })

    it('gives no number again that stood in a damaged record, though nothing shows which partition it was', async () => {
      const spool = await open()
      await addAll(spool, [0, 1, 2, 3, 4, 8, 12])
      const read = await take(spool, 7)
      await spool.close()
      const newest = await newestIn()
      const text = await readFile(newest, 'utf8')
      await writeFile(newest, text.replace('"partition":3,"seq":1', '"partition":?,"seq":?'))

      const again = await open()
      await addAll(again, range(20, 28))
      const entries = await take(again, 8, lastOf(read))
      expect(numbersOf(entries)).to.deep.equal(range(20, 28))
      expect(sequence(entries, 3)).to.deep.equal([2, 3])
      expect(sequence(entries, 0)).to.deep.equal([6, 7])
      await again.release(lastOf([...read, ...entries]))
      expect(await segmentsIn()).to.have.length(1)
    })

    it('releases a segment whose last record of a partition is damaged', async () => {
      const spool = await open({ segmentBytes: 2000 })
      for (const number of [1, 2, 3, 4, ...range(0, 20).map((n) => 8 + 4 * n)]) await spool.add(visit(number))
      await spool.close()
      const [oldest = ''] = await segmentsIn()
      const text = await readFile(join(dir, oldest), 'utf8')
      await writeFile(join(dir, oldest), text.replace('"partition":3,"seq":1', '"partition":3,"seq":7'))

      const again = await open()
      const entries = await take(again, 23)
      await again.release(lastOf(entries))
      expect(await segmentsIn()).not.to.include(oldest)
    })

    it('survives a random cut and random flips', async () => {
      const random = randomFrom(seed)
      const spool = await open({ segmentBytes: 6000 })
      for (const number of range(0, 100)) await spool.add(visit(number))
      const all = new Map((await take(spool, 100)).map((entry) => [`${entry.partition} ${entry.seq}`, entry]))
      await spool.close()

      for (const round of range(0, 40)) {
        const context = `SEED=${seed}, round ${round}`
        const copy = await copyOf(async (file) => truncate(file, random((await stat(file)).size + 1)))
        // One in a segment at most: two could hit both copies of a header.
        const names = (await segmentsIn(copy)).slice(0, -1)
        const flips = random(4)
        for (const _ of range(0, flips)) {
          const [name = ''] = names.splice(random(names.length), 1)
          const bytes = await readFile(join(copy, name))
          const at = random(bytes.length)
          bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8))
          await writeFile(join(copy, name), bytes)
        }
        const reopened = await open({ dir: copy })
        await addAll(reopened, range(1000, 1010))
        const reading = take(reopened)
        await reopened.close()
        const entries = await reading
        const old = entries.filter((entry) => 'visit' in entry && entry.visit.revision < 1000)
        for (const entry of old) expect(entry, context).to.deep.equal(all.get(`${entry.partition} ${entry.seq}`))
        expect(numbersOf(old), context).to.deep.equal([...new Set(numbersOf(old))].sort((a, b) => a - b))
        expect(numbersOf(entries).slice(-10), context).to.deep.equal(range(1000, 1010))
        // A flip costs one line, or two when it hits the newline between them; a cut costs the newest segment at most.
        expect(old.length, context).to.be.at.least(100 - 25 - 2 * flips)
        await rm(copy, { recursive: true })
      }
    })
  })

  describe('on a full disk (fault 29)', () => {
    it('answers at once, keeps what fits in memory, counts the rest, and records it all in order', async () => {
      const full = small()
      const spool = await open({ io: full.io, backlogVisits: 20 })
      await addAll(spool, range(0, 10))

      full.room = 500 // one record and a part of the next
      await addAll(spool, range(10, 13))
      expect(spool.stats()).to.deep.include({ waiting: 3, dropped: 0 })
      await addAll(spool, range(13, 50))
      expect(spool.stats(), '20 visits and the record of the others').to.deep.include({ waiting: 21, dropped: 20 })

      full.room = Infinity
      const entries = await take(spool, 31)
      expect(numbersOf(entries)).to.deep.equal(range(0, 30))
      expect(dropsOf(entries)).to.deep.equal([{ count: 20, from: visit(30).at, to: visit(49).at }])
      expect(spool.stats()).to.deep.include({ waiting: 0, dropped: 20 })

      await addAll(spool, range(50, 60))
      await spool.close()
      const all = await readOut()
      expect(numbersOf(all)).to.deep.equal([...range(0, 30), ...range(50, 60)])
      expectContiguous(all)
    })

    it('adds up at every moment: kept and dropped are what was added', async () => {
      const random = randomFrom(seed)
      const full = small()
      const spool = await open({ io: full.io, backlogVisits: 50, segmentBytes: 20_000 })
      let added = 0
      for (const _ of range(0, 60)) {
        full.room = random(3) === 0 ? Infinity : random(3000)
        const count = random(60)
        await addAll(spool, range(added, added + count))
        added += count
        if (random(4) === 0) await pause(8)
      }
      full.room = Infinity
      await pause(20)
      const { dropped } = spool.stats()
      await spool.close()
      const entries = await readOut()
      const numbers = numbersOf(entries)
      expect(numbers, `SEED=${seed}`).to.deep.equal(numbers.toSorted((a, b) => a - b))
      expect(new Set(numbers).size).to.equal(numbers.length)
      expect(numbers.length + dropped, `SEED=${seed}`).to.equal(added)
      expect(
        dropsOf(entries).reduce((sum, { count }) => sum + count, 0),
        `SEED=${seed}`,
      ).to.equal(dropped)
      expectContiguous(entries)
    })

    it('begins a new segment where the torn write cannot be cut off, and tells nothing twice', async () => {
      const full = small()
      const io = scripted({ ...full.io, truncate: noSpace })
      const spool = await open({ io })
      await addAll(spool, range(0, 10))
      full.room = 700
      await addAll(spool, range(10, 20))
      full.room = Infinity
      expect(numbersOf(await take(spool, 20))).to.deep.equal(range(0, 20))
      expect(await segmentsIn()).to.have.length(2)
      await spool.close()
      const entries = await readOut()
      expect(numbersOf(entries)).to.deep.equal(range(0, 20))
      expectContiguous(entries)
    })

    it('treats its own limit of bytes as a full disk, until something is released', async () => {
      const spool = await open({ maxBytes: 20_000, backlogVisits: 10 })
      let number = 0
      while (spool.stats().waiting === 0) await spool.add(visit(number++))
      expect(spool.stats().bytes).to.be.within(19_000, 20_000)
      const kept = await take(spool, number - 1)
      await spool.release(lastOf(kept))
      expect(numbersOf(await take(spool, 1, lastOf(kept)))).to.deep.equal([number - 1])
    })

    it('starts on a full disk and writes when there is room', async () => {
      const full = small()
      full.room = 0
      const spool = await open({ io: full.io })
      await addAll(spool, range(0, 5))
      expect(spool.stats().waiting).to.equal(5)
      full.room = Infinity
      expect(numbersOf(await take(spool, 5))).to.deep.equal(range(0, 5))
    })

    it('says how many visits are lost when it is closed before there is room', async () => {
      const full = small()
      const lost: object[] = []
      const spool = await open({
        io: full.io,
        log: (_, message, details) => message.includes('lost') && lost.push(details),
      })
      full.room = 0
      await addAll(spool, range(0, 5))
      await spool.close()
      expect(lost).to.deep.equal([{ dir, visits: 5 }])
      await spool.add(visit(6))
    })

    it('gets through a real one: /dev/full', async function () {
      needsLinux(this)
      let target: string | undefined = '/dev/full'
      const spool = await open({
        backlogVisits: 5,
        io: scripted({ open: (path, flags, mode) => disk.open(target ?? path, target ? 'r+' : flags, mode) }),
      })
      await addAll(spool, range(0, 8))
      expect(spool.stats()).to.deep.include({ waiting: 6, dropped: 3 })
      target = undefined
      const entries = await take(spool, 6)
      expect(numbersOf(entries)).to.deep.equal(range(0, 5))
      expect(dropsOf(entries).map(({ count }) => count)).to.deep.equal([3])
    })

    it('gets through a real one: a small file system', async function () {
      const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', home])
      if (mounted.status !== 0) skipWithoutMount(this, String(mounted.stderr ?? mounted.error))
      try {
        const spool = await open({ backlogVisits: 100, segmentBytes: 64 * 1024 })
        let added = 0
        while (spool.stats().dropped < 250) {
          await addAll(spool, range(added, added + 37))
          added += 37
        }
        const { waiting, dropped } = spool.stats()
        expect(waiting).to.equal(101)
        const kept = await take(spool, added - dropped - 100)
        await spool.release(lastOf(kept))
        const rest = await take(spool, 101, lastOf(kept))
        expect(numbersOf([...kept, ...rest])).to.deep.equal(range(0, added - dropped))
        expect(dropsOf(rest)).to.deep.equal([
          { count: dropped, from: visit(added - dropped).at, to: visit(added - 1).at },
        ])
        expectContiguous([...kept, ...rest])
        await spool.close()
      } finally {
        spawnSync('umount', ['--lazy', home])
      }
    })
  })

  describe('on a disk that fails to sync', () => {
    it('hands nothing on, writes the unsynced part again, and then hands it on', async () => {
      let failing = false
      const writes: number[] = []
      const io = scripted({
        fdatasync: (fd) => (failing ? Promise.reject(new Error('EIO')) : disk.fdatasync(fd)),
        write: (...args) => (writes.push(args[3]), disk.write(...args)),
      })
      const errors: string[] = []
      const spool = await open({ io, log: (_, message) => void errors.push(message) })
      failing = true
      await addAll(spool, range(0, 10))
      const read = take(spool, 10)
      expect(await Promise.race([read, pause(50, 'nothing')])).to.equal('nothing')
      expect(errors, 'said once').to.have.length(1)
      failing = false
      expect(numbersOf(await read)).to.deep.equal(range(0, 10))
      const [first = 0, ...again] = writes.filter((length) => length > 1000)
      expect(again, 'the same bytes again').to.include(first)
    })
  })
})
