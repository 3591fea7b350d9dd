import { expect } from 'chai'
import { readShortAddress } from '../../../src/lib/short/address.ts'

describe('a short address as a person writes it', () => {
  const host = 'go.example.com'

  it('is the link or the bio page of its first part, with any further parts', () => {
    for (const rest of ['', '/', '/1', '/login/paypal', '/a/b/?x=1', '/%E4%B8%AD', '//x', '/a b', '?a=/qr/x', '#/r/x'])
      expect(readShortAddress(`https://Go.example.com/Sale${rest}`), rest).to.deep.equal({
        host,
        kind: 'alias',
        name: 'sale',
      })
    expect(readShortAddress('/sale/login')).to.deep.equal({ host: undefined, kind: 'alias', name: 'sale' })
  })

  it('is that of a QR code or of a campaign', () => {
    expect(readShortAddress('go.example.com/qr/Menu.png')).to.deep.equal({ host, kind: 'qr', name: 'menu' })
    expect(readShortAddress('go.example.com/r/spring')).to.deep.equal({ host, kind: 'campaign', name: 'spring' })
    expect(readShortAddress('/u/Ann/Spring-sale-7/')).to.deep.equal({
      ...{ host: undefined, kind: 'list' },
      name: 'ann/spring-sale-7',
    })
  })

  it('is none without an alias, and with a user before the host', () => {
    for (const text of [
      '',
      '/',
      'https://go.example.com',
      'https://go.example.com//sale',
      'a@go.example.com/sale',
      '/!x/y',
    ])
      expect(readShortAddress(text), text).to.equal(undefined)
  })
})
