import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { createClassifier } from '../../../src/clicks/classify.ts'
import { toEvents } from '../../../src/clicks/batch.ts'
import type { Event } from '../../../src/events/index.ts'
import type { LinkFields } from '../../../src/events/links/link.ts'
import { askedBy, decidingTarget, rehearse } from '../../../src/http/statistics/rehearsal.ts'
import { resolve } from '../../../src/http/public/link/resolve.ts'
import { readVisit, readVisitor } from '../../../src/http/public/link/visit.ts'
import { profilesOf, readProfile, readRoute, routeLabel } from '../../../src/projections/statistics/labels.ts'
import type { VisitGroup } from '../../../src/queries/statistics/rehearse.ts'
import { rulesVersion } from '../../../src/clicks/visitor/agent.ts'
import { browserNames } from '../../../src/clicks/visitor/browser.ts'
import { deviceNames } from '../../../src/clicks/visitor/device.ts'
import { agents } from '../../data/visitors.ts'
import { linkFields } from '../../support/events.ts'
import { randomFrom, repeatable, seed } from '../../support/faults.ts'

type Random = (below: number) => number
const pick = <T>(random: Random, items: readonly T[]): T => items[random(items.length)]!

const countries = ['', 'CA', 'DE', 'FR', 'US']
const countryOf = (address: string) => countries[Number(address.split('.')[3]) % countries.length] ?? ''
const languages = [
  'fr',
  'de-AT',
  'en-US',
  'en',
  'pt-BR',
  'iw',
  'zh-TW',
  'zh-CN',
  'zh',
  'it',
  'es',
  'nl',
  'da',
  'xx-bad-',
  'sv',
]
const odd = [
  'Instagram 300 (iPhone14,2; iOS 17_0)',
  'curl/8.1',
  '',
  `App/${'x'.repeat(200)} ${'verylongword'.repeat(12)} (iPad; iOS)`,
  'Mozilla/5.0(iPad; U; CPU iPhone OS 3_2 like Mac OS X; en-us) AppleWebKit/531.21.10',
  'see http://iPhone.example/bot',
  'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen iPhone',
]

const requestOf = (random: Random) => {
  const header = Array.from({ length: random(9) }, () => `${pick(random, languages)};q=${random(10) / 10}`).join(',')
  const long = random(20) === 0 ? `${header},${'en-GB;q=0.5,'.repeat(30)}fr` : header
  return {
    method: 'GET',
    url: '/a',
    headers: {
      'user-agent': random(4) === 0 ? pick(random, odd) : pick(random, agents),
      'accept-language': long,
    },
    socket: { remoteAddress: `192.0.2.${random(50)}` },
  } as unknown as IncomingMessage
}

const fieldsOf = (random: Random): LinkFields => {
  const some = (names: readonly string[], kind: string) =>
    names.filter(() => random(6) === 0).map((name) => ({ name, url: `https://example.com/${kind}/${name}` }))
  return {
    ...linkFields,
    url: 'https://example.com/',
    device: some(deviceNames, 'device'),
    browser: random(3) === 0 ? some(browserNames, 'browser') : [],
    location: some(['Canada', 'de', 'France'], 'location'),
    language: some(['fr', 'de', 'en', 'pt-BR', 'it', 'es', 'nl', 'da', 'he', 'zh-TW', 'zh-CN', 'zh-Hant'], 'language'),
    parameters: random(3) === 0 ? [{ name: 'utm', value: 'a b' }] : [],
    forward: random(4) === 0,
    variants:
      random(3) === 0
        ? [1, 2, 3].map((id) => ({ id, url: `https://example.com/variant/${id}`, weight: random(3) + 1 }))
        : [],
  }
}

const trustProxy = (() => false) as never
const classify = createClassifier({ countryOf, isOurHost: () => false })
const pepper = Buffer.alloc(32, 1)

/** What the tables keep of the visit of a request, and what the redirect has decided. */
const visited = (request: IncomingMessage, fields: LinkFields) => {
  const secureCookies = () => true
  const visitor = readVisitor(request, 7, { unlocked: true }, { countryOf, trustProxy, secureCookies, pepper })
  const found = resolve({ ...decidingTarget(fields, 7), forward: fields.forward }, visitor, 0, () => false)
  if (found.to !== 'destination') throw new Error(found.to)
  const visit = readVisit(request, { account: 1, link: 7, revision: 0 }, found, { kind: 'link', id: 7 }, trustProxy)
  const click = classify(visit, () => 'ab')
  const [event] = toEvents({ upTo: {} }, [{ spool: 's', seq: 1, rules: rulesVersion, click }])
  const { data } = event as Event<'LinkClicked'>
  const [row] = data.clicks
  const alike: VisitGroup = {
    route: readRoute(routeLabel(row!)),
    profile: readProfile(profilesOf(data)[0] ?? ''),
    country: click.country,
    os: click.os.family,
    device: click.device,
    browser: click.browser.family,
    language: click.language,
    phase: 0,
    usedUp: false,
    clicks: 1,
    visits: 1,
  }
  return { alike, recorded: { destination: click.destination, rule: click.rule } }
}
const isOurHost = () => false
const again = (fields: LinkFields, alike: VisitGroup) => {
  const target = decidingTarget(fields, 7)
  return rehearse(alike, { target, inForce: target, again: true, at: 0, isOurHost })
}
const by = (draft: LinkFields, before: LinkFields, alike: VisitGroup) =>
  rehearse(alike, {
    target: decidingTarget(draft, 7),
    inForce: decidingTarget(before, 7),
    again: false,
    at: 0,
    isOurHost,
  })

