import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import fc from 'fast-check'
import { addressBlock, clientAddress, plainAddress, type TrustedProxies } from '../../src/lib/address.ts'
import { inNetworks } from '../../src/lib/networks.ts'

describe('clientAddress and addressBlock', () => {
  const from = (
    forwarded: string | undefined,
    proxies: TrustedProxies,
    remoteAddress: string | undefined = '192.0.2.1',
  ) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    return clientAddress({ socket: { remoteAddress }, headers } as unknown as IncomingMessage, proxies)
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

  it('use the first entry from the right that is not a trusted proxy', () => {
    const proxies = inNetworks(['192.0.2.0/24', '10.0.0.0/8', '::1'])
    expect(from('8.8.8.8', proxies)).to.equal('8.8.8.8')
    expect(from('1.2.3.4, 8.8.8.8', proxies)).to.equal('8.8.8.8')
    expect(from('1.2.3.4, 8.8.8.8, 10.1.2.3, ::ffff:10.0.0.1', proxies)).to.equal('8.8.8.8')
    expect(from('8.8.8.8, 10.1.2.3', proxies, '::ffff:192.0.2.9')).to.equal('8.8.8.8')
    expect(from('10.1.2.3, 10.0.0.1', proxies), 'all are proxies').to.equal('10.1.2.3')
    expect(from(undefined, proxies)).to.equal('192.0.2.1')
  })

  it('believe no header of a connection that is not from a trusted proxy', () => {
    for (const peer of ['203.0.113.9', '::ffff:203.0.113.9', '2001:db8::1', ''])
      expect(from('8.8.8.8, 10.0.0.1', inNetworks(['10.0.0.0/8', '192.0.2.1']), peer)).to.equal(peer)
  })

  it('remove ports from entries, so that a client has one address', () => {
    const entries = {
      '1.2.3.4:5678': '1.2.3.4',
      '[::1]:80': '::1',
      '[2001:DB8::1]': '2001:db8::1',
      '2001:db8::1:80': '2001:db8::1:80',
      '::ffff:1.2.3.4': '1.2.3.4',
      'fe80::1%eth0': 'fe80::1',
    }
    for (const proxies of [1, inNetworks(['192.0.2.1'])])
      for (const [entry, address] of Object.entries(entries)) expect(from(entry, proxies), entry).to.equal(address)
    expect(from('8.8.8.8, 10.0.0.1:80', inNetworks(['192.0.2.1', '10.0.0.1']))).to.equal('8.8.8.8')
  })

  it('use the connection when the entry is no address', () => {
    for (const proxies of [1, inNetworks(['192.0.2.1'])])
      for (const junk of [
        'unknown',
        '1.2.3',
        '1.2.3.4:',
        '1.2.3.4:5:6',
        '[]',
        '[1.2.3.4',
        '\0',
        "' or 1=1",
        'x'.repeat(6600),
        '8.8.8.8, x',
      ])
        expect(from(junk, proxies), junk).to.equal('192.0.2.1')
    const proxies = inNetworks(['192.0.2.1'])
    expect(from(`${'192.0.2.1,'.repeat(1500)}192.0.2.1`, proxies)).to.equal('192.0.2.1')
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
