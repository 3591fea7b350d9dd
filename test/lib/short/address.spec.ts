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
        keys: ['sale'],
      })
    expect(readShortAddress('/sale/login')).to.deep.equal({
      host: undefined,
      kind: 'alias',
      name: 'sale',
      keys: ['sale'],
    })
  })

  it('is that of a QR code or of a campaign', () => {
    expect(readShortAddress('go.example.com/qr/Menu.png')).to.deep.equal({
      host,
      kind: 'qr',
      name: 'menu',
      keys: ['menu'],
    })
    expect(readShortAddress('go.example.com/r/spring')).to.deep.equal({
      host,
      kind: 'campaign',
      name: 'spring',
      keys: ['spring'],
    })
    expect(readShortAddress('/u/Ann/Spring-sale-7/')).to.deep.equal({
      ...{ host: undefined, kind: 'list' },
      name: 'ann/spring-sale-7',
      keys: ['ann/spring-sale-7'],
    })
  })

  it('is a whole path, and its beginnings, where aliases are exact', () => {
    const read = (text: string) => readShortAddress(text, (named) => named === host)
    expect(read('https://Go.example.com/Sale/2026.html?x=1')).to.deep.equal({
      ...{ host, kind: 'alias', name: 'Sale/2026.html' },
      keys: ['/Sale/2026.html', '/Sale'],
    })
    expect(read('https://go.example.com/qr/Menu.')?.keys).to.deep.equal(['/qr/Menu.', '/qr/Menu', '/qr'])
    expect(read('qr/menu')).to.include({ kind: 'alias' })
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
