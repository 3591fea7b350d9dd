import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import fc from 'fast-check'
import { addressBlock, clientAddress, plainAddress } from '../../src/lib/address.ts'

describe('clientAddress and addressBlock', () => {
  const from = (forwarded: string | undefined, hops: number, remoteAddress: string | undefined = '192.0.2.1') => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    return clientAddress({ socket: { remoteAddress }, headers } as unknown as IncomingMessage, hops)
  }

  it('ignore X-Forwarded-For without trusted proxies', () => {
    for (const forwarded of [undefined, '', '8.8.8.8', '8.8.8.8, 1.1.1.1'])
      expect(from(forwarded, 0)).to.equal('192.0.2.1')
  })

  it('use the entry of the outermost trusted proxy, and none further left', () => {
    expect(from('8.8.8.8', 1)).to.equal('8.8.8.8')
    expect(from('evil, 8.8.8.8', 1)).to.equal('8.8.8.8')
    expect(from('evil, 8.8.8.8, 10.0.0.1', 2)).to.equal('8.8.8.8')
    expect(from(' evil ,8.8.8.8 ,, 10.0.0.1 ', 2)).to.equal('8.8.8.8')
  })

  it('use the leftmost entry, else the connection, when there are fewer entries than proxies', () => {
    expect(from('8.8.8.8', 3)).to.equal('8.8.8.8')
    for (const forwarded of [undefined, '', ' , ']) expect(from(forwarded, 2)).to.equal('192.0.2.1')
  })

  it('count an IPv6 address by its /64 and an IPv4 address by itself', () => {
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

describe('plainAddress', () => {
  it('returns one spelling per address', () => {
    expect(plainAddress('2001:DB8:0:0::1')).to.equal('2001:db8::1')
    expect(plainAddress('fe80::1%eth0')).to.equal('fe80::1')
    expect(plainAddress('::ffff:203.0.113.7')).to.equal('203.0.113.7')
    expect(plainAddress('::ffff:cb00:7107')).to.equal('203.0.113.7')
    expect(plainAddress('203.0.113.7')).to.equal('203.0.113.7')
    expect(plainAddress('::')).to.equal('::')
  })

  it('does not change a plain address, and unwraps IPv4-mapped addresses', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV6(), (four, six) => {
        expect(plainAddress(`::ffff:${four}`)).to.equal(four)
        expect(plainAddress(plainAddress(six))).to.equal(plainAddress(six))
      }),
    )
  })
})
