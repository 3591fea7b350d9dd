import { expect } from 'chai'
import fc from 'fast-check'
import { Click } from '../../../src/events/statistics/click.ts'
import { media, type Medium, mediumOf, mediumOfQuery } from '../../../src/clicks/visitor/medium.ts'
import { referrerHost } from '../../../src/clicks/visitor/referrer.ts'
import { cpuTime } from '../../support/clock.ts'
import { anyText } from '../../support/text.ts'

interface Given {
  readonly referrer?: string
  readonly query?: string
  readonly agent?: string
  readonly destination?: string
}
const cameBy = ({ referrer = '', query = '', agent = '', destination = 'https://example.com/' }: Given): Medium =>
  mediumOf({
    referrer: referrerHost(referrer, (host) => host === 'sho.rt'),
    asked: mediumOfQuery(query),
    agent,
    destination,
  })

const referrers: Readonly<Record<Medium, readonly string[]>> = {
  direct: ['', 'https://sho.rt/bio', 'https://192.0.2.7/', 'about:client', 'not an address'],
  search: [
    ...[
      'https://www.google.com/',
      'https://www.google.co.uk/search?q=a',
      'https://www.google.de',
      'https://google.cat/',
    ],
    ...['android-app://com.google.android.googlequicksearchbox/', 'https://images.google.fr/', 'https://www.bing.com/'],
    ...['https://cn.bing.com/', 'https://duckduckgo.com/', 'https://html.duckduckgo.com/', 'https://www.ecosia.org/'],
    ...[
      'https://search.yahoo.com/',
      'https://r.search.yahoo.com/',
      'https://search.yahoo.co.jp/',
      'https://yandex.ru/',
    ],
    ...['https://yandex.com.tr/search', 'https://ya.ru/', 'https://www.baidu.com/link', 'https://m.baidu.com/'],
    ...['https://search.brave.com/', 'https://kagi.com/', 'https://www.qwant.com/', 'https://www.startpage.com/'],
    ...[
      'https://search.naver.com/',
      'https://m.search.naver.com/',
      'https://suche.web.de/',
      'https://go.mail.ru/search',
    ],
  ],
  social: [
    ...['https://l.facebook.com/l.php?u=x', 'https://t.co/abc', 'https://x.com/', 'https://lnkd.in/abc'],
    ...[
      'https://l.instagram.com/?u=x',
      'https://www.threads.com/',
      'https://old.reddit.com/',
      'https://www.pinterest.de/',
    ],
    ...['https://www.youtube.com/', 'android-app://com.google.android.youtube/', 'https://web.telegram.org/'],
    ...['android-app://org.telegram.messenger/', 'https://web.whatsapp.com/', 'https://discord.com/channels/1'],
    ...['https://slack-redir.net/link?url=x', 'https://teams.microsoft.com/', 'https://bsky.app/', 'https://vk.com/'],
    ...['https://news.ycombinator.com/item', 'https://www.tiktok.com/', 'android-app://com.linkedin.android'],
  ],
  mail: [
    ...['https://mail.google.com/', 'android-app://com.google.android.gm/', 'https://outlook.live.com/'],
    ...[
      'https://outlook.office.com/',
      'https://nam02.safelinks.protection.outlook.com/?url=x',
      'https://mail.yahoo.co.jp/',
    ],
    ...['https://deref-gmx.net/mail', 'https://www.gmx.at/', 'https://e.mail.ru/', 'https://mail.yandex.com.tr/'],
    ...[
      'https://mail.proton.me/',
      'https://www.icloud.com/mail',
      'https://webmail.example.org/',
      'https://mail2.example.org/',
    ],
    ...['android-app://com.yahoo.mobile.client.android.mail/', 'https://email.t-online.de/', 'https://mail.zoho.eu/'],
  ],
  ai: [
    ...['https://chatgpt.com/', 'https://chat.openai.com/', 'https://claude.ai/', 'https://www.perplexity.ai/'],
    ...['https://gemini.google.com/', 'https://copilot.microsoft.com/', 'https://edgeservices.bing.com/'],
    ...['https://chat.deepseek.com/', 'https://grok.com/', 'https://chat.mistral.ai/', 'https://www.meta.ai/'],
    ...['https://notebooklm.google.com/', 'https://poe.com/', 'https://yiyan.baidu.com/', 'https://lumo.proton.me/'],
    ...['android-app://com.openai.chatgpt/', 'android-app://com.anthropic.claude'],
  ],
  ads: [
    ...['https://googleads.g.doubleclick.net/pagead', 'https://www.googleadservices.com/', 'https://trc.taboola.com/'],
    ...['https://syndicatedsearch.goog/'],
  ],
  other: [
    ...['https://example.org/', 'https://news.google.com/', 'https://docs.google.com/', 'https://blog.naver.com/'],
    ...['https://finance.yahoo.com/', 'https://google.example.net/', 'https://notfacebook.com/', 'https://google.dev/'],
    ...['https://chatgpt.com.example.org/', 'https://mail-order.example/', 'android-app://org.example.reader/'],
    ...['http://intranet/', 'https://github.com/'],
  ],
}

