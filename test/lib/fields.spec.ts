import { expect } from 'chai'
import { alias, color, url } from '../../src/http/api/fields.ts'
import { email, expiry, ownEmail, text, verbatim } from '../../src/lib/fields.ts'

describe('a text of a request', () => {
  const address = 'https://example.com/t'

  it('has no spaces and line ends around it, which are copied with it', () => {
    for (const [before, after] of [
      [' ', ''],
      ['', '\n'],
      ['\t', ' \r\n'],
      ['\u00a0', '\ufeff'],
    ] as const) {
      const around = (value: string) => before + value + after
      expect(text(20).parse(around('a b'))).to.equal('a b')
      expect(alias.parse(around('my-link'))).to.equal('my-link')
      expect(color.parse(around('#ABCDEF'))).to.equal('#abcdef')
      expect(url.parse(around(address))).to.equal(address)
      expect(email.parse(around('Ann@example.com'))).to.equal('ann@example.com')
      expect(expiry.parse(around('2090-01-02'))).to.equal('2090-01-02T23:59:59.000Z')
      expect(verbatim(20).parse(around('a b')), 'a password').to.equal(around('a b'))
    }
    expect(url.parse(`\u200b${address}\u2060`)).to.equal(address)
  })

  it('keeps those within it, which an address cannot have', () => {
    for (const broken of ['https://example.com/ t', 'https://exam\nple.com/', 'https://example.com/\u200bt'])
      expect(url.safeParse(broken).success, broken).to.equal(false)
  })
})

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

  it('of an account has the one spelling that a mail server reads, or that of its language', () => {
    for (const address of [
      'bob@victim.example',
      'bob@bücher.example',
      'bob@xn--bcher-kva.example',
      'jürgen@müller.example',
    ])
      expect(ownEmail.safeParse(address).success, address).to.equal(true)
    for (const address of [
      'bob@ｖictim.example',
      'bob@victim。example',
      'bob@bu\u0308cher.example',
      'ju\u0308rgen@x.example',
    ])
      expect(ownEmail.safeParse(address).success, address).to.equal(false)
  })
})
