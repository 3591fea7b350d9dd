import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { Click } from '../../src/events/statistics/click.ts'
import type { Visit } from '../../src/clicks/visit.ts'
import { createClassifier } from '../../src/clicks/classify.ts'
import { previews } from '../data/agents.ts'
import { anyText } from '../support/text.ts'

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36'

const visit: Visit = {
  at: '2026-05-01T12:00:00.000Z',
  account: 7,
  link: 42,
  revision: 3,
  destination: 'https://example.com/landing?a=b',
  rule: 'link',
  source: { kind: 'qr', id: 9 },
  address: '203.0.113.7',
  agent: chrome,
  referrer: 'https://l.facebook.com/l.php?u=jane',
  languages: 'fr-CH, en;q=0.5',
  prefetch: false,
}

const hash = (account: number, text: string) =>
  createHmac('sha256', `key of ${account}`).update(text).digest('hex').slice(0, 16)

const classifier = createClassifier({
  countryOf: (address) => (address === '203.0.113.7' ? 'CA' : ''),
  isOurHost: (host) => host === 'sho.rt',
})
const classify = (of: Visit) => classifier(of, hash)

describe('classifying a visit', () => {
  it('keeps the fields of the visit, and adds the kind of visitor', () => {
    expect(classify(visit)).to.deep.equal({
      at: '2026-05-01T12:00:00.000Z',
      account: 7,
      link: 42,
      revision: 3,
      destination: 'https://example.com/landing?a=b',
      rule: 'link',
      source: { kind: 'qr', id: 9 },
      country: 'CA',
      language: 'fr',
      languages: ['fr-CH', 'en'],
      referrer: 'facebook.com',
      medium: 'social',
      browser: { family: 'Chrome', version: '120' },
      os: { family: 'Windows', version: '10' },
      device: 'desktop',
      class: 'human',
      agent: 'Mozilla Windows NT Win AppleWebKit Chrome Safari',
      visitor: hash(7, `203.0.113.7\n${chrome}`),
    })
  })

  it('names the model of a device only where the words that it keeps do not', () => {
    const models = (agent: string) => classify({ ...visit, agent }).models
    expect(models('Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X)')).to.equal(undefined)
    const words = Array.from({ length: 13 }, (_, i) => `program${String.fromCharCode(97 + i).repeat(3)}`).join(' ')
    expect(models(`${words} iPhone`)).to.deep.equal(['iphone'])
    expect(models(words)).to.equal(undefined)
  })

  it('takes visitors for the same by the part of a user agent that it reads', () => {
    const long = chrome.padEnd(512, ' x')
    const visitor = (agent: string) => classify({ ...visit, agent }).visitor
    expect(visitor(`${long} one`)).to.equal(visitor(`${long} two`))
    expect(visitor(`${chrome} one`)).not.to.equal(visitor(`${chrome} two`))
  })

  it('returns valid fields of a click once the batch has added the indexes of its destination, agent and languages', () => {
    for (const agent of [chrome, 'curl/8.4.0', '', ...previews.map(([, text]) => text)]) {
      const click = { ...classify({ ...visit, agent }), destination: 0, agent: 0, languages: 0 }
      expect(Click.parse(click)).to.deep.equal(click)
    }
  })

  it('keeps five accepted languages in the order of preference and the one that decided, so that the rule of a click can be explained', () => {
    const languages = (header: string, rule = 'link') => classify({ ...visit, languages: header, rule }).languages
    expect(languages('fr;q=0.5, de, en;q=0.7')).to.deep.equal(['de', 'en', 'fr'])
    expect(languages('en-US, en;q=0.9, de, es, it, pt, nl, ja')).to.deep.equal(['en-US', 'de', 'es', 'it', 'pt', '*'])
    const decided = languages('en-US, en;q=0.9, de, es, it, pt, nl, ja', 'language:nl-be')
    expect(decided).to.deep.equal(['en-US', 'de', 'es', 'it', 'pt', '*', 'nl'])
    expect(languages('de, es, it, pt, nl')).to.deep.equal(['de', 'es', 'it', 'pt', 'nl'])
    expect(languages('de, es, it, pt, nl, ja', 'language:es')).to.deep.equal(['de', 'es', 'it', 'pt', 'nl', '*'])
    expect(languages('de, es, it, pt, nl, ja', 'location:ja')).to.deep.equal(['de', 'es', 'it', 'pt', 'nl', '*'])
    expect(languages('')).to.deep.equal([])
    expect(classify({ ...visit, languages: 'de, fr;q=0.9' })).to.deep.include({ language: 'de' })
  })

  it('distinguishes bots, previewers and prefetches from people', () => {
    expect(classify({ ...visit, agent: 'Wget/1.21.3' })).to.include({ class: 'bot', bot: 'Wget' })
    for (const typed of ['curl/8.4.0', 'HTTPie/3.2.2'])
      expect(classify({ ...visit, agent: typed }))
        .to.include({ class: 'human' })
        .and.not.have.property('bot')
    expect(classify({ ...visit, agent: 'WhatsApp/2.23.20.0' })).to.include({ class: 'preview', bot: 'WhatsApp' })
    expect(classify({ ...visit, agent: '' })).to.include({ class: 'bot', bot: '' })
    expect(classify({ ...visit, prefetch: true }))
      .to.include({ class: 'prefetch' })
      .and.not.have.property('bot')
  })

  it('classifies a prefetching bot as a prefetch, and keeps its token', () => {
    expect(classify({ ...visit, prefetch: true, agent: 'Wget/1.21.3' })).to.include({ class: 'prefetch', bot: 'Wget' })
  })

  it('leaves fields empty for headers that were not sent', () => {
    const silent = classify({ ...visit, address: '', referrer: '', languages: '' })
    expect(silent).to.include({ country: '', language: '', referrer: '' })
    expect(classify({ ...visit, referrer: 'https://sho.rt/other' })).to.include({ referrer: '' })
  })

  it('recognizes a visitor by address and user agent, within one account only', () => {
    const { visitor } = classify(visit)
    expect(classify({ ...visit, link: 43, at: '2026-06-01T00:00:00.000Z' }).visitor).to.equal(visitor)
    expect(classify({ ...visit, address: '::ffff:203.0.113.7' })).to.include({ visitor, country: 'CA' })
    expect(classify({ ...visit, address: '203.0.113.8' }).visitor).not.to.equal(visitor)
    expect(classify({ ...visit, agent: `${chrome} Edg/120.0.0.0` }).visitor).not.to.equal(visitor)
    expect(classify({ ...visit, account: 8 }).visitor).not.to.equal(visitor)
  })

  it('returns no address, user agent, referring page or language list', () => {
    const secrets = {
      address: '198.51.100.23',
      agent: `${chrome} Secret/8.7.6.5 jane@example.org`,
      referrer: 'https://example.net/jane',
      languages: 'fr-CH-x-jane;q=0.98765',
    }
    const text = JSON.stringify(classify({ ...visit, ...secrets }))
    for (const secret of ['198.51.100', '8.7.6.5', 'jane', 'example.org', '98765', '537.36', 'Win64', 'l.php']) {
      expect(text).not.to.include(secret)
    }
  })

  it('never throws, for any request', () => {
    const text = anyText({ maxLength: 200 })
    fc.assert(
      fc.property(text, text, text, text, (address, agent, referrer, languages) => {
        const click = classify({ ...visit, address, agent, referrer, languages })
        Click.parse({ ...click, destination: 0, agent: 0, languages: 0 })
      }),
      { numRuns: 300 },
    )
  })
})
