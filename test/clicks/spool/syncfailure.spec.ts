import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { disk } from '../../../src/clicks/spool/file.ts'
import { until } from '../../support/client.ts'
import { addAll, numbersOf, range, scripted, take, useSpoolFolder } from './harness.ts'

describe('a spool on a disk that fails to sync', () => {
  const { open } = useSpoolFolder()

  it('holds entries back, writes the unsynced part again, and delivers them once the sync succeeds', async () => {
    let failing = false
    const writes: number[] = []
    const io = scripted({
      fdatasync: (fd) => (failing ? Promise.reject(new Error('EIO')) : disk.fdatasync(fd)),
      write: (...args) => (writes.push(args[3]), disk.write(...args)),
    })
    const errors: string[] = []
    const spool = await open({ io, log: (_, message) => void errors.push(message) })
    writes.length = 0
    failing = true
    await addAll(spool, range(0, 10))
    const read = take(spool, 10)
    await until(
      async () => errors.length,
      (count) => count > 0,
    )
    expect(await Promise.race([read, pause(50, 'nothing')])).to.equal('nothing')
    expect(errors, 'logged once').to.have.length(1)
    expect(spool.stats().refused).to.equal('EIO')
    failing = false
    expect(numbersOf(await read)).to.deep.equal(range(0, 10))
    const [first = 0, ...again] = writes.filter((length) => length > 1000)
    expect(spool.stats().refused).to.equal(undefined)
    expect(again, 'the same bytes again').to.include(first)
  })
})
