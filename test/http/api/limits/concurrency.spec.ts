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
/** An account on a network of its own. */
const by = (account: number, from = `192.0.2.${account}`) => ({ account, from })
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
    const running = [limited(by(1), first.run), limited(by(2), second.run)]
    await settled()
    expect([first.isRunning(), second.isRunning()]).to.deep.equal([true, false])
    first.end()
    await settled()
    expect(second.isRunning()).to.equal(true)
    second.end()
    await Promise.all(running)
  })

  it('refuses an account with too much work with 429, and all accounts with 503 when the process has too much', async () => {
    const limited = limitConcurrency('searches', { running: 2, ofAccount: 2, total: 3 })
    const all = [work(), work(), work(), work()]
    const running = [limited(by(1, '192.0.2.1'), all[0]!.run), limited(by(1, '192.0.2.1'), all[1]!.run)]
    expect(await statusOf(limited(by(1, '192.0.2.1'), all[2]!.run))).to.equal(429)
    running.push(limited(by(2, '192.0.2.1'), all[2]!.run))
    expect(await statusOf(limited(by(3, '192.0.2.1'), all[3]!.run))).to.equal(503)
    for (const { end } of all) end()
    await Promise.all(running)
    expect(await statusOf(limited(by(1, '192.0.2.1'), all[3]!.run))).to.equal(200)
  })

  it('leaves room for others next to a busy network, and gives them the places of its waiting requests', async () => {
    const limited = limitConcurrency('searches', { running: 2, ofAccount: 2, total: 4 })
    const [mine, ...theirs] = [work(), work(), work(), work(), work()]
    // four accounts of one site
    const running = theirs.map(({ run }, n) => statusOf(limited(by(n + 1, `2001:db8:7:${n}::/64`), run)))
    await settled()
    expect(theirs.map(({ isRunning }) => isRunning())).to.deep.equal([true, false, false, false])
    const own = limited(by(9), mine!.run)
    await settled()
    expect(mine!.isRunning()).to.equal(true)
    mine!.end()
    await own
    for (const { end } of theirs) end()
    expect(await Promise.all(running)).to.deep.equal([200, 200, 200, 503])
  })
})
