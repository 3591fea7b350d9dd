import { expect } from 'chai'
import { blockList, matches, readHost, readPattern } from '../../src/lib/blocklist.ts'

const finds = (list: ReturnType<typeof blockList>, url: string) => list.find(new URL(url))

describe('a list of blocked hosts and patterns', () => {
  const list = blockList({
    hosts: new Set(['evil.example', '192.0.2.7', '2001:db8::7', 'xn--bse-sna.example']),
    alone: new Set(['co.uk']),
    patterns: ['sites.example/view/bad*', '*paypal*.example', '*/wp-login/*.exe'],
  })

  it('finds a host and every host below it, in each spelling that a browser follows', () => {
    for (const url of [
      'https://evil.example/',
      'http://EVIL.example.:8080/x?y#z',
      'https://a.b.evil.example/',
      'https://ev%69l.example/',
      'https://ｅvil.example/',
    ])
      expect(finds(list, url), url).to.equal('evil.example')
    expect(finds(list, 'https://böse.example/')).to.equal('xn--bse-sna.example')
  })

  it('finds an IP address in each spelling', () => {
    for (const url of ['http://192.0.2.7/', 'http://3221225991/', 'http://0xc0.0.2.7/', 'http://[::ffff:192.0.2.7]/'])
      expect(finds(list, url), url).to.equal('192.0.2.7')
    expect(finds(list, 'http://[2001:DB8:0::7]/')).to.equal('2001:db8::7')
    // where a phone in a network without IPv4 goes for 192.0.2.7
    expect(finds(list, 'http://[64:ff9b::192.0.2.7]/')).to.equal('192.0.2.7')
  })

  it('finds no other host', () => {
    for (const url of ['https://notevil.example/', 'https://example/', 'https://evil.example.org/', 'http://0.2.7/'])
      expect(finds(list, url), url).to.equal(undefined)
  })

  it('finds a public suffix alone, not the hosts below it', () => {
    expect(finds(list, 'https://co.uk/')).to.equal('co.uk')
    expect(finds(list, 'https://good.co.uk/')).to.equal(undefined)
  })

  it('finds a pattern in any letter case and with any escapes of the address', () => {
    for (const path of [
      'view/bad',
      'VIEW/Bad-1?x',
      'v%69ew/%62ad',
      'view/b%61d/%ff',
      '/view//bad',
      'view%2Fbad',
      'view/bad%C3%A9#/x',
    ])
      expect(finds(list, `https://sites.example/${path}`), path).to.equal('sites.example/view/bad*')
    expect(finds(list, 'https://www.sites.example/view/bad')).to.equal('sites.example/view/bad*')
    expect(finds(list, 'https://sites.example/view/good')).to.equal(undefined)
    expect(finds(list, 'https://x.my-paypal-login.example/')).to.equal('*paypal*.example')
    expect(finds(list, 'https://any.example/wp-login/setup.exe')).to.equal('*/wp-login/*.exe')
  })

  it('takes no longer for a pattern that an expression would take forever for', () => {
    const pattern = `${'a*'.repeat(100)}b`
    expect(matches(pattern, 'a'.repeat(2000))).to.equal(false)
    expect(matches('a*b*c', 'aXbYc')).to.equal(true)
    expect(matches('*', '')).to.equal(true)
    expect(matches('', 'x')).to.equal(false)
  })

  it('reads hosts in one spelling', () => {
    const hosts: readonly [text: string, host: string | undefined][] = [
      ['Evil.Example.', 'evil.example'],
      ['böse.example', 'xn--bse-sna.example'],
      ['[2001:DB8::7]', '2001:db8::7'],
      ['0300.0.2.7', '192.0.2.7'],
      ['zip', 'zip'],
      ['a b', undefined],
      ['evil.example/x', undefined],
      ['evil.example:80', undefined],
      ['*.example', undefined],
      ['', undefined],
    ]
    for (const [text, host] of hosts) expect(readHost(text), text).to.equal(host)
  })

  it('reads patterns in one spelling, and none that would match everything', () => {
    expect(readPattern('https://Sites.Example/V%69ew/*')).to.equal('sites.example/view/*')
    expect(readPattern('*.evil.example')).to.equal('*.evil.example')
    expect(readPattern('evil.example/\u001b[31m*'), 'a control character').to.equal(undefined)
    expect(readPattern('*/wp-login/*')).to.equal('*/wp-login/*')
    for (const text of ['*', '**', '*.*', '*/*', '/x', '', 'a b', 'evil.example:80/x', `x.example/${'y'.repeat(600)}`])
      expect(readPattern(text), text).to.equal(undefined)
  })
})
