import { expect } from 'chai'
import { resolve, type Visitor } from '../../../../src/http/public/link/resolve.ts'
import { overlay as overlays } from '../../../../src/commands/pages/overlay.ts'
import { splash as splashes } from '../../../../src/commands/pages/splash.ts'
import { type Parts, interstitialOf, type Target } from '../../../../src/queries/links/target.ts'
import { preferredLanguages } from '../../../../src/clicks/visitor/language.ts'
import { isBrowser, isDevice } from '../../../../src/clicks/visitor/agent.ts'

const now = Date.parse('2026-06-01T12:00:00Z')
const agents = {
  iphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1',
  ipad: 'Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1',
  pixel:
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36',
  galaxyTab:
    'Mozilla/5.0 (Linux; Android 13; SM-X710) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36',
  windows:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  mac: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15',
  linux: 'Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0',
}

const at = (name: string, url = `https://${name.toLowerCase().replaceAll(/\W/g, '-')}.example/`) => ({ name, url })
const target = (over: Partial<Target> = {}): Target =>
  ({
    link: 1,
    account: 1,
    revision: 0,
    position: 1n,
    domain: null,
    aliasKey: 'a',
    url: 'https://example.com/',
    type: 'direct',
    location: [],
    device: [],
    browser: [],
    language: [],
    parameters: [],
    unframed: [],
    pixels: [],
    password: null,
    expiry: null,
    starts: null,
    expired_url: '',
    max_clicks: null,
    forward: false,
    variants: [],
    ...over,
  }) as Target
const visitor = (over: Partial<Visitor> & { readonly header?: string; readonly from?: string } = {}): Visitor => ({
  unlocked: false,
  agent: agents.windows,
  isDevice: (name) => isDevice(name, over.agent ?? agents.windows),
  isBrowser: (name) => isBrowser(name, over.agent ?? agents.windows),
  country: () => over.from ?? '',
  languages: () => preferredLanguages(over.header ?? ''),
  untracked: () => false,
  secure: () => true,
  query: () => '',
  chance: () => 0.5,
  ...over,
})
const go = (t: Partial<Target>, v: Parameters<typeof visitor>[0] = {}) =>
  resolve(target(t), visitor(v), now, (host) => host === 'ours.example')

