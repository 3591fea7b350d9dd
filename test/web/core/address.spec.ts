import { expect } from 'chai'
import { localHostIn, withoutScheme } from '../../../src/web/core/address.ts'

describe('an address in the dashboard', () => {
  it('is read without its scheme', () => {
    expect(['https://go.example.com/a', 'http://localhost:3000'].map(withoutScheme)).to.deep.equal([
      'go.example.com/a',
      'localhost:3000',
    ])
  })

  it('has a host that only this machine can open, or not', () => {
    expect(['http://localhost:3000/abc', 'http://127.0.0.1/abc', 'https://[::1]:8443'].map(localHostIn)).to.deep.equal([
      'localhost:3000',
      '127.0.0.1',
      '[::1]:8443',
    ])
    for (const text of ['https://go.example.com/localhost', 'localhost:3000', 'WIFI:T:WPA;S:localhost;;', ''])
      expect(localHostIn(text), text).to.equal(undefined)
  })
})
