import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createPageTurns } from '../../../../src/http/public/page/turns.ts'
import { isUnavailable } from '../../../../src/lib/unavailable.ts'

describe('pages that take long to write', () => {
  const requestFrom = (address: string) =>
    ({ headers: {}, socket: { remoteAddress: address } }) as unknown as IncomingMessage
  /** Returns turns, what continues with the next turn of the event loop, and who has written. */
  const begin = () => {
    const later: (() => void)[] = []
    const written: string[] = []
    const turn = createPageTurns(0, (next) => void later.push(next))
    const write = async (address: string) => {
      await turn(requestFrom(address))
      written.push(address)
    }
    const goOn = async () => {
      later.shift()?.()
      await nextTurn()
    }
    return { write, written, goOn }
  }

  it('are written one in a turn of the event loop, and networks take turns', async () => {
    const { write, written, goOn } = begin()
    for (let n = 0; n < 100; n++) void write('192.0.2.1')
    // of one site
    for (let n = 0; n < 100; n++) void write(`2001:db8:1:${n}::1`)
    void write('198.51.100.7')
    await nextTurn()
    expect(written).to.have.length(1)
    for (let n = 0; n < 4; n++) await goOn()
    expect(written).to.have.length(5)
    expect(written).to.include('198.51.100.7')
    for (let n = 0; n < 300; n++) await goOn()
    expect(written).to.have.length(201)
    await write('192.0.2.1')
  })

  it('are refused to a network of which a thousand wait, and to no other', async () => {
    const { write, written, goOn } = begin()
    const all = Array.from({ length: 1500 }, () => write('192.0.2.1'))
    const outcomes = Promise.allSettled(all)
    const other = write('198.51.100.7')
    for (let n = 0; n < 1100; n++) await goOn()
    await other
    const refused = (await outcomes).flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    expect([refused.length, written.length]).to.deep.equal([499, 1002])
    expect(refused.every(isUnavailable)).to.equal(true)
  })
})