describe('the destination of a visitor', () => {
  it("is the link's own URL when no rule matches", () => {
    expect(go({})).to.deep.equal({ to: 'destination', url: 'https://example.com/', rule: 'link', way: 'redirect' })
  })

  const meant: Record<string, (keyof typeof agents)[]> = {
    iphone: ['iphone'],
    ipad: ['ipad'],
    ios: ['iphone', 'ipad'],
    android: ['pixel', 'galaxyTab'],
    mobile: ['iphone', 'pixel'],
    tablet: ['ipad', 'galaxyTab'],
    desktop: ['windows', 'mac', 'linux'],
    windows: ['windows'],
    mac: ['mac'],
    linux: ['linux'],
  }
  for (const [name, those] of Object.entries(meant))
    it(`is the target for ${name} on ${those.join(', ')} and on no other device`, () => {
      for (const [who, agent] of Object.entries(agents)) {
        const { rule } = go({ device: [at(name.toUpperCase())] }, { agent }) as { rule: string }
        expect(rule, who).to.equal(those.includes(who as keyof typeof agents) ? `device:${name}` : 'link')
      }
    })

  for (const [name, from] of [
    ['Canada', 'CA'],
    ['cANADA', 'CA'],
    ['ca', 'CA'],
    ['United Kingdom', 'GB'],
    ['UK', 'GB'],
    ['USA', 'US'],
    ['Turkey', 'TR'],
    ['Türkiye', 'TR'],
    ['Hong Kong', 'HK'],
    ['Côte d’Ivoire', 'CI'],
    ['japan', 'JP'],
  ] as const)
    it(`is the target for ${name} for visitors from ${from} and no other country`, () => {
      expect(go({ location: [at(name)] }, { from })).to.include({ rule: `location:${name.toLowerCase()}` })
      for (const other of ['', 'AQ', 'DE'])
        expect(go({ location: [at(name)] }, { from: other })).to.include({ rule: 'link' })
    })

  it('is the target for the language that the visitor prefers', () => {
    const language = [at('de'), at('fr-CA'), at('pt')]
    const by = (header: string) => (go({ language }, { header }) as { rule: string }).rule
    expect(by('fr;q=0.5, de;q=0.9')).to.equal('language:de')
    expect(by('en-US,en;q=0.9,fr;q=0.8,de;q=0.7')).to.equal('language:fr-ca')
    expect(by('pt-BR')).to.equal('language:pt')
    const regions = [at('zh-TW'), at('zh-CN'), at('pt-BR'), at('en')]
    const among = (header: string) => (go({ language: regions }, { header }) as { rule: string }).rule
    expect(among('zh-CN,zh;q=0.9')).to.equal('language:zh-cn')
    expect(among('zh-HK,zh-CN;q=0.5')).to.equal('language:zh-tw')
    expect(among('pt-PT,en;q=0.9')).to.equal('language:pt-br')
    expect(among('nl,en-GB;q=0.9')).to.equal('language:en')
    expect(by('de;q=0, it')).to.equal('link')
    expect(by('*')).to.equal('link')
    expect(by('')).to.equal('link')
  })

  const families: Record<string, (keyof typeof agents)[]> = {
    safari: ['iphone', 'ipad', 'mac'],
    chrome: ['pixel', 'galaxyTab', 'windows'],
    firefox: ['linux'],
    edge: [],
  }
  for (const [name, those] of Object.entries(families))
    it(`is the target for the browser ${name} on ${those.join(', ') || 'no device here'} and nowhere else`, () => {
      for (const [who, agent] of Object.entries(agents)) {
        const { rule } = go({ browser: [at(name.toUpperCase())] }, { agent }) as { rule: string }
        expect(rule, who).to.equal(those.includes(who as keyof typeof agents) ? `browser:${name}` : 'link')
      }
    })

  it('is chosen by device before browser before location before language, and within each by the first match', () => {
    const rules = {
      device: [at('ios'), at('iphone', 'https://second.example/')],
      browser: [at('Firefox'), at('Safari')],
      location: [at('CA')],
      language: [at('fr')],
    }
    const who = { from: 'CA', header: 'fr' }
    expect(go(rules, { ...who, agent: agents.iphone })).to.include({ rule: 'device:ios', url: 'https://ios.example/' })
    expect(go(rules, { ...who, agent: agents.mac })).to.include({ rule: 'browser:safari' })
    expect(go(rules, who)).to.include({ rule: 'location:ca' })
    expect(go(rules, { ...who, from: 'DE' })).to.include({ rule: 'language:fr' })
    expect(go(rules, { header: 'es' })).to.include({ rule: 'link' })
  })

  it('ignores rules with an unknown name', () => {
    const rules = {
      device: [at('toaster'), at('__proto__'), at('constructor')],
      browser: [at('toaster'), at('__proto__'), at('')],
      location: [at('Atlantis')],
      language: [at('tlh-x'), at('!')],
    }
    expect(go(rules, { from: 'CA', header: 'fr' })).to.include({ rule: 'link' })
  })

  it('gets the parameters appended, each as one value, before the fragment', () => {
    const parameters = [
      { name: 'utm_source', value: 'a b' },
      { name: 'x', value: 'a&admin=1#x' },
    ]
    const added = 'utm_source=a+b&x=a%26admin%3D1%23x'
    const to = (url: string) => (go({ url, parameters }) as { url: string }).url
    expect(to('https://e.example/')).to.equal(`https://e.example/?${added}`)
    expect(to('https://e.example/p?q=%20z#frag?x')).to.equal(`https://e.example/p?q=%20z&${added}#frag?x`)
    expect(to('https://e.example/?')).to.equal(`https://e.example/?${added}`)
    expect(to('https://e.example/?a=1&')).to.equal(`https://e.example/?a=1&${added}`)
  })

  it('is not sent a parameter twice that it has already', () => {
    const parameters = ['utm_source', 'utm_medium'].map((name) => ({ name, value: 'link' }))
    const to = (url: string) => (go({ url, parameters }) as { url: string }).url
    expect(to('https://example.com/?utm_source=own#x')).to.equal(
      'https://example.com/?utm_source=own&utm_medium=link#x',
    )
    expect(to('https://example.com/?utm%5Fsource=own&utm_medium=')).to.equal(
      'https://example.com/?utm%5Fsource=own&utm_medium=',
    )
    expect(to('https://example.com/utm_source=1')).to.equal(
      'https://example.com/utm_source=1?utm_source=link&utm_medium=link',
    )
  })

  it('gets the parameters of the link on a target too', () => {
    const parameters = [{ name: 'a', value: '1' }]
    expect(go({ location: [at('CA')], parameters }, { from: 'CA' })).to.include({ url: 'https://ca.example/?a=1' })
  })

  it('is none from the moment the link expires', () => {
    expect(go({ expiry: new Date(now) })).to.deep.equal({ to: 'expired' })
    expect(go({ expiry: new Date(now + 1) })).to.include({ to: 'destination' })
    expect(go({ expiry: new Date(now), password: 'hash' })).to.deep.equal({ to: 'expired' })
  })

  it('is the password form until the password was given, before any rule', () => {
    const locked = { password: 'hash', device: [at('windows')], location: [at('CA')], url: 'https://ours.example/' }
    expect(go(locked, { from: 'CA' })).to.deep.equal({ to: 'password' })
    expect(go(locked, { from: 'CA', unlocked: true })).to.include({ rule: 'device:windows' })
  })

  it('is none when it has become one of our own addresses, unless another rule matches', () => {
    expect(go({ url: 'https://ours.example/x' })).to.deep.equal({ to: 'loop' })
    expect(go({ url: 'https://ours.example/x', location: [at('CA')] }, { from: 'CA' })).to.include({
      rule: 'location:ca',
    })
    expect(go({ location: [at('CA', 'https://ours.example/')] }, { from: 'CA' })).to.deep.equal({ to: 'loop' })
  })

  it('does not look up country or languages when no rule needs them', () => {
    const unused = () => expect.fail('was looked up')
    expect(go({}, { country: unused, languages: unused })).to.include({ rule: 'link' })
  })

  describe('is reached', () => {
    const words = { title: '', description: '', metatitle: '', metadescription: '', metaimage: '' }
    const card = { ...words, metatitle: 'T' }
    const splash = { ...splashes.initialState.fields, id: 7 }
    const overlay = { ...overlays.initialState.fields, id: 7 }
    const pixels = [{ id: 3, type: 'bing' as const, tag: '123' }]
    const none: Parts = { pixels: [] }
    const person = {}
    const untracked = { untracked: () => true }
    const slack = { agent: 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' }
    const assistant = { agent: 'Mozilla/5.0 (compatible; Claude-User/1.0; +Claude-User@anthropic.com)' }
    const plainly = { secure: () => false }
    const http = { url: 'http://example.com/' }

    for (const [what, link, parts, who, way, fired] of [
      ['by a redirect from a direct link', { type: 'direct', ...words }, none, person, 'redirect', 0],
      [
        'by a redirect for a previewer when only the title is set',
        { type: 'direct', ...words, title: 'T' },
        none,
        slack,
        'redirect',
        0,
      ],
      ['by a frame', { type: 'frame', ...words }, none, person, 'frame', 0],
      ['by a plain splash page', { type: 'splash', ...words }, none, person, 'splash', 0],
      ['by a custom splash page', { type: 'splash-7', ...words }, { ...none, splash }, person, 'splash', 0],
      ['by a redirect when the splash page was deleted', { type: 'splash-7', ...words }, none, person, 'redirect', 0],
      ['by an overlay', { type: 'overlay-7', ...words }, { ...none, overlay }, person, 'overlay', 0],
      ['by a redirect when the overlay was deleted', { type: 'overlay-7', ...words }, none, person, 'redirect', 0],
      [
        'by the pixel page when the overlay was deleted',
        { type: 'overlay-7', ...words },
        { pixels },
        person,
        'pixels',
        1,
      ],
      ['by the pixel page', { type: 'direct', ...words }, { pixels }, person, 'pixels', 1],
      [
        'by a redirect without pixels for a visitor who asks not to be tracked',
        { type: 'direct', ...words },
        { pixels },
        untracked,
        'redirect',
        0,
      ],
      ['by a frame with pixels', { type: 'frame', ...words }, { pixels }, person, 'frame', 1],
      [
        'by a frame without pixels for a visitor who asks not to be tracked',
        { type: 'frame', ...words },
        { pixels },
        untracked,
        'frame',
        0,
      ],
      ['by a redirect without pixels for a previewer', { type: 'direct', ...words }, { pixels }, slack, 'redirect', 0],
      ['by a card for a previewer', { type: 'direct', ...card }, none, slack, 'card', 0],
      ['by a card for an assistant that a user has asked', { type: 'direct', ...card }, none, assistant, 'card', 0],
      [
        'by a card for a previewer rather than a frame with pixels',
        { type: 'frame', ...card },
        { pixels },
        slack,
        'card',
        0,
      ],
      ['by a redirect for a person when the link has a card', { type: 'direct', ...card }, none, person, 'redirect', 0],
      [
        'by a redirect when browsers would block the frame',
        { type: 'frame', ...words, ...http },
        none,
        person,
        'redirect',
        0,
      ],
      [
        'by the pixel page when browsers would block the frame',
        { type: 'frame', ...words, ...http },
        { pixels },
        person,
        'pixels',
        1,
      ],
      [
        'by a frame with an http destination for a visitor on http',
        { type: 'frame', ...words, ...http },
        none,
        plainly,
        'frame',
        0,
      ],
      [
        'by an overlay even when browsers would block its frame',
        { type: 'overlay-7', ...words, ...http },
        { ...none, overlay },
        person,
        'overlay',
        0,
      ],
    ] as [string, Parameters<typeof interstitialOf>[0], Parts, Partial<Visitor>, string, number][])
      it(what, () => {
        const found = go({ ...link, interstitial: interstitialOf(link, parts) }, who)
        expect(found).to.include({ to: 'destination', way, rule: 'link' })
        expect('interstitial' in found ? found.interstitial.pixels.length : 0).to.equal(fired)
      })

    it('by a page that says whether its pixels were omitted at the request of the browser', () => {
      const marked = (parts: Parts, who: Partial<Visitor>, type = 'frame') => {
        const found = go({ type, interstitial: interstitialOf({ type, ...card }, parts) }, who)
        return 'interstitial' in found && found.untracked
      }
      expect(marked({ pixels }, untracked)).to.equal(true)
      expect(marked({ pixels }, person)).to.equal(undefined)
      expect(marked(none, untracked)).to.equal(undefined)
      expect(marked({ pixels }, { ...slack, ...untracked })).to.equal(undefined)
    })

    it('by a redirect where a frame or an overlay would show a void, because the destination refuses it', () => {
      const since = '2026-01-01T00:00:00.000Z'
      const [refusing, other] = ['https://refusing.example/', 'https://other.example/']
      const unframed = [{ url: refusing, reason: 'x-frame-options', since }]
      const wayOf = (type: string, url: string, parts: Parts = { ...none, overlay }) => {
        const found = go(
          {
            url,
            unframed,
            type,
            parameters: [{ name: 'a', value: 'b' }],
            interstitial: interstitialOf({ type, ...words }, parts),
          },
          person,
        )
        return 'way' in found && found.way
      }
      for (const type of ['frame', 'overlay-7']) {
        expect(wayOf(type, refusing), type).to.equal('redirect')
        expect(wayOf(type, refusing, { pixels, overlay }), type).to.equal('pixels')
        expect(wayOf(type, other), type).to.equal(type.replace('-7', ''))
      }
      expect(wayOf('splash', refusing)).to.equal('splash')
    })

    it('by no page before the password, for every type of link', () => {
      for (const type of ['frame', 'splash', 'overlay-7', 'direct'])
        for (const who of [person, slack, untracked]) {
          const interstitial = interstitialOf({ type, ...card }, { overlay, pixels })
          expect(go({ type, password: 'hash', interstitial }, who)).to.deep.equal({ to: 'password' })
          expect(go({ type, expiry: new Date(now), interstitial }, who)).to.deep.equal({ to: 'expired' })
          expect(go({ type, url: 'https://ours.example/', interstitial }, who)).to.deep.equal({ to: 'loop' })
        }
    })
  })
})
