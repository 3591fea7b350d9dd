import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { normalHost, safeTargetUrl, urlLimit } from '../../src/lib/url.ts'
import { phraseOf } from '../../src/lib/problems/problem.ts'
import { appUrls, unsafeUrls } from '../data/unsafe-urls.ts'
import { cpuTime } from '../support/clock.ts'
import { anyText } from '../support/text.ts'

const realUrls = readFileSync(new URL('../data/urls.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')

const accepted = (input: string): string => {
  const safe = safeTargetUrl(input)
  if (!safe.ok) throw new Error(`${input} ${safe.problem.code}`)
  return safe.url
}

const problem = (input: string): string => {
  const safe = safeTargetUrl(input)
  if (safe.ok) throw new Error(`accepted ${JSON.stringify(input)} as ${safe.url}`)
  return phraseOf(safe.problem, '').trimStart()
}

describe('safeTargetUrl', () => {
  it('accepts every address of a large collection from the real web and writes it as a browser does', () => {
    expect(realUrls.length).to.be.at.least(300)
    for (const url of realUrls) expect(accepted(url)).to.equal(new URL(url).href)
  })

  it('accepts its own output unchanged', () => {
    for (const url of realUrls) expect(accepted(accepted(url))).to.equal(accepted(url))
  })

  it('keeps host, path, query and fragment of the address', () => {
    for (const url of realUrls) {
      const [given, stored] = [new URL(url), new URL(accepted(url))]
      for (const part of ['protocol', 'host', 'pathname', 'search', 'hash'] as const) {
        expect(stored[part], url).to.equal(given[part])
      }
    }
  })

  it('rejects every address of the malicious collection and names a valid form', () => {
    expect(unsafeUrls.length).to.be.at.least(60)
    for (const url of [...unsafeUrls, ...appUrls]) expect(problem(url)).to.match(/^must .{20,}/)
  })

  it('adds https:// to an address that starts with a dotted host', () => {
    expect(accepted('example.com')).to.equal('https://example.com/')
    expect(accepted('example.com/a?b=c:d@e#f')).to.equal('https://example.com/a?b=c:d@e#f')
    expect(accepted('example.com:8080/x')).to.equal('https://example.com:8080/x')
    expect(accepted('Example.COM?q=1')).to.equal('https://example.com/?q=1')
    expect(accepted('münchen.de')).to.equal('https://xn--mnchen-3ya.de/')
    expect(accepted('203.0.113.7:8080/x')).to.equal('https://203.0.113.7:8080/x')
    expect(accepted('example.com.')).to.equal('https://example.com./')
  })

  it('keeps http and writes hosts in lower case and punycode', () => {
    expect(accepted('HTTP://EXAMPLE.com')).to.equal('http://example.com/')
    expect(accepted('https://BÜCHER.de/Straße')).to.equal('https://xn--bcher-kva.de/Stra%C3%9Fe')
    expect(accepted('https://example.com:443/')).to.equal('https://example.com/')
  })

  it('accepts an intranet host or a numeric host with a scheme', () => {
    expect(accepted('http://localhost:3000/a')).to.equal('http://localhost:3000/a')
    expect(accepted('http://0x7f000001/')).to.equal('http://127.0.0.1/')
    expect(accepted('http://[2001:DB8::1]:8080/')).to.equal('http://[2001:db8::1]:8080/')
  })

  it('accepts an @ after the host', () => {
    expect(accepted('https://example.com/@user')).to.equal('https://example.com/@user')
    expect(accepted('https://example.com?mail=a@b.c')).to.equal('https://example.com/?mail=a@b.c')
  })

  it('accepts at most 2,048 characters, before and after percent-encoding', () => {
    const start = 'https://example.com/'
    expect(accepted(start + 'a'.repeat(urlLimit - start.length))).to.have.length(urlLimit)
    expect(problem(start + 'a'.repeat(urlLimit - start.length + 1))).to.include('2,048 characters')
    expect(problem(start + 'é'.repeat(400))).to.include('once it is percent-encoded')
    expect(problem('example.com/' + 'a'.repeat(urlLimit - 12))).to.include('once it is percent-encoded')
  })

  it('gives the same result after V8 has optimised it', () => {
    for (let n = 0; n < 20_000; n += 1) accepted('https://bücher.de/')
    expect(normalHost('bücher.de')).to.equal('xn--bcher-kva.de')
  })

  it('names the problem', () => {
    expect(problem('')).to.include('must not be empty')
    expect(problem('javascript:alert(1)')).to.include('http:// or https://')
    expect(problem('https://user:secret@example.com/')).to.include('user name or password')
    expect(problem('https://example.com/a b')).to.include('%20')
    expect(problem('https://example.com\\a')).to.include('backslash')
    expect(problem('https://example..com/')).to.include('host')
  })

  it('accepts nothing but plain ASCII http and https addresses, for any input', () => {
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
      anyText({ maxLength: 60 }),
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
      fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')),
      fc.array(pieces, { maxLength: 12 }).map((all) => `https://${all.join('')}`),
    )
    fc.assert(
      fc.property(text, (input) => {
        const safe = safeTargetUrl(input)
        if (!safe.ok) return phraseOf(safe.problem, '').trimStart().length > 0
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

  it('handles 100 KB of any character in bounded time', async () => {
    for (const piece of [' ', 'a.', 'https://', '@', '\\', '%', 'a', '中', '[', ':1']) {
      const long = piece.repeat(100_000 / piece.length)
      const { ms } = await cpuTime(() => {
        problem(long)
        safeTargetUrl(long.slice(0, urlLimit))
        safeTargetUrl(`https://${long.slice(0, urlLimit - 8)}`)
      })
      expect(ms, piece).to.be.below(2000)
    }
  })
})

describe('a punycode host', () => {
  // the URL parsers of Node 20, 22, 24 and 26 disagree about the invalid ones
  const valid = [
    'xn--mnchen-3ya.de',
    'XN--MNCHEN-3YA.de',
    'xn--ls8h.la',
    'xn--fa-hia.de',
    'xn--mgba3gch31f060k.com',
    'a.xn--fiqs8s.',
  ]
  const invalid = [
    'xn--',
    'xn--.com',
    'a.xn--.b',
    'xn---',
    'xn--a',
    'xn--0.de',
    'xn--example-.com',
    'xn--xn---epa',
    'xn--a-ecp.ru',
  ]

  it('is accepted when each label decodes to a name outside ASCII', () => {
    for (const host of valid) {
      expect(accepted(`https://${host}/`), host).to.equal(`https://${host.toLowerCase()}/`)
      expect(normalHost(host), host).to.equal(host.toLowerCase().replace(/\.$/, ''))
    }
  })

  it('is rejected when a label is empty, does not decode or decodes to ASCII, on every version of Node', () => {
    for (const host of invalid) {
      expect(problem(`https://${host}/`), host).to.include('must have a valid host')
      expect(normalHost(host), host).to.equal('')
    }
  })
})

describe('normalHost', () => {
  it('removes port, trailing dot and www., and writes lower case and punycode', () => {
    expect(normalHost('Example.COM.:8080')).to.equal('example.com')
    expect(normalHost('www.Example.com')).to.equal('example.com')
    expect(normalHost('münchen.de')).to.equal('xn--mnchen-3ya.de')
    expect(normalHost('[::1]:3000')).to.equal('[::1]')
    expect(normalHost('127.1')).to.equal('127.0.0.1')
    expect(normalHost('www.')).to.equal('www')
  })

  it('gives every spelling of a host the same result', () => {
    const spellingVariants = {
      'sho.rt': ['sho.rt', 'SHO.rt', 'sho.rt.', 'www.sho.rt', 'WWW.sho.rt.:8443', 'sho.rt:1', 'sho%2Ert', 'sho。rt'],
      'xn--krz-hoa.de': ['kürz.de', 'XN--KRZ-HOA.de'],
      '192.0.2.1': ['192.0.2.1', '0xc0000201', '3221225985'],
    }
    for (const [normal, hosts] of Object.entries(spellingVariants))
      for (const host of hosts) expect(normalHost(host), host).to.equal(normal)
  })

  it('keeps hosts apart that only resemble each other', () => {
    for (const host of ['a.sho.rt', 'sho.rt.evil.com', 'notsho.rt']) expect(normalHost(host)).to.equal(host)
  })

  it('is empty for text that is not a host', () => {
    for (const text of [
      '',
      ' ',
      'a@b',
      'a/b',
      'a b',
      'a\\b',
      'a?b',
      '%',
      '[::1',
      'x:y',
      'xn--',
      '..',
      'a..',
      '.a',
      'a..b',
    ]) {
      expect(normalHost(text), text).to.equal('')
    }
  })

  it('does not change a normal host', () => {
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
          // a second leading www. would be removed again
          return host === '' || host.startsWith('www.') || normalHost(host) === host
        },
      ),
    )
  })
})
