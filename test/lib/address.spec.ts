import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { addressBlock, clientAddress } from '../../src/lib/address.ts'

describe('the address of a client', () => {
  const from = (forwarded: string | undefined, hops: number, remoteAddress: string | undefined = '192.0.2.1') => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    return clientAddress({ socket: { remoteAddress }, headers } as unknown as IncomingMessage, hops)
  }

  it('is that of the connection, whatever the client says', () => {
    for (const forwarded of [undefined, '', '8.8.8.8', '8.8.8.8, 1.1.1.1'])
      expect(from(forwarded, 0)).to.equal('192.0.2.1')
  })

  it('is what the outermost trusted proxy saw, and never what stands further left', () => {
    expect(from('8.8.8.8', 1)).to.equal('8.8.8.8')
    expect(from('evil, 8.8.8.8', 1)).to.equal('8.8.8.8')
    expect(from('evil, 8.8.8.8, 10.0.0.1', 2)).to.equal('8.8.8.8')
    expect(from(' evil ,8.8.8.8 ,, 10.0.0.1 ', 2)).to.equal('8.8.8.8')
  })

  it('is what is there when the proxies say less than they should', () => {
    expect(from('8.8.8.8', 3)).to.equal('8.8.8.8')
    for (const forwarded of [undefined, '', ' , ']) expect(from(forwarded, 2)).to.equal('192.0.2.1')
  })

  it('counts as one with all of its IPv6 /64, and by itself as IPv4', () => {
    const blocks = {
      '192.0.2.1': '192.0.2.1',
      '::ffff:192.0.2.1': '192.0.2.1',
      '::FFFF:192.0.2.1': '192.0.2.1',
      '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
      '2001:DB8:0001:0002::9': '2001:db8:1:2::/64',
      '2001:db8::1': '2001:db8:0:0::/64',
      '::1': '0:0:0:0::/64',
      '::': '0:0:0:0::/64',
      'fe80::1%eth0': 'fe80:0:0:0::/64',
      'no address': 'no address',
    }
    for (const [address, block] of Object.entries(blocks)) expect(addressBlock(address), address).to.equal(block)
  })
})
