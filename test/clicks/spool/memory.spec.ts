import { expect } from 'chai'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { long } from '../../support/faults.ts'
import { addAll, range, segmentsIn, useSpoolFolder } from './harness.ts'

describe('the memory of a spool', () => {
  const { dir, open } = useSpoolFolder()

  const total = long ? 200_000 : 10_000

  it(`stays bounded while ${total} visits are written and then read`, async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const heapUsed = (): number => (collectGarbage(), process.memoryUsage().heapUsed)
    const spool = await open({ segmentBytes: 4 * 1024 ** 2 })
    const step = total / 5
    const before = heapUsed()
    let most = before

    // written before anything is read, so that what is in memory does not depend on which of the two is faster
    for (let number = 0; number < total; number += 500) {
      await addAll(spool, range(number, number + 500))
      if (number % step === 0) most = Math.max(most, heapUsed())
    }

    const readUpTo: Record<number, number> = {}
    let read = 0
    let nextSample = step
    for await (const batch of spool.read({}, 500, new AbortController().signal)) {
      for (const { partition, seq } of batch) {
        if (seq !== (readUpTo[partition] ?? 0) + 1) expect.fail(`${seq} follows ${readUpTo[partition]}`)
        readUpTo[partition] = seq
      }
      read += batch.length
      if (read < nextSample) continue
      nextSample += step
      await spool.release(readUpTo)
      most = Math.max(most, heapUsed())
      if (read === total) break
    }
    expect((most - before) / 1024 ** 2, 'MiB').to.be.below(12)
    expect(await segmentsIn(dir())).to.have.length(1)
  }).timeout(300_000)
})
