import { expect } from 'chai'
import { limitExports } from '../../../../src/http/accounts/export/limit.ts'
import { Failure } from '../../../../src/http/api/errors.ts'
import { limitToOne } from '../../../../src/http/api/limits/concurrency.ts'
import { sharePlaces } from '../../../../src/http/api/limits/places.ts'
import { limitStreams } from '../../../../src/http/streams/limit.ts'
import { problem } from '../../../../src/lib/problems/problem.ts'

const busy = () => new Failure(503, problem('busy', { what: 'exports' }))

/** Returns who takes places, and which of them have lost theirs. */
const opened = (most: number) => {
  let time = 0
  const lost: number[] = []
  const { take, taken } = sharePlaces({ most, longestMs: 1000, busy, now: () => time })
  return {
    lost,
    taken,
    wait: (ms: number) => void (time += ms),
    take: (account: number, from: string) => {
      try {
        return take({ account, from }, ({ status }) => void lost.push(account * (status === 503 ? 1 : -1)))
      } catch (error) {
        return (error as Failure).status
      }
    },
  }
}

describe('places that the accounts of a process share', () => {
  it('are all for one network, until another one wants some of them', () => {
    const { take, lost, taken } = opened(20)
    for (let account = 1; account <= 20; account++) expect(take(account, '192.0.2.1')).to.be.a('function')
    expect([take(21, '192.0.2.1'), lost]).to.deep.equal([503, []])
    for (let n = 0; n < 15; n++) take(100 + n, '198.51.100.7')
    // the newest first, and no more than half
    expect(lost).to.deep.equal([20, 19, 18, 17, 16, 15, 14, 13, 12, 11])
    expect(taken()).to.equal(20)
  })

  it('count for the site of an IPv6 address, which has 65,536 networks', () => {
    const { take, lost } = opened(2)
    take(1, '2001:db8:7:1::/64')
    take(2, '2001:db8:7:2::/64')
    expect([take(3, '2001:db8:7:3::/64'), lost]).to.deep.equal([503, []])
    expect(take(4, '2001:db8:8:1::/64')).to.be.a('function')
    expect(lost).to.deep.equal([2])
  })

  it('may be taken by any client from one that has held its place for long', () => {
    const { take, lost, wait } = opened(2)
    take(1, '192.0.2.1')
    wait(600)
    take(2, '192.0.2.2')
    wait(400)
    expect([take(3, '192.0.2.3'), lost]).to.deep.equal([503, []])
    wait(1)
    expect(take(3, '192.0.2.3')).to.be.a('function')
    expect([take(4, '192.0.2.4'), lost]).to.deep.equal([503, [1]])
  })

  it('are not taken by a network with many from one with few, however long that has had its place', () => {
    const { take, lost, wait } = opened(3)
    take(1, '198.51.100.7')
    for (const account of [2, 3]) take(account, '192.0.2.1')
    wait(5000)
    expect([take(4, '192.0.2.1'), lost]).to.deep.equal([503, []])
  })

  it('are free again once they are given back, and given back once', () => {
    const { take, lost, taken } = opened(2)
    const leave = [1, 2].map((account) => take(account, '192.0.2.1') as () => void)
    expect(take(3, '192.0.2.9')).to.be.a('function')
    leave[1]!()
    expect([taken(), lost]).to.deep.equal([2, [2]])
    leave[0]!()
    expect(taken()).to.equal(1)
  })

  it('are those of exports, streams, rehearsals and reclassifications', () => {
    const [mine, theirs] = ['198.51.100.7', '192.0.2.1']
    const lost: string[] = []
    const begin = limitExports(2)
    for (const account of [1, 2]) begin({ account, from: theirs }, () => void lost.push(`export ${account}`))
    begin({ account: 3, from: mine }, () => {})
    const streams = limitStreams({ perAccount: 10, total: 2 })
    const slots = [1, 2].map((account) => streams.take({ account, from: theirs }, true))
    streams.take({ account: 3, from: mine }, true)
    expect([slots.map(({ ended }) => ended.aborted), streams.open()]).to.deep.equal([[false, true], 2])
    for (const what of ['rehearsal', 'reclassification'] as const) {
      const start = limitToOne(what, 2)
      const begun = [1, 2].map((account) => start({ account, from: theirs }))
      start({ account: 3, from: mine })
      expect(begun.map((one) => one.lost.aborted)).to.deep.equal([false, true])
    }
    expect(lost).to.deep.equal(['export 2'])
  })
})
