import { expect } from 'chai'
import { inTurns } from '../../../../src/http/api/limits/turns.ts'

/** Work that ends when it is told to. */
const work = () => {
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  let begun = false
  const run = () => {
    begun = true
    return ended
  }
  return { run, end: () => end(), isRunning: () => begun }
}
const settled = () => new Promise((resolve) => setTimeout(resolve, 5))
const statusOf = (running: Promise<unknown>) =>
  running.then(
    () => 200,
    (error: { readonly status?: number }) => error.status,
  )

describe('heavy work in turns', () => {
  it('given as much as may run at the same time, lets the next one wait until one has ended', async () => {
    const inTurn = inTurns('searches', { atOnce: 1, ofAccount: 2, total: 3 })
    const [first, second] = [work(), work()]
    const running = [inTurn(1, first.run), inTurn(2, second.run)]
    await settled()
    expect([first.isRunning(), second.isRunning()]).to.deep.equal([true, false])
    first.end()
    await settled()
    expect(second.isRunning()).to.equal(true)
    second.end()
    await Promise.all(running)
  })

  it('refuses an account that has too much of it with 429, and everybody with 503 when the process has', async () => {
    const inTurn = inTurns('searches', { atOnce: 2, ofAccount: 2, total: 3 })
    const all = [work(), work(), work(), work()]
    const running = [inTurn(1, all[0]!.run), inTurn(1, all[1]!.run)]
    expect(await statusOf(inTurn(1, all[2]!.run))).to.equal(429)
    running.push(inTurn(2, all[2]!.run))
    expect(await statusOf(inTurn(3, all[3]!.run))).to.equal(503)
    for (const { end } of all) end()
    await Promise.all(running)
    expect(await statusOf(inTurn(1, all[3]!.run))).to.equal(200)
  })
})
