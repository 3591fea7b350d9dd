import { expect } from 'chai'
import { openPosition, openProgress } from '../../src/cache/progress.ts'

/** Returns an invalidation that finishes when the test releases it. */
const heldBack = () => {
  const ranges: [bigint, bigint][] = []
  const releases: (() => void)[] = []
  return {
    ranges,
    invalidate: (after: bigint, upTo: bigint) => {
      ranges.push([after, upTo])
      return new Promise<void>((resolve) => releases.push(resolve))
    },
    release: () => releases.shift()!(),
  }
}
const at = (start: bigint) => openProgress(openPosition(start), async () => {})
const turn = () => new Promise((done) => setImmediate(done))

describe('the progress of the read tables', () => {
  it('starts at the position it was opened with', async () => {
    const progress = at(5n)
    expect(progress.seen()).to.equal(5n)
    await progress.advance(9n)
    expect(progress.seen()).to.equal(9n)
  })

  it('never goes back', async () => {
    const progress = at(5n)
    await progress.advance(3n)
    await progress.advance(9n)
    await progress.advance(7n)
    expect(progress.seen()).to.equal(9n)
  })

  it('resolves waiters when their position has been seen, and no sooner', async () => {
    const progress = at(5n)
    const outcomes: string[] = []
    const waits = [6n, 7n, 8n].map((position) =>
      progress.wait(position, 5000).then((seen) => outcomes.push(`${position} ${seen}`)),
    )
    await progress.advance(7n)
    await turn()
    expect(outcomes).to.deep.equal(['6 true', '7 true'])
    await progress.advance(10n)
    await Promise.all(waits)
    expect(outcomes).to.deep.equal(['6 true', '7 true', '8 true'])
  })

  it('resolves at once for a position that has been seen', async () => {
    expect(await at(5n).wait(5n, 0)).to.equal(true)
  })

  it('resolves false when a wait times out', async () => {
    const progress = at(5n)
    expect(await progress.wait(6n, 10)).to.equal(false)
    await progress.advance(6n)
    expect(await progress.wait(6n, 0)).to.equal(true)
  })

  it('does not count a position as seen before its changes are invalidated', async () => {
    const { ranges, invalidate, release } = heldBack()
    const progress = openProgress(openPosition(5n), invalidate)
    let resolved = false
    const waiting = progress.wait(6n, 5000).then(() => (resolved = true))
    const advanced = progress.advance(7n)
    await turn()
    expect([progress.seen(), resolved]).to.deep.equal([5n, false])
    expect(ranges).to.deep.equal([[5n, 7n]])
    release()
    await Promise.all([advanced, waiting])
    expect([progress.seen(), resolved]).to.deep.equal([7n, true])
  })

  it('invalidates without a gap when it advances during an invalidation', async () => {
    const { ranges, invalidate, release } = heldBack()
    const progress = openProgress(openPosition(5n), invalidate)
    const advances = [progress.advance(7n), progress.advance(8n), progress.advance(12n)]
    release()
    await turn()
    release()
    await Promise.all(advances)
    expect(ranges).to.deep.equal([
      [5n, 7n],
      [7n, 12n],
    ])
  })

  it('has seen a position once `advance` resolves, even when called while waiters are resolved', async () => {
    const progress = at(5n)
    const seen = progress.wait(6n, 5000).then(async () => {
      await progress.advance(8n)
      return progress.seen()
    })
    await progress.advance(6n)
    expect(await seen).to.equal(8n)
  })

  it('retries a failed invalidation, and does not advance until it succeeds', async () => {
    let fails = true
    const progress = openProgress(openPosition(5n), () =>
      fails ? Promise.reject(new Error('unavailable')) : Promise.resolve(),
    )
    const failed = await progress.advance(7n).catch((error: unknown) => String(error))
    expect([failed, progress.seen()]).to.deep.equal(['Error: unavailable', 5n])
    fails = false
    await progress.advance(6n)
    expect(progress.seen()).to.equal(7n)
  })

  it('does not show the streams of a halted projection any further', async () => {
    const progress = at(5n)
    progress.hold(new Map([['link', 7n]]))
    await progress.advance(9n)
    const shown = (['link-1', 'bio-1'] as const).map((stream) => [7n, 8n, 10n].map((n) => progress.shows(stream, n)))
    expect(shown).to.deep.equal([
      [true, false, false],
      [true, true, false],
    ])
    progress.hold(new Map())
    expect(progress.shows('link-1', 9n)).to.equal(true)
  })
})
