import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { normalHost, ourAddress, safeTargetUrl, urlLimit } from '../../src/lib/url.ts'
import { unsafeUrls } from '../data/unsafe-urls.ts'

const realUrls = readFileSync(new URL('../data/urls.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')

const accepted = (input: string): string => {
  const safe = safeTargetUrl(input)
  if (!safe.ok) throw new Error(`${input} ${safe.problem}`)
  return safe.url
}

const problem = (input: string): string => {
  const safe = safeTargetUrl(input)
  if (safe.ok) throw new Error(`accepted ${JSON.stringify(input)} as ${safe.url}`)
  return safe.problem
}

describe('a URL field', () => {
  it('accepts every address of a large collection from the real web, as browsers write it', () => {
    expect(realUrls.length).to.be.at.least(300)
    for (const url of realUrls) expect(accepted(url)).to.equal(new URL(url).href)
  })

  it('accepts its own output unchanged', () => {
    for (const url of realUrls) expect(accepted(accepted(url))).to.equal(accepted(url))
  })

  it('leads to the same host, path, query and fragment as the address that was given', () => {
    for (const url of realUrls) {
      const [given, stored] = [new URL(url), new URL(accepted(url))]
      for (const part of ['protocol', 'host', 'pathname', 'search', 'hash'] as const) {
        expect(stored[part], url).to.equal(given[part])
      }
    }
  })

  it('refuses every address of the malicious collection, and says what would be right', () => {
    expect(unsafeUrls.length).to.be.at.least(60)
    for (const url of unsafeUrls) expect(problem(url)).to.match(/^(must|is|contains|has) .{20,}/)
  })

  it('adds https:// where only a dotted host stands', () => {
    expect(accepted('example.com')).to.equal('https://example.com/')
    expect(accepted('example.com/a?b=c:d@e#f')).to.equal('https://example.com/a?b=c:d@e#f')
    expect(accepted('example.com:8080/x')).to.equal('https://example.com:8080/x')
    expect(accepted('Example.COM?q=1')).to.equal('https://example.com/?q=1')
    expect(accepted('münchen.de')).to.equal('https://xn--mnchen-3ya.de/')
    expect(accepted('203.0.113.7:8080/x')).to.equal('https://203.0.113.7:8080/x')
    expect(accepted('example.com.')).to.equal('https://example.com./')
  })

  it('keeps http, and writes hosts in lower case and punycode', () => {
    expect(accepted('HTTP://EXAMPLE.com')).to.equal('http://example.com/')
    expect(accepted('https://BÜCHER.de/Straße')).to.equal('https://xn--bcher-kva.de/Stra%C3%9Fe')
    expect(accepted('https://example.com:443/')).to.equal('https://example.com/')
  })

  it('accepts an intranet host and a numeric one when the scheme is given', () => {
    expect(accepted('http://localhost:3000/a')).to.equal('http://localhost:3000/a')
    expect(accepted('http://0x7f000001/')).to.equal('http://127.0.0.1/')
    expect(accepted('http://[2001:DB8::1]:8080/')).to.equal('http://[2001:db8::1]:8080/')
  })

  it('lets an @ stand behind the host', () => {
    expect(accepted('https://example.com/@user')).to.equal('https://example.com/@user')
    expect(accepted('https://example.com?mail=a@b.c')).to.equal('https://example.com/?mail=a@b.c')
  })

  it('takes 2,048 characters and no more, before and after encoding', () => {
    const start = 'https://example.com/'
    expect(accepted(start + 'a'.repeat(urlLimit - start.length))).to.have.length(urlLimit)
    expect(problem(start + 'a'.repeat(urlLimit - start.length + 1))).to.include('2,048 characters')
    expect(problem(start + 'é'.repeat(400))).to.include('once it is percent-encoded')
    expect(problem('example.com/' + 'a'.repeat(urlLimit - 12))).to.include('once it is percent-encoded')
  })

  it('is judged alike however often it is asked', () => {
    for (let n = 0; n < 20_000; n += 1) accepted('https://bücher.de/')
    expect(normalHost('bücher.de')).to.equal('xn--bcher-kva.de')
  })

  it('names what is wrong', () => {
    expect(problem('')).to.include('must not be empty')
    expect(problem('javascript:alert(1)')).to.include('http:// or https://')
    expect(problem('https://user:secret@example.com/')).to.include('user name or a password')
    expect(problem('https://example.com/a b')).to.include('%20')
    expect(problem('https://example.com\\a')).to.include('backslash')
    expect(problem('https://example..com/')).to.include('host')
  })

  it('never accepts anything but plain ASCII http and https addresses, whatever is sent', () => {
    const pieces = fc.constantFrom(
      ...[
        ['http', 'https', 'javascript', 'data', ':', '/', '//', '\\', '@', '.', '%', '#', '?', '&', ';', "'", '"', '<'],
        [
          'example',
          'com',
          'evil',
          '8080',
          '[',
          ']',
          '::1',
          'xn--',
          ' ',
          '\t',
          '\r\n',
          '\u0000',
          '\u202e',
          'é',
          '中',
          '。',
        ],
      ].flat(),
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
      fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')),
      fc.array(pieces, { maxLength: 12 }).map((all) => `https://${all.join('')}`),
    )
    fc.assert(
      fc.property(text, (input) => {
        const safe = safeTargetUrl(input)
        if (!safe.ok) return safe.problem.length > 0
        const url = new URL(safe.url)
        expect(safe.url).to.match(/^https?:\/\/[\w.[\]:-]+\/[\u0021-\u007e]*$/)
        expect(url.href).to.equal(safe.url)
        expect(url.username + url.password).to.equal('')
        expect(safe.url.length).to.be.at.most(urlLimit)
        return safeTargetUrl(safe.url).ok
      }),
      { numRuns: 1_000 },
    )
  })

  it('reads 100 KB of anything in bounded time', () => {
    for (const piece of [' ', 'a.', 'https://', '@', '\\', '%', 'a', '中', '[', ':1']) {
      const long = piece.repeat(100_000 / piece.length)
      const started = performance.now()
      problem(long)
      safeTargetUrl(long.slice(0, urlLimit))
      safeTargetUrl(`https://${long.slice(0, urlLimit - 8)}`)
      expect(performance.now() - started, piece).to.be.below(250)
    }
  })
})

describe('one of our own addresses', () => {
  const ours = (url: string) => ourAddress(url, (host) => ['sho.rt', 'xn--krz-hoa.de', '192.0.2.1'].includes(host))

  it('is known in every spelling of the host', () => {
    const spellings = [
      'https://sho.rt/a',
      'http://SHO.rt',
      'https://sho.rt./a',
      'https://www.sho.rt/a',
      'https://WWW.sho.rt.:8443/a',
    ]
    const others = [
      'https://sho.rt:1',
      'https://sho%2Ert/',
      'https://sho。rt/',
      'https://kürz.de/a',
      'https://XN--KRZ-HOA.de',
    ]
    for (const url of [...spellings, ...others, 'http://192.0.2.1/', 'http://0xc0000201/', 'http://3221225985/']) {
      expect(ours(url), url).to.equal(true)
    }
  })

  it('is not a host that only resembles it', () => {
    for (const url of [
      'https://a.sho.rt/',
      'https://sho.rt.evil.com/',
      'https://notsho.rt/',
      'https://evil.com/sho.rt',
      'https://evil.com/?sho.rt',
    ]) {
      expect(ours(url), url).to.equal(false)
    }
  })

  it('is not what is no address', () => {
    expect(ourAddress('sho.rt', () => true)).to.equal(false)
  })
})

describe('a normal host', () => {
  it('has no port, trailing dot, www. or capital, and is in punycode', () => {
    expect(normalHost('Example.COM.:8080')).to.equal('example.com')
    expect(normalHost('www.Example.com')).to.equal('example.com')
    expect(normalHost('münchen.de')).to.equal('xn--mnchen-3ya.de')
    expect(normalHost('[::1]:3000')).to.equal('[::1]')
    expect(normalHost('127.1')).to.equal('127.0.0.1')
    expect(normalHost('www.')).to.equal('www')
  })

  it('is empty for what is no host', () => {
    for (const text of ['', ' ', 'a@b', 'a/b', 'a b', 'a\\b', 'a?b', '%', '[::1', 'x:y', 'xn--']) {
      expect(normalHost(text), text).to.equal('')
    }
  })

  it('is its own normal host', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.domain(),
          fc.ipV4(),
          fc.ipV6().map((ip) => `[${ip}]`),
          fc.string(),
        ),
        (text) => {
          const host = normalHost(text)
          // only a second www. in front would be taken off again
          return host === '' || host.startsWith('www.') || normalHost(host) === host
        },
      ),
    )
  })
})
