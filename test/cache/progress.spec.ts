import { expect } from 'chai'
import { openProgress } from '../../src/cache/progress.ts'

/** What is remembered is forgotten only when the spec says so. */
const heldBack = () => {
  const asked: [bigint, bigint][] = []
  const releases: (() => void)[] = []
  return {
    asked,
    forget: (after: bigint, upTo: bigint) => {
      asked.push([after, upTo])
      return new Promise<void>((resolve) => releases.push(resolve))
    },
    release: () => releases.shift()!(),
  }
}
const at = (start: bigint) => openProgress(start, async () => {})
const turn = () => new Promise((done) => setImmediate(done))

describe('how far the read tables have come', () => {
  it('is where it started until it is told more', async () => {
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

  it('lets who waits for a position go on when it is seen, and nobody sooner', async () => {
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

  it('does not let anyone wait for what is seen already', async () => {
    expect(await at(5n).wait(5n, 0)).to.equal(true)
  })

  it('lets nobody wait for longer than he wants to', async () => {
    const progress = at(5n)
    expect(await progress.wait(6n, 10)).to.equal(false)
    await progress.advance(6n)
    expect(await progress.wait(6n, 0)).to.equal(true)
  })

  it('is told to nobody before what has changed is forgotten', async () => {
    const { asked, forget, release } = heldBack()
    const progress = openProgress(5n, forget)
    let went = false
    const waiting = progress.wait(6n, 5000).then(() => (went = true))
    const advanced = progress.advance(7n)
    await turn()
    expect([progress.seen(), went]).to.deep.equal([5n, false])
    expect(asked).to.deep.equal([[5n, 7n]])
    release()
    await Promise.all([advanced, waiting])
    expect([progress.seen(), went]).to.deep.equal([7n, true])
  })

  it('forgets what changed in between without a gap, when more is told meanwhile', async () => {
    const { asked, forget, release } = heldBack()
    const progress = openProgress(5n, forget)
    const advances = [progress.advance(7n), progress.advance(8n), progress.advance(12n)]
    release()
    await turn()
    release()
    await Promise.all(advances)
    expect(asked).to.deep.equal([
      [5n, 7n],
      [7n, 12n],
    ])
  })

  it('has seen a position when telling it is done, also one that is told just as others are let go', async () => {
    const progress = at(5n)
    const seen = progress.wait(6n, 5000).then(async () => {
      await progress.advance(8n)
      return progress.seen()
    })
    await progress.advance(6n)
    expect(await seen).to.equal(8n)
  })

  it('tries again what could not be forgotten, and tells nobody till then', async () => {
    let fails = true
    const progress = openProgress(5n, () => (fails ? Promise.reject(new Error('away')) : Promise.resolve()))
    const failed = await progress.advance(7n).catch((error: unknown) => String(error))
    expect([failed, progress.seen()]).to.deep.equal(['Error: away', 5n])
    fails = false
    await progress.advance(6n)
    expect(progress.seen()).to.equal(7n)
  })
})
