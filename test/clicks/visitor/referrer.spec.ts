import { expect } from 'chai'
import fc from 'fast-check'
import { network, referrerHost, referrerLimit } from '../../../src/clicks/visitor/referrer.ts'
import { cpuTime } from '../../support/clock.ts'
import { anyText } from '../../support/text.ts'

const ours = (host: string) => host === 'sho.rt'
const from = (header: string) => referrerHost(header, ours)

describe('a referrer', () => {
  it('is the host of the page without www., m., l. and lm.', () => {
    expect(from('https://example.com/a?b#c')).to.equal('example.com')
    expect(from('https://www.example.com/')).to.equal('example.com')
    expect(from('https://m.example.com/')).to.equal('example.com')
    expect(from('http://www.m.example.com:8080/')).to.equal('example.com')
    expect(from('https://WWW.Example.COM./')).to.equal('example.com')
    expect(from('https://news.example.com/')).to.equal('news.example.com')
    expect(from('https://www.münchen.de/')).to.equal('xn--mnchen-3ya.de')
    expect(from('https://user:secret@example.com/')).to.equal('example.com')
  })

  it('keeps the host when its name is the same as a prefix', () => {
    expect(from('https://m.me/page')).to.equal('m.me')
    expect(from('https://www.m.me/page')).to.equal('m.me')
    expect(from('https://l.ink/')).to.equal('l.ink')
    expect(from('https://mail.com/')).to.equal('mail.com')
    expect(from('https://wwwexample.com/')).to.equal('wwwexample.com')
    expect(from('http://intranet/page')).to.equal('intranet')
  })

  it('is the site behind a link shim', () => {
    const shims = {
      'https://t.co/abc': 'twitter.com',
      'https://mobile.twitter.com/': 'twitter.com',
      'https://l.facebook.com/l.php?u=x': 'facebook.com',
      'https://lm.facebook.com/l.php?u=x': 'facebook.com',
      'https://m.facebook.com/': 'facebook.com',
      'https://l.instagram.com/?u=x': 'instagram.com',
      'https://l.messenger.com/': 'messenger.com',
      'https://out.reddit.com/t3_1': 'reddit.com',
      'https://lnkd.in/abc': 'linkedin.com',
      'https://youtu.be/abc': 'youtube.com',
      'https://away.vk.com/away.php': 'vk.com',
      'https://slack-redir.net/link?url=x': 'slack.com',
      'https://nam02.safelinks.protection.outlook.com/?url=x': 'outlook.com',
      'https://www.t.co/': 'twitter.com',
    }
    for (const [header, site] of Object.entries(shims)) expect(from(header), header).to.equal(site)
  })

  it('is the site of an Android app, or its package name when the app is unknown', () => {
    expect(from('android-app://com.google.android.googlequicksearchbox/https/www.google.com')).to.equal('google.com')
    expect(from('android-app://com.google.android.gm/')).to.equal('mail.google.com')
    expect(from('android-app://com.linkedin.android')).to.equal('linkedin.com')
    expect(from('android-app://org.telegram.messenger')).to.equal('telegram.org')
    expect(from('android-app://com.example.Reader/')).to.equal('com.example.reader')
    expect(from('android-app://nonsense')).to.equal('')
    expect(from('android-app://a..b/')).to.equal('')
    expect(from('android-app://')).to.equal('')
  })

  it('is empty when the header is missing, malformed or not a web address', () => {
    const nothing = [
      '',
      ' ',
      '-',
      'example.com',
      '/path',
      'about:blank',
      'https://',
      'https://?',
      'http:',
      'null',
      'https://exa mple.com',
    ]
    const others = [
      'mailto:a@b.c',
      'file:///etc/passwd',
      'data:text/html,x',
      'javascript:alert(1)',
      'ios-app://544007664/youtube',
    ]
    for (const header of [...nothing, ...others]) expect(from(header), header).to.equal('')
  })

  it('is empty when it is one of our own hosts', () => {
    expect(from('https://sho.rt/abc')).to.equal('')
    expect(from('https://www.sho.rt./abc')).to.equal('')
    expect(from('http://SHO.RT:8080/')).to.equal('')
    expect(from('https://sho.rt.evil.com/')).to.equal('sho.rt.evil.com')
  })

  it('is never an IP address', () => {
    for (const host of ['203.0.113.7', '0x7f000001', '127.1', '[::1]', '[2001:db8::1]:8080']) {
      expect(from(`http://${host}/`), host).to.equal('')
    }
  })

  it('is not affected by names that every JavaScript object has', () => {
    expect(from('https://constructor/')).to.equal('constructor')
    expect(from('android-app://__proto__.constructor')).to.equal('')
    expect(from('android-app://to.string')).to.equal('to.string')
  })

  it('is read from the first 2 KiB in bounded time', async () => {
    expect(from(`https://example.com/${'a'.repeat(100_000)}`)).to.equal('example.com')
    expect(from(' '.repeat(referrerLimit) + 'https://example.com/')).to.equal('')
    for (const piece of [
      ' ',
      ',',
      'a.',
      'm.',
      'www.',
      '@',
      '/',
      '%',
      '\\',
      'é',
      '[',
      ':',
      'https://',
      'android-app://',
    ]) {
      const long = piece.repeat(100_000 / piece.length)
      const { ms } = await cpuTime(() => ['', 'https://', 'android-app://'].map((start) => from(start + long)))
      expect(ms, piece).to.be.below(2000)
    }
  })

  it('is the same after thousands of calls', () => {
    for (let n = 0; n < 20_000; n += 1) if (from('https://bücher.de/') === '') throw new Error(`lost after ${n}`)
  })

  it('is a lower-case host or empty for any header', () => {
    const header = fc.oneof(
      anyText({ maxLength: 100 }),
      fc.webUrl(),
      fc.string({ maxLength: 40 }).map((text) => `https://${text}`),
      fc.string({ maxLength: 40 }).map((text) => `android-app://${text}`),
    )
    fc.assert(
      fc.property(header, (text) => {
        const host = from(text)
        return host === '' || (host.length <= 253 && host === host.toLowerCase() && !/[\s/?#@:]/.test(host))
      }),
      { numRuns: 500 },
    )
  })
})

describe('the social count', () => {
  it('assigns the hosts of each network and their subdomains', () => {
    const hosts = {
      facebook: ['facebook.com', 'web.facebook.com', 'business.facebook.com', 'fb.me'],
      twitter: ['twitter.com', 'x.com', 'mobile.x.com'],
      instagram: ['instagram.com', 'about.instagram.com'],
      google: [
        'google.com',
        'google.de',
        'google.co.uk',
        'google.com.br',
        'google.cat',
        'news.google.com',
        'mail.google.co.jp',
      ],
    }
    for (const [name, all] of Object.entries(hosts)) for (const host of all) expect(network(host), host).to.equal(name)
  })

  it('ignores hosts that only look like those of a network', () => {
    const others = [
      ['', 'Direct', 'google', 'google.evil.com', 'notgoogle.com', 'google.com.evil.com', 'google.co.uk.evil.com'],
      [
        'googleusercontent.com',
        'google.community',
        'google.co.evil',
        'xgoogle.de',
        'facebook.com.evil.com',
        'notfacebook.com',
      ],
      [
        'facebook.net',
        'xfb.me',
        'notx.com',
        'x.com.evil.com',
        'netflix.com',
        'twitter.com.evil.com',
        'myinstagram.com',
      ],
      ['instagram.com.evil.com', 'facebook', 'example.com'],
    ].flat()
    for (const host of others) expect(network(host), host).to.equal(undefined)
  })

  it('includes visitors who came through a link shim', () => {
    expect(network(from('https://t.co/abc'))).to.equal('twitter')
    expect(network(from('https://lm.facebook.com/l.php'))).to.equal('facebook')
    expect(network(from('https://l.instagram.com/'))).to.equal('instagram')
    expect(network(from('android-app://com.google.android.googlequicksearchbox/'))).to.equal('google')
  })
})
