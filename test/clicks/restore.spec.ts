import { expect } from 'chai'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dropSpool, listSpools, recordSpool } from '../../src/clicks/import.ts'
import { openClickRecord } from '../../src/clicks/record.ts'
import { createRelays } from '../../src/clicks/deliver.ts'
import { logSink } from '../../src/clicks/sink.ts'
import { localRoute, spoolDir } from '../../src/clicks/spool/folders.ts'
import { openSpool } from '../../src/clicks/spool/spool.ts'
import type { EventStore } from '../../src/events/store.ts'
import { until } from '../support/client.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { classify, linksOf, numbers, visit } from '../support/spool.ts'
import { eventsOf, newMemoryStore } from '../support/writer.ts'

describe('a spool folder that is restored, copied or moved', () => {
  let home: string
  let store: EventStore
  let wentBack = 0
  const processes: { readonly kill: () => Promise<void> }[] = []
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'linkledger-restore-'))
    store = await newMemoryStore()
  })
  afterEach(async () => {
    for (const one of processes.splice(0)) await one.kill()
    await rm(home, { recursive: true, force: true })
  })

  const folder = (name: string) => join(home, name)
  const recorded = async (from = store) => linksOf(await eventsOf(from, 'clicks-local-0'))
  const missing = async () => (await eventsOf(store, 'clicks-local-0')).filter(({ type }) => type === 'ClicksMissing')
  const expectOnce = async (links: readonly number[], from = store) => {
    const found = await until(
      () => recorded(from),
      ({ length }) => length >= links.length,
      30_000,
    )
    expect(found.toSorted((a, b) => a - b)).to.deep.equal(links)
    expect(await missing()).to.deep.equal([])
  }

  /** Starts the click pipeline of a process in a folder. Killed, it leaves everything as it is. */
  const start = async (name: string, log = store) => {
    const dir = folder(name)
    const spool = await openSpool({ dir, route: localRoute, logId: log.logId, log: () => {}, syncMs: 1 })
    const record = openClickRecord({ store: log, ...localRoute, onWentBack: () => wentBack++ })
    const relays = createRelays({
      store: log,
      log: () => {},
      keyring: memoryKeyring(),
      classify,
      onProblem: () => {},
      confirmMs: 50,
    })
    const process = {
      id: spool.id,
      relays,
      relay: () =>
        relays.add({ dir, route: localRoute, earlier: spool.earlier, own: spool, sink: logSink(record), record }),
      visit: async (from: number, to = from) => {
        for (const link of numbers(from, to)) await spool.add(visit(link))
      },
      close: async (drainMs: number) => {
        await spool.close()
        const left = await relays.drain(drainMs)
        if (left === 0) await relays.retireOwn()
        return left
      },
      kill: async () => {
        await spool.close()
        await relays.stop()
      },
    }
    processes.push(process)
    return process
  }
  const startRelaying = async (name: string, log = store) => {
    const process = await start(name, log)
    await process.relay()
    return process
  }

  it('delivers the entries of a killed process exactly once and first, then removes them', async () => {
    const first = await start('a')
    await first.visit(1, 20)
    await first.kill()
    const second = await start('a')
    await second.visit(21, 30)
    await second.relay()
    await expectOnce(numbers(1, 30))
    expect(await recorded()).to.deep.equal(numbers(1, 30))
    expect(
      await until(
        () => readdir(folder('a')),
        ({ length }) => length === 2,
      ),
      'the spool and the tally of the second process',
    ).to.have.length(2)
  })

  it('loses no visit after the folder is restored from a copy of an hour ago', async () => {
    const first = await startRelaying('a')
    await first.visit(1, 10)
    await expectOnce(numbers(1, 10))
    await cp(folder('a'), folder('backup'), { recursive: true })
    await first.visit(11, 20)
    await expectOnce(numbers(1, 20))
    await first.kill()
    await cp(folder('a'), folder('later'), { recursive: true })
    await (await startRelaying('a')).kill()

    for (const [name, from] of [
      ['backup', 21],
      ['later', 31],
    ] as const) {
      await rm(folder('a'), { recursive: true })
      await cp(folder(name), folder('a'), { recursive: true })
      const restored = await startRelaying('a')
      await restored.visit(from, from + 9)
      await expectOnce(numbers(1, from + 9))
      await restored.kill()
    }
  })

  it('counts each visit once when a folder is copied while its process runs, and both continue', async () => {
    const original = await startRelaying('a')
    await original.visit(1, 10)
    await expectOnce(numbers(1, 10))
    await cp(folder('a'), folder('b'), { recursive: true })
    const copy = await startRelaying('b')
    await copy.visit(11, 20)
    await expectOnce(numbers(1, 20))
    // the copy takes the original's spool for one that has ended, and retires it
    const retired = () => store.last(`spool-local-0-${original.id}`)
    expect((await until(retired, (last) => last?.type === 'SpoolRetired'))?.type).to.equal('SpoolRetired')
    for (let link = 21; link <= 60; link += 2) {
      await original.visit(link)
      await copy.visit(link + 1)
    }
    await expectOnce(numbers(1, 60))
    await original.kill()
    await copy.kill()
    const again = await startRelaying('a')
    await again.visit(61)
    await expectOnce(numbers(1, 61))
  })

  it('records clicks again that a restored event log has lost, as far as the spool has them', async () => {
    const before = await startRelaying('a')
    await before.visit(1, 5)
    await expectOnce(numbers(1, 5))
    await before.kill()
    const restored = { ...(await newMemoryStore()), logId: store.logId }
    await startRelaying('a', restored)
    await expectOnce(numbers(1, 5), restored)
  })

  describe('of a process that runs on while its log goes back to an older copy', () => {
    /** A log, and a copy of it that has what was appended until it falls behind. */
    const failover = async () => {
      const copy = { ...(await newMemoryStore()), logId: store.logId }
      let [current, isBehind] = [store, false]
      const log: EventStore = {
        ...store,
        append: async (writes) => {
          if (current === store && !isBehind) await copy.append(writes)
          return current.append(writes)
        },
        last: (stream) => current.last(stream),
        read: (...args) => current.read(...args),
      }
      return { log, copy, fallBehind: () => (isBehind = true), switchOver: () => (current = copy) }
    }
    const typesIn = async (log: EventStore) => (await eventsOf(log, 'clicks-local-0')).map(({ type }) => type)

    for (const [what, visits] of [
      ['with the next visit', [41, 45]],
      ['without a visit', undefined],
    ] as const)
      it(`records lost clicks of the log again, ${what}`, async () => {
        const { log, copy, fallBehind, switchOver } = await failover()
        const process = await startRelaying('a', log)
        await process.visit(1, 10)
        await expectOnce(numbers(1, 10), log)
        fallBehind()
        await process.visit(11, 40)
        await expectOnce(numbers(1, 40))
        wentBack = 0
        switchOver()
        if (visits) await process.visit(...visits)
        await expectOnce(numbers(1, visits ? 45 : 40), copy)
        expect(await typesIn(copy)).not.to.include('ClicksMissing')
        expect(wentBack, 'who gives ids is told').to.be.above(0)
      })
  })

  describe('that belongs to another event log', () => {
    const options = () => ({
      store,
      keyring: memoryKeyring(),
      log: () => {},
      countryOf: () => '',
      isOurHost: () => false,
    })
    let foreign: string
    beforeEach(async () => {
      const elsewhere = await start('spool', await newMemoryStore())
      foreign = elsewhere.id
      await elsewhere.visit(1, 7)
      await elsewhere.kill()
    })

    it('is kept aside and reported; new visits are counted', async () => {
      const here = await startRelaying('spool')
      await here.visit(10, 12)
      await expectOnce([10, 11, 12])
      const [aside, ...others] = here.relays.aside()
      expect(others).to.deep.equal([])
      expect(aside).to.include({ id: foreign, entries: 7 })
      expect(aside?.reason).to.include('another event log')
      const listed = await listSpools(options(), folder('spool'))
      expect(listed.map(({ spool, waiting, reason }) => [spool.id, waiting, reason === undefined])).to.deep.equal([
        [foreign, 7, false],
        [here.id, 0, true],
      ])
    })

    it('is recorded once when an operator accepts it', async () => {
      const here = await startRelaying('spool')
      const [aside] = await listSpools(options(), folder('spool'))
      expect(await recordSpool(options(), aside!)).to.equal(7)
      expect(await recordSpool(options(), aside!)).to.equal(0)
      await aside!.spool.remove()
      expect(here.relays.aside()).to.deep.equal([])
      await expectOnce(numbers(1, 7))
    })

    it('is deleted when an operator drops it, and the log says how many clicks it held', async () => {
      const here = await startRelaying('spool')
      const [aside] = await listSpools(options(), folder('spool'))
      expect(await dropSpool(options(), aside!, { kind: 'operator', name: 'ann@host' })).to.equal(7)
      expect(here.relays.aside()).to.deep.equal([])
      const retired = await store.last(`spool-local-0-${foreign}`)
      expect(retired?.data).to.deep.include({ last: 7, dropped: 7 })
      expect(retired?.metadata.actor).to.deep.equal({ kind: 'operator', name: 'ann@host' })
      expect(await recorded()).to.deep.equal([])
    })
  })

  it('of a Kafka topic with another number of partitions can be listed and dropped', async () => {
    await openClickRecord({ store, log: 'clicks', partitions: 3 }).lastMessage(0)
    const route = { log: 'clicks', partitions: 12 }
    const dir = spoolDir(folder('spool'), route)
    const spool = await openSpool({ dir, route, logId: 'another log', log: () => {}, syncMs: 1 })
    for (const link of numbers(1, 5)) await spool.add(visit(link))
    await spool.close()
    const [aside] = await listSpools({ store, log: () => {} }, folder('spool'))
    expect(aside).to.include({ waiting: 5 })
    expect(await dropSpool({ store, log: () => {} }, aside!, { kind: 'operator', name: 'ann@host' })).to.equal(5)
    expect(await readdir(dir)).to.deep.equal([])
  })

  describe('when its process is stopped', () => {
    it('is empty once everything is recorded', async () => {
      const first = await startRelaying('a')
      await first.visit(1, 2000)
      expect(await first.close(60_000)).to.equal(0)
      expect(await recorded()).to.deep.equal(numbers(1, 2000))
      expect(await readdir(folder('a'))).to.deep.equal([])
    })

    it('keeps entries that the event log does not accept in time, for the next start', async () => {
      const broken = { ...store, append: () => Promise.reject(new Error('down')) }
      const first = await startRelaying('a', broken)
      await first.visit(1, 5)
      expect(await first.close(60_000), 'it does not wait for a log that is down').to.equal(5)
      await first.kill()
      await startRelaying('a')
      await expectOnce(numbers(1, 5))
    })
  })
})
