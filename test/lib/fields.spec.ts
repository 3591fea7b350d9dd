import { expect } from 'chai'
import { email } from '../../src/lib/fields.ts'

describe('an e-mail address', () => {
  it('has no characters that are invisible or move the cursor of a terminal', () => {
    for (const code of [0x08, 0x1b, 0x7f, 0x9b, 0xad, 0x200b, 0x202e, 0x2066, 0xfeff])
      for (const address of ['a?nn@example.com', 'ann@exa?mple.com', 'ann@example.c?om']) {
        const written = address.replace('?', String.fromCodePoint(code))
        expect(email.safeParse(written).success, `${code.toString(16)} ${address}`).to.equal(false)
      }
  })

  it('names one host, not an IP address, a list or a route that a mail server would act on', () => {
    for (const domain of [
      '[127.0.0.1]',
      '[ipv6:::1]',
      'x.com,b.com',
      'x.com;b.com',
      'x.com>',
      '<x.com',
      'x.com:25',
      '"x".com',
    ])
      expect(email.safeParse(`ann@${domain}`).success, domain).to.equal(false)
  })

  it('has letters of any language', () => {
    for (const address of ['jürgen@müller.example', 'анна@пример.example', "o'neil+x@example.com"])
      expect(email.safeParse(address).success, address).to.equal(true)
  })
})
