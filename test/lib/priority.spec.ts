import { once } from 'node:events'
import { getPriority } from 'node:os'
import { expect } from 'chai'
import { lowerPriority, startThread } from '../../src/lib/thread.ts'
import { needsLinux } from '../support/skip.ts'

describe('a lower priority', function () {
  this.timeout(300_000)

  /** Returns the nice value of a thread that had one, once it has lowered its priority by 5. */
  const lowered = async (nice: number) => {
    const thread = startThread(new URL('priority-thread.ts', import.meta.url).href, { workerData: nice })
    const [after] = (await once(thread, 'message')) as [number]
    return after
  }

  it('is lower than that of a process that was started with a low one, and never raises it', async function () {
    needsLinux(this)
    const own = getPriority()
    expect(await lowered(own + 1)).to.equal(own + 6)
    expect(await lowered(own + 7)).to.equal(own + 12)
    expect(await lowered(17)).to.equal(19)
    expect(getPriority(), 'of the thread that has started them').to.equal(own)
  })

  it('is no reason to fail where the system refuses it', () => {
    // there is no such process
    expect(() => lowerPriority(5, 2 ** 22 + 1)).not.to.throw()
  })
})
