import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { StoreUnavailable } from '../../src/events/store.ts'
import { until } from '../support/client.ts'
import { randomFrom, repeatable, seed } from '../support/faults.ts'
import { appendAll, appendUntilStored, expectAllSeen, logged, timed, useEventStoreStage, write } from './eventstore.ts'

describe(`an append to an EventStoreDB (${repeatable})`, function () {
  this.timeout(300_000)
  const random = randomFrom(seed)
  const { open, follow, later } = useEventStoreStage()

  describe('that the server never answers', () => {
    it('is retried, and given up after 5 s, while other appends succeed', async () => {
      const { double, store } = await open()
      const hopeless = write()
      const attempts: number[] = []
      const began = Date.now()
      double.fail(({ stream }) => {
        if (stream !== hopeless.stream) return undefined
        attempts.push(Date.now() - began)
        return 'silent'
      })
      const seen = follow(store)
      let pending = true
      const given = timed(store.append([hopeless])).finally(() => (pending = false))
      for (; pending; await sleep(20)) await appendAll(store, 1)
      const { outcome, ms } = await given
      expect(outcome).to.be.instanceOf(StoreUnavailable)
      expect(ms, 'a retry begins only when 100 ms are left').to.be.within(4800, 30_000)
      expect(attempts.length).to.be.within(2, 6)
      expect(attempts[1], 'the first attempt gets 3 s').to.be.at.least(2900)
      double.fail(() => undefined)
      expect((await appendUntilStored(store, hopeless)).ok).to.equal(true)
      // by now appends use another connection, while the subscription continues on the old one, which is closed after
      // some 10 s
      await expectAllSeen(seen, double)
      expect(double.calls.subscribe).to.equal(1)
    })

    it('leaves nothing in memory, also after a thousand that were given up', async () => {
      const { double, store } = await open({ timeoutMs: 300 })
      double.fail(({ kind }) => (kind === 'append' ? 'silent' : undefined))
      const events: WeakRef<object>[] = []
      const hopeless = async () => {
        const one = write()
        events.push(new WeakRef(one.events[0]!))
        return (await timed(store.append([one]))).outcome
      }
      for (let round = 0; round < 10; round++) {
        const outcomes = await Promise.all(Array.from({ length: 100 }, hopeless))
        for (const outcome of outcomes) expect(outcome).to.be.instanceOf(StoreUnavailable)
      }
      double.fail(() => undefined)
      expect((await appendUntilStored(store, write())).ok).to.equal(true)
      setFlagsFromString('--expose-gc')
      const collectGarbage = runInNewContext('gc') as () => void
      const left = async () => {
        collectGarbage()
        await sleep(50)
        return events.filter((event) => event.deref()).length
      }
      expect(await until(left, (n) => n < 20)).to.be.below(20)
    })
  })

  describe('that the server answers late', () => {
    it('is retried and returns its first outcome; the late answer changes nothing', async () => {
      const timeoutMs = 4000
      const { double, store } = await open({ timeoutMs })
      const late = Array.from({ length: 20 }, () => write(undefined, 3))
      const slow = new Map(late.map(({ stream }) => [stream, 1 + random(1.5 * timeoutMs)]))
      const slowest = Math.max(...slow.values())
      double.fail(({ stream }) => {
        const ms = slow.get(stream)
        slow.delete(stream)
        return ms === undefined ? undefined : { stored: ms }
      })
      const allAnswered = sleep(slowest + 500)
      const appended = await Promise.all(late.map((one) => store.append([one])))
      expect(appended.map(({ ok }) => ok)).to.deep.equal(late.map(() => true))
      await allAnswered
      await appendAll(store, 5)
      expect(logged(double)).to.have.length(1 + 60 + 5)
      expect(double.calls.batchAppend, 'appends on the shared stream, which has no deadline').to.equal(0)
    })

    const run = async (what: 'client' | 'adapter') => {
      const script = fileURLToPath(new URL('eventstore-process.ts', import.meta.url))
      const child = spawn(process.execPath, ['--import', 'tsx', script, what], {
        cwd: new URL('../..', import.meta.url),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      later(() => child.kill('SIGKILL'))
      let output = ''
      child.stdout.on('data', (text: Buffer) => (output += text.toString()))
      child.stderr.on('data', (text: Buffer) => (output += text.toString()))
      await once(child, 'close')
      return output
    }

    it('ends the process when the client appends as it does by default, which our adapter avoids', async () => {
      expect(await run('client'))
        .to.include('TypeError')
        .and.not.include('alive')
    })

    it('does not end the process when our adapter appends', async () => {
      expect(await run('adapter')).to.include('alive')
    })
  })

  it('returns the position that the server left out of its answer', async () => {
    const { double, store } = await open()
    double.fail(({ kind }) => (kind === 'append' ? 'no position' : undefined))
    const one = write(undefined, 3)
    const appended = await store.append([one])
    expect(appended).to.deep.equal({ ok: true, position: (await store.last(one.stream))?.position })
    expect(await store.append([one])).to.deep.equal(appended)
  })
})
