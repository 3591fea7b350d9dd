import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { randomFrom, repeatable, seed } from '../../support/faults.ts'
import { dropsOf, expectContiguous, numbersOf, range, spoolsIn, useSpoolFolder } from './harness.ts'
import { accountOf } from './visits.ts'

describe(`a spool whose process is killed (${repeatable})`, () => {
  const { dir, home, readOut } = useSpoolFolder()
  const random = randomFrom(seed)
  const writers = 8

  /** Has visits added to the spool by processes that are killed. Returns the numbers that were acknowledged. */
  const killWriters = async (room: () => readonly string[] = () => []): Promise<readonly number[]> => {
    const acknowledged: number[] = []
    for (const round of range(0, 4)) {
      const script = join(import.meta.dirname, 'writer.ts')
      // into a file: a killed process loses what did not fit into a pipe
      const printed = join(home(), `acknowledged-${round}`)
      const stdout = openSync(printed, 'w')
      const options = [dir(), String(round * 1_000_000), ...room()]
      const writer = spawn(process.execPath, ['--import', 'tsx', script, ...options], {
        stdio: ['ignore', stdout, 'inherit'],
      })
      closeSync(stdout)
      while ((await stat(printed)).size < 400 && writer.exitCode === null) await pause(5)
      await pause(random(250))
      writer.kill('SIGKILL')
      await once(writer, 'close')
      const text = await readFile(printed, 'utf8')
      acknowledged.push(...text.slice(0, text.lastIndexOf('\n')).split('\n').map(Number))
    }
    expect(acknowledged, `SEED=${seed}`).to.have.length.above(100)
    return acknowledged
  }

  it('holds every acknowledged visit, exactly once and in order', async () => {
    const acknowledged = await killWriters()
    const spools = await spoolsIn(dir())
    const entries = spools.flat()
    const numbers = numbersOf(entries)
    const kept = new Set(numbers)
    expect(
      acknowledged.filter((number) => !kept.has(number)),
      `SEED=${seed}`,
    ).to.deep.equal([])
    expect(kept.size, 'each once').to.equal(numbers.length)
    expect(spools).to.have.length(4)
    for (const one of spools) expectContiguous(one)
    // each writer waited for one visit before it added the next
    for (const writer of range(0, writers)) {
      const own = numbers.filter((number) => number % writers === writer)
      expect(own).to.deep.equal(own.toSorted((a, b) => a - b))
    }
    // a visit that was added and not yet acknowledged may be there: at most one of each writer in each round
    expect(numbers.length - acknowledged.length).to.be.within(0, 4 * writers)
  }).timeout(300_000)

  it('holds or counts every acknowledged visit of each account, exactly once, while its disk is full', async () => {
    const acknowledged = await killWriters(() => [String(1000 + random(60_000))])
    const entries = await readOut()
    const numbers = numbersOf(entries)
    const lost = dropsOf(entries).flatMap(({ accounts }) => accounts ?? [])
    expect(new Set(numbers).size, 'each once').to.equal(numbers.length)
    expect(
      lost.reduce((sum, { count }) => sum + count, 0),
      `SEED=${seed}`,
    ).to.be.above(0)
    for (const account of [1, 2, 3]) {
      const of = (all: readonly number[]) => all.filter((number) => accountOf(number) === account).length
      const counts = lost.filter((one) => one.account === account).map(({ count }) => count)
      const found = of(numbers) + counts.reduce((sum, count) => sum + count, 0)
      // a visit that was added and not yet acknowledged may be there: at most one of each writer in each round
      expect(found - of(acknowledged), `account ${account}, SEED=${seed}`).to.be.within(0, 4 * writers)
    }
    expect(await readOut(), 'a start that is killed before it delivers them changes nothing').to.deep.equal(entries)
  }).timeout(300_000)
})
