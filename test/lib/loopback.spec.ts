import { expect } from 'chai'
import { isLoopback } from '../../src/lib/loopback.ts'

describe('a host that leads every machine to itself', () => {
  it('is localhost, a name below it, or a loopback address', () => {
    for (const host of ['localhost', 'go.localhost', '127.0.0.1', '127.1.2.3', '[::1]', '::1'])
      expect(isLoopback(host), host).to.equal(true)
  })

  it('is no other name or address', () => {
    for (const host of ['go.example.com', 'localhost.example.com', 'notlocalhost', '192.168.1.7', '128.0.0.1', '[::2]'])
      expect(isLoopback(host), host).to.equal(false)
  })
})