describe(`a rehearsal (${repeatable})`, () => {
  it('sends every recorded visit where the redirect has sent it, for any headers', () => {
    const random = randomFrom(seed)
    for (let n = 0; n < 1500; n++) {
      const [request, fields] = [requestOf(random), fieldsOf(random)]
      const { alike, recorded } = visited(request, fields)
      expect(again(fields, alike), JSON.stringify([request.headers, fields])).to.deep.equal(recorded)
    }
  })

  it('of a draft agrees with the redirect, or reports data that was not recorded', () => {
    const random = randomFrom(seed + 1)
    const why = new Map<string, number>()
    for (let n = 0; n < 1500; n++) {
      const [request, fields, draft] = [requestOf(random), fieldsOf(random), fieldsOf(random)]
      const { alike } = visited(request, fields)
      const { recorded: exact } = visited(request, draft)
      const found = by(draft, fields, alike)
      if ('reason' in found) why.set(found.reason, (why.get(found.reason) ?? 0) + 1)
      else expect(found, JSON.stringify([request.headers, fields, draft])).to.deep.equal(exact)
    }
    expect([...why.keys()].toSorted((a, b) => a.localeCompare(b))).to.deep.equal(['languages', 'variant'])
  })

  const none: VisitGroup = {
    route: readRoute('0 - link'),
    profile: { rules: 1, agent: 'Mozilla X', bot: null, languages: null, models: null },
    country: '',
    os: 'Linux',
    device: 'desktop',
    browser: 'Firefox',
    language: 'fr',
    phase: 0,
    usedUp: false,
    clicks: 1,
    visits: 1,
  }
  const to = (name: string) => ({ name, url: `https://example.com/${name}` })

  it('decides a click that is older than its fields where it can', () => {
    const rules = (over: Partial<LinkFields>) => ({ ...linkFields, ...over })
    expect(again(rules({ language: [to('fr')] }), none)).to.include({ rule: 'language:fr' })
    expect(again(rules({ language: [to('de')] }), none)).to.deep.equal({ reason: 'languages' })
    expect(again(rules({ language: [to('de')] }), { ...none, language: '' })).to.include({ rule: 'link' })
    const chinese = { ...none, language: 'zh' }
    const both = rules({ language: [to('zh-TW'), to('zh-CN')] })
    expect(again(both, chinese), 'the first of a language, as then').to.include({ rule: 'language:zh-tw' })
    expect(by(both, both, chinese)).to.deep.equal({ reason: 'languages' })
    expect(again(rules({ device: [to('iphone')] }), none)).to.include({ rule: 'link' })
    const profile = { ...none.profile!, agent: 'Mozilla iPhone CPU OS' }
    expect(again(rules({ device: [to('iphone')] }), { ...none, profile })).to.deep.equal({ reason: 'device' })
    expect(again(rules({ device: [to('linux'), to('iphone')] }), { ...none, profile })).to.include({
      rule: 'device:linux',
    })
  })

  it('keeps a visitor at a variant whose weight does not fall', () => {
    const split = (...weights: number[]): LinkFields => ({
      ...linkFields,
      variants: weights.map((weight, n) => ({ id: n + 1, url: `https://example.com/${n + 1}`, weight })),
    })
    const got = (id: number): VisitGroup => ({ ...none, route: readRoute(`0 - variant:${id}`) })
    expect(by(split(2, 1), split(1, 1), got(1))).to.include({ rule: 'variant:1' })
    expect(by(split(2, 1), split(1, 1), got(2))).to.deep.equal({ reason: 'variant' })
    expect(by(split(1, 1, 1), split(1, 1), got(1))).to.deep.equal({ reason: 'variant' })
    expect(by(split(0, 1), split(1, 1), got(1))).to.include({ rule: 'variant:2' })
    expect(by(split(1, 0, 1), split(1, 1, 1), got(3))).to.include({ rule: 'variant:3' })
  })

  it('reads no more than the rules need', () => {
    const asks = (over: Partial<LinkFields>) => askedBy([decidingTarget({ ...linkFields, ...over }, 7)])
    expect(asks({})).to.deep.equal([])
    expect(asks({ location: [to('ca')] })).to.deep.equal(['country'])
    expect(asks({ language: [to('fr')], device: [to('ios')] })).to.deep.equal(['os', 'language', 'profile'])
    expect(asks({ device: [to('mobile')] })).to.deep.equal(['device'])
    expect(asks({ device: [to('iPhone')] })).to.deep.equal(['profile'])
  })
})
