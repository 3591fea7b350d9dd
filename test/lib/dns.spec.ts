import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { expect } from 'chai'
import { openResolver, pointingOf, textsAt } from '../../src/lib/dns.ts'
import { fakeDns } from '../support/dns.ts'

/** A response to a DNS query (RFC 1035) with one TXT record, in two parts. */
const txtAnswer = (query: Buffer, parts: readonly string[]) => {
  const question = query.subarray(12, query.indexOf(0, 12) + 5)
  const data = Buffer.concat(parts.map((part) => Buffer.concat([Buffer.from([part.length]), Buffer.from(part)])))
  const header = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
  const record = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, data.length >> 8, data.length & 255])
  return Buffer.concat([header, question, record, data])
}

describe('looking up the DNS of a branded domain', () => {
  let server: Socket
  let asked: string[]
  before(async () => {
    server = createSocket('udp4').bind(0, '127.0.0.1')
    server.on('message', (query, { port, address }) => {
      asked.push(query.toString('latin1', 12))
      server.send(txtAnswer(query, ['linkledger-', 'token']), port, address)
    })
    await once(server, 'listening')
  })
  beforeEach(() => (asked = []))
  after(() => server.close())

  it('asks the name server itself, and joins the parts of a record', async () => {
    const resolver = openResolver([`127.0.0.1:${server.address().port}`])
    expect(await textsAt('_linkledger.go.example', resolver)).to.deep.equal(['linkledger-token'])
    expect(asked).to.have.length(1)
  })

  it('distinguishes a name without records from one whose name servers do not respond', async () => {
    const { resolver, silent, a } = fakeDns()
    silent.add('silent.example')
    expect(await textsAt('none.example', resolver)).to.deep.equal([])
    expect(await textsAt('silent.example', resolver)).to.equal(undefined)
    expect(await pointingOf('none.example', ['203.0.113.9'], resolver)).to.deep.equal({ found: [], matches: false })
    expect((await pointingOf('silent.example', ['203.0.113.9'], resolver)).matches).to.equal(undefined)
    a.set('go.example', ['192.0.2.1'])
    expect((await pointingOf('go.example', ['silent.example'], resolver)).matches).to.equal(undefined)
    expect((await pointingOf('go.example', ['silent.example', '192.0.2.1'], resolver)).matches).to.equal(true)
  })
})
