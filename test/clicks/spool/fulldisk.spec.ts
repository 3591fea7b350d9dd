import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { disk } from '../../../src/clicks/spool/file.ts'
import { randomFrom, repeatable, seed } from '../../support/faults.ts'
import { needsLinux, skipWithoutMount } from '../../support/skip.ts'
import {
  addAll,
  dropsOf,
  expectContiguous,
  lastOf,
  noSpace,
  numbersOf,
  range,
  scripted,
  segmentsIn,
  smallDisk,
  take,
  useSpoolFolder,
} from './harness.ts'
import { visit } from './visits.ts'

describe(`a spool on a full disk (${repeatable})`, () => {
  const { dir, home, open, readOut } = useSpoolFolder()

  it('responds at once, keeps visits in memory within its limit, counts the rest, and records all of them in order', async () => {
    const full = smallDisk()
    const spool = await open({ io: full.io, backlogVisits: 20 })
    await addAll(spool, range(0, 10))

    full.room = 500 // one record and a part of the next
    await addAll(spool, range(10, 13))
    expect(spool.stats()).to.deep.include({ waiting: 3, dropped: 0, refused: 'ENOSPC: no space left on device, write' })
    await addAll(spool, range(13, 50))
    expect(spool.stats(), '20 visits, and one record that counts the others').to.deep.include({
      waiting: 21,
      dropped: 20,
    })

    full.room = Infinity
    const entries = await take(spool, 31)
    expect(numbersOf(entries)).to.deep.equal(range(0, 30))
    expect(dropsOf(entries)).to.deep.equal([
      { count: 20, from: visit(30).at, to: visit(49).at, accounts: [{ account: 1, count: 20 }] },
    ])
    expect(spool.stats()).to.deep.include({ waiting: 0, dropped: 20, refused: undefined })

    await addAll(spool, range(50, 60))
    await spool.close()
    const all = await readOut()
    expect(numbersOf(all)).to.deep.equal([...range(0, 30), ...range(50, 60)])
    expectContiguous(all)
  })

  it('accounts for every visit at all times: kept and dropped ones add up to all that were added', async () => {
    const random = randomFrom(seed)
    const full = smallDisk()
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

  it('begins a new segment when a torn write cannot be removed, and delivers nothing twice', async () => {
    const full = smallDisk()
    const io = scripted({ ...full.io, truncate: noSpace })
    const spool = await open({ io })
    await addAll(spool, range(0, 10))
    full.room = 700
    await addAll(spool, range(10, 20))
    full.room = Infinity
    expect(numbersOf(await take(spool, 20))).to.deep.equal(range(0, 20))
    expect(await segmentsIn(dir())).to.have.length(2)
    await spool.close()
    const entries = await readOut()
    expect(numbersOf(entries)).to.deep.equal(range(0, 20))
    expectContiguous(entries)
  })

  it('treats its own size limit as a full disk, until something is released', async () => {
    const spool = await open({ maxBytes: 20_000, backlogVisits: 10 })
    let number = 0
    while (spool.stats().waiting === 0) await spool.add(visit(number++))
    expect(spool.stats().bytes).to.be.within(19_000, 20_000)
    const kept = await take(spool, number - 1)
    await spool.release(lastOf(kept))
    expect(numbersOf(await take(spool, 1, lastOf(kept)))).to.deep.equal([number - 1])
  })

  it('starts on a full disk, and writes when there is room', async () => {
    const full = smallDisk()
    full.room = 0
    const spool = await open({ io: full.io })
    await addAll(spool, range(0, 5))
    expect(spool.stats().waiting).to.equal(5)
    full.room = Infinity
    expect(numbersOf(await take(spool, 5))).to.deep.equal(range(0, 5))
  })

  it('logs how many visits are lost when it is closed before there is room', async () => {
    const full = smallDisk()
    const lost: object[] = []
    const spool = await open({
      io: full.io,
      log: (_, message, details) => message.includes('lost') && lost.push(details),
    })
    full.room = 0
    await addAll(spool, range(0, 5))
    await spool.close()
    expect(lost).to.deep.equal([{ dir: dir(), visits: 5 }])
    await spool.add(visit(6))
  })

  it('counts visits that are in memory only, by account, at most 1,000, and the next start delivers the numbers', async () => {
    const full = smallDisk()
    const killed = await open({ io: full.io, backlogVisits: 20 })
    await addAll(killed, range(0, 10))
    full.room = 0
    await Promise.all(range(10, 1500).map((number) => killed.add({ ...visit(number), account: number })))

    const { earlier } = await open({ io: full.io })
    const entries = (await Promise.all(earlier.map((spool) => take(spool)))).flat()
    expect(numbersOf(entries)).to.deep.equal(range(0, 10))
    const [{ accounts = [], ...dropped } = expect.fail('nothing was counted')] = dropsOf(entries)
    expect(dropped).to.deep.equal({ count: 1490, from: visit(10).at, to: visit(1499).at })
    expect(accounts).to.have.length(1000)
    expect(accounts.reduce((sum, { count }) => sum + count, 0)).to.equal(1490)
    expect(
      accounts.filter(({ count }) => count !== 1).map(({ account }) => account),
      'the rest',
    ).to.deep.equal([0])
  })

  it('counts at the next start the visits that a stopped process could not write, and none that it has written', async () => {
    const full = smallDisk()
    const stopped = await open({ io: full.io, backlogVisits: 20 })
    full.room = 0
    await addAll(stopped, range(0, 15))
    full.room = Infinity
    await take(stopped, 15)
    full.room = 0
    await addAll(stopped, range(15, 50))
    await stopped.close()
    // its visits are recorded, and its files deleted, before the count is
    await stopped.remove()

    for (const start of ['the next start', 'one after it']) {
      const entries = await readOut()
      expect(numbersOf(entries), start).to.deep.equal([])
      expect(dropsOf(entries), start).to.deep.equal([
        { count: 35, from: visit(15).at, to: visit(49).at, accounts: [{ account: 1, count: 35 }] },
      ])
    }
  })

  it('says in the log when visits wait that are counted nowhere, and counts them once there is room', async () => {
    const full = smallDisk()
    full.room = 0
    const messages: string[] = []
    const spool = await open({ io: full.io, backlogVisits: 5, log: (_, message) => void messages.push(message) })
    await addAll(spool, range(0, 8))
    expect(messages.filter((message) => message.includes('loses them without a trace'))).to.have.length(1)
    full.room = Infinity
    expect(numbersOf(await take(spool, 6))).to.deep.equal(range(0, 5))
    full.room = 0
    await addAll(spool, range(8, 20))
    const { earlier } = await open({ io: full.io })
    const counted = await Promise.all(earlier.map((one) => take(one)))
    expect(dropsOf(counted.flat()).map(({ count }) => count)).to.deep.equal([3, 12])
  })

  it('recovers on a real full device: /dev/full', async function () {
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

  it('recovers on a real full file system', async function () {
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', home()])
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
        {
          count: dropped,
          from: visit(added - dropped).at,
          to: visit(added - 1).at,
          accounts: [{ account: 1, count: dropped }],
        },
      ])
      expectContiguous([...kept, ...rest])
      await spool.close()
    } finally {
      spawnSync('umount', ['--lazy', home()])
    }
  })
})
