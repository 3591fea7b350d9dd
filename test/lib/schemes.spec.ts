import { expect } from 'chai'
import { addressesBehind, isAllowable, isWeb, safeDestination, schemeOf, webHost } from '../../src/lib/schemes.ts'
import { appUrls, unsafeUrls } from '../data/unsafe-urls.ts'

/** Returns spellings that some program may read as the same scheme. */
const spellingsOf = (scheme: string): readonly string[] => {
  const upper = scheme.toUpperCase()
  const mixed = `${upper[0]}${scheme.slice(1)}`
  const between = ['\t', '\n', '\r', '\0', ' ', '\u200b', '\u00ad', '\u202e', '\ufeff'].flatMap((char) => [
    `${char}${scheme}`,
    `${scheme.slice(0, 2)}${char}${scheme.slice(2)}`,
    `${scheme}${char}`,
  ])
  const escaped = [
    `%${scheme.charCodeAt(0).toString(16)}${scheme.slice(1)}`,
    `&#x${scheme.charCodeAt(0).toString(16)};${scheme.slice(1)}`,
  ]
  const wide = String.fromCharCode(...Array.from(scheme, (char) => char.charCodeAt(0) + 0xfee0))
  return [scheme, upper, mixed, ...between, ...escaped, wide]
}

describe('a destination that another program opens', () => {
  it('is a whole address for mail, telephone, text message or place, and is stored with its scheme in lower case', () => {
    for (const url of appUrls) {
      const found = safeDestination(url)
      expect(found, url).to.deep.equal({ ok: true, url: url.replace(/^MAILTO/, 'mailto'), entered: url })
    }
    expect(safeDestination('mailto:jörg@example.com?subject=für Ann')).to.deep.include({ ok: false })
    expect(safeDestination('mailto:a@example.com?subject=für%20Ann')).to.include({
      url: 'mailto:a@example.com?subject=f%C3%BCr%20Ann',
    })
  })

  it('is refused without the parts that its scheme needs', () => {
    for (const url of [
      'mailto:',
      'mailto:ann',
      'mailto://a@b.c',
      'tel:',
      'tel:ann',
      'sms:',
      'sms:x',
      'geo:',
      'geo:here',
      'geo:1',
    ])
      expect(safeDestination(url), url).to.include({ ok: false })
  })

  it('is never javascript, data, file, blob or vbscript, in any spelling', () => {
    for (const scheme of ['javascript', 'data', 'file', 'blob', 'vbscript']) {
      for (const spelling of spellingsOf(scheme))
        for (const rest of [':alert(1)', '://example.com/%0aalert(1)', '&colon;alert(1)', '：alert(1)'])
          expect(safeDestination(`${spelling}${rest}`), JSON.stringify(spelling + rest)).to.include({ ok: false })
      expect([scheme, scheme.toUpperCase()].map(isAllowable)).to.deep.equal([false, false])
    }
  })

  it('has no scheme that browsers use themselves, even if an operator allows it', () => {
    for (const scheme of [
      'http',
      'https',
      'about',
      'view-source',
      'ws',
      'ftp',
      '',
      'MyApp',
      '1app',
      'my app',
      'a'.repeat(64),
    ])
      expect(isAllowable(scheme), scheme).to.equal(false)
    for (const scheme of ['myapp', 'com.example.app', 'a+b', 'x-1']) expect(isAllowable(scheme), scheme).to.equal(true)
  })

  it('may be of an app, which the caller has to allow, but has no user name, whitespace or backslash', () => {
    expect(safeDestination('MyApp://open/7?a=b#c')).to.include({ ok: true, url: 'myapp://open/7?a=b#c' })
    for (const url of ['myapp:', 'myapp://ann:word@open/', 'myapp:a b', 'myapp:\\\\host', `myapp:${'x'.repeat(2048)}`])
      expect(safeDestination(url), url).to.include({ ok: false })
    expect(unsafeUrls.filter((url) => safeDestination(url).ok && !/^(?:[a-z][a-z\d+.-]*):/i.test(url))).to.deep.equal(
      [],
    )
  })

  it('is no host of ours or of others, but its recipients have one', () => {
    expect([isWeb('mailto:a@b.c'), webHost('mailto:a@b.c'), schemeOf('mailto:a@b.c')]).to.deep.equal([
      false,
      '',
      'mailto',
    ])
    expect(webHost('https://example.com:8080/x')).to.equal('example.com:8080')
    expect(webHost('myapp://example.com/x')).to.equal('')
    expect(
      addressesBehind('mailto:a@one.example,b@two.example?cc=c@three.example&subject=d@four.example'),
    ).to.deep.equal(['http://one.example/', 'http://two.example/', 'http://three.example/'])
    expect(addressesBehind('https://a@one.example/')).to.deep.equal([])
  })
})
