import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { createBudget } from '../../../src/http/public/budget.ts'

describe('the budget of a network', () => {
  const from = (remoteAddress: string) => ({ socket: { remoteAddress }, headers: {} }) as unknown as IncomingMessage
  let now = 0
  const open = () => createBudget(2, 0, () => now)

  it('is spent in a minute that begins with the first count, and says how long it lasts', () => {
    now = 1_000_000
    const spend = open()
    expect([spend(from('192.0.2.1')), spend(from('192.0.2.1'))]).to.deep.equal([0, 0])
    now += 20_500
    expect(spend(from('192.0.2.1'))).to.equal(40)
    now += 39_000
    expect(spend(from('192.0.2.1'))).to.equal(1)
    now += 500
    expect(spend(from('192.0.2.1'))).to.equal(0)
  })

  it('is that of its network only', () => {
    const spend = open()
    for (let n = 0; n < 5; n++) spend(from('2001:db8::1'))
    expect(spend(from('2001:db8::ffff:2'))).to.be.above(0)
    expect([spend(from('2001:db8:0:1::1')), spend(from('192.0.2.9'))]).to.deep.equal([0, 0])
  })

  it('is four times as much for a site of IPv6, which has thousands of networks', () => {
    const spend = open()
    const sent = Array.from({ length: 20 }, (_, n) => spend(from(`2001:db8:7:${n}::1`)))
    expect(sent.filter((wait) => wait === 0)).to.have.length(8)
    expect(spend(from('2001:db8:8::1')), 'another site').to.equal(0)
  })

  it('of a site is not spent by refused requests of one of its networks', () => {
    const spend = open()
    for (let n = 0; n < 100; n++) spend(from('2001:db8:9::1'))
    expect(spend(from('2001:db8:9:1::1'))).to.equal(0)
  })
})