const queries: Readonly<Record<string, Medium | undefined>> = {
  // no name of a site is so long, and to look at each of its parts takes the square
  [`utm_source=${'a.'.repeat(130)}facebook.com`]: undefined,
  [`utm_source=${'a.'.repeat(100)}facebook.com`]: 'social',
  'gclid=Cj0KCQ': 'ads',
  'GCLID=Cj0KCQ': 'ads',
  'wbraid=x': 'ads',
  'gad_source=1': 'ads',
  'msclkid=0a1b': 'ads',
  'ttclid=E.C.P': 'ads',
  'li_fat_id=1': 'ads',
  'gclid=': undefined,
  'fbclid=IwAR0': 'social',
  'fbclid=IwAR0&utm_medium=paid_social': 'ads',
  'igsh=MzRl': 'social',
  'mc_eid=1f2e': 'mail',
  '_hsenc=p2A': 'mail',
  'utm_medium=cpc': 'ads',
  'utm_medium=CPC&utm_source=google': 'ads',
  'utm_medium=ppc': 'ads',
  'utm_medium=paidsearch': 'ads',
  'utm_medium=social-paid': 'ads',
  'utm_medium=display': 'ads',
  'utm_medium=email': 'mail',
  'utm_medium=E-Mail': 'mail',
  'utm_medium=newsletter': 'mail',
  'utm_medium=social': 'social',
  'utm_medium=social%20media': 'social',
  'utm_medium=organic': 'search',
  'utm_medium=organic_social': 'social',
  'utm_medium=email&fbclid=x': 'mail',
  'utm_medium=referral&utm_source=facebook': 'social',
  'utm_source=chatgpt.com': 'ai',
  'utm_source=perplexity': 'ai',
  'utm_source=copilot.microsoft.com': 'ai',
  'utm_source=linkedin': 'social',
  'utm_source=google': 'search',
  'utm_source=newsletter': 'mail',
  'utm_source=spring-flyer': undefined,
  'utm_medium=qr': undefined,
  'utm_medium=scp': undefined,
  'utm_campaign=email': undefined,
  'a=gclid&b=utm_medium': undefined,
  'utm_medium=%E0%A4%A': undefined,
  '': undefined,
}

const apps = [
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21F79 [FBAN/FBIOS;FBAV/470.0.0.37]',
  'Mozilla/5.0 (Linux; Android 13; wv) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/441.0]',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 13_3_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 131.0.0.21',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [LinkedInApp]/9.29',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 musical_ly_34.0.0 JsSdk/2.0',
]

describe('how a visitor came', () => {
  for (const medium of media)
    it(`is \`${medium}\` by the referrer`, () => {
      for (const referrer of referrers[medium]) expect(cameBy({ referrer }), referrer).to.equal(medium)
    })

  it('follows the query, if it has a medium', () => {
    for (const [query, medium] of Object.entries(queries)) expect(mediumOfQuery(query), query).to.equal(medium)
  })

  it('follows the query rather than the referrer', () => {
    expect(cameBy({ referrer: 'https://www.google.com/', query: 'gclid=1' })).to.equal('ads')
    expect(cameBy({ referrer: 'https://www.facebook.com/', query: 'utm_medium=email' })).to.equal('mail')
    expect(cameBy({ referrer: 'https://www.google.com/', query: 'utm_medium=qr' })).to.equal('search')
  })

  it('is a network when the browser is inside its app', () => {
    for (const agent of apps) expect(cameBy({ agent }), agent).to.equal('social')
    expect(cameBy({ agent: apps[0]!, referrer: 'https://chatgpt.com/' })).to.equal('ai')
    expect(cameBy({ agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0' })).to.equal(
      'direct',
    )
  })

  it("follows the owner's tag in the destination when there is no other sign", () => {
    const destination = 'https://example.com/?a=b&utm_medium=email&gclid=left-over#utm_medium=cpc'
    expect(cameBy({ destination })).to.equal('mail')
    expect(cameBy({ destination, referrer: 'https://example.org/' })).to.equal('other')
    expect(cameBy({ destination, query: 'utm_medium=social' })).to.equal('social')
    expect(cameBy({ destination: 'https://example.com/?gclid=left-over' })).to.equal('direct')
    expect(cameBy({ destination: 'https://example.com/#?utm_medium=email' })).to.equal('direct')
    expect(cameBy({ destination: '' })).to.equal('direct')
  })

  it('is one of seven for any request', () => {
    fc.assert(
      fc.property(anyText(), anyText(), anyText(), anyText(), (referrer, query, agent, destination) => {
        for (const given of [
          { referrer, query, agent, destination },
          { referrer: `https://${referrer}/`, query: `utm_medium=${query}&utm_source=${query}` },
          { destination: `${destination}?utm_medium=${destination}` },
        ])
          expect(media).to.include(cameBy(given))
      }),
    )
  })

  it('takes no long time to read, however long the query is', async () => {
    const long = [`utm_source=${'a.'.repeat(8000)}`, `${'&'.repeat(16_000)}gclid=1`, `utm_medium=${'-'.repeat(16_000)}`]
    for (const query of long) {
      const { ms } = await cpuTime(() => cameBy({ query, destination: `https://example.com/?${query}` }))
      expect(ms).to.be.below(500)
    }
  })

  it('has the same values in events', () => {
    expect(Click.shape.medium.def.innerType.meta()).to.deep.include({ examples: media })
  })
})
