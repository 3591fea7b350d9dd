import { expect } from 'chai'
import { createStandstill } from '../../../src/app/health/standstill.ts'
import { repeat } from '../../../src/app/jobs/repeat.ts'
import { until } from '../../support/client.ts'

describe('work whose next turn is far away', () => {
  const original = globalThis.setInterval
  afterEach(() => void (globalThis.setInterval = original))

  it('is tried again soon after a failure, so that its reason vanishes with the first success', async () => {
    const turns: (() => void)[] = []
    globalThis.setInterval = ((turn: () => void) => {
      turns.push(turn)
      return original(() => {}, 3_600_000)
    }) as typeof setInterval
    const job = createStandstill('nothing is cleared')
    const seen: (string | undefined)[] = []
    let runs = 0
    const work = job.watching(async () => {
      if (++runs < 3) throw new Error('PostgreSQL is away')
    })
    const stop = repeat(work, 3_600_000, () => seen.push(job.problem()?.split('Z: ')[1]), 5)
    globalThis.setInterval = original
    turns[0]?.()
    await until(
      async () => runs,
      (n) => n === 3,
    )
    await stop()
    expect([seen, job.problem()]).to.deep.equal([['PostgreSQL is away', 'PostgreSQL is away'], undefined])
  })
})
