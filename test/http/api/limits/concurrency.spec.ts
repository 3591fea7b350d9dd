import { expect } from 'chai'
import { limitConcurrency } from '../../../../src/http/api/limits/concurrency.ts'

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

describe('heavy work whose concurrency is limited', () => {
  it('given as much as may run at the same time, lets the next one wait until one has ended', async () => {
    const limited = limitConcurrency('searches', { running: 1, ofAccount: 2, total: 3 })
    const [first, second] = [work(), work()]
    const running = [limited(1, first.run), limited(2, second.run)]
    await settled()
    expect([first.isRunning(), second.isRunning()]).to.deep.equal([true, false])
    first.end()
    await settled()
    expect(second.isRunning()).to.equal(true)
    second.end()
    await Promise.all(running)
  })

  it('refuses an account that has too much of it with 429, and everybody with 503 when the process has', async () => {
    const limited = limitConcurrency('searches', { running: 2, ofAccount: 2, total: 3 })
    const all = [work(), work(), work(), work()]
    const running = [limited(1, all[0]!.run), limited(1, all[1]!.run)]
    expect(await statusOf(limited(1, all[2]!.run))).to.equal(429)
    running.push(limited(2, all[2]!.run))
    expect(await statusOf(limited(3, all[3]!.run))).to.equal(503)
    for (const { end } of all) end()
    await Promise.all(running)
    expect(await statusOf(limited(1, all[3]!.run))).to.equal(200)
  })
})
