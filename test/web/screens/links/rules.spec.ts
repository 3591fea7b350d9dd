import { expect } from 'chai'
import { loadTexts, useLanguage } from '../../../../src/web/core/texts.ts'
import {
  choices,
  countryNamed,
  decidingRule,
  nameOfRule,
  type Rule,
  rulesOf,
  type Visitor,
} from '../../../../src/web/screens/links/editor/rules.ts'

const speak = async (language: string) => {
  await useLanguage(language)
  await loadTexts()
}
const rule = (kind: Rule['kind'], value: string, url = 'https://example.com/'): Rule => ({ kind, value, url })
const german: Visitor = { country: 'DE', device: 'iphone', browser: 'Safari', language: 'de' }

describe('the rules of a link in its form', () => {
  before(() => speak('en'))
  after(() => speak('en'))

  it('come in the order in which the service looks for a match', () => {
    const found = rulesOf({
      ...{ location: { de: 'a' }, language: { en: 'b' }, device: { ios: 'c' } },
      browser: { 'samsung internet': 'd', netscape: 'e' },
    })
    expect(found.map(({ kind, value, url }) => `${kind} ${value} ${url}`)).to.deep.equal([
      'device ios c',
      'browser Samsung Internet d',
      'browser netscape e',
      'country DE a',
      'language en b',
    ])
  })

  it('have the code of a country that the link has by its name', () => {
    const names = ['Germany', 'united states', 'fr', 'FR', 'Atlantis', 'France', 'United Kingdom', 'Russia']
    const location = Object.fromEntries(names.map((name) => [name, 'https://example.com/']))
    expect(rulesOf({ location, language: {}, browser: {}, device: {} }).map(({ value }) => value)).to.deep.equal([
      'DE',
      'US',
      'FR',
      'FR',
      'Atlantis',
      'FR',
      'GB',
      'RU',
    ])
  })

  it('are named in the language of the page', async () => {
    await speak('fr')
    expect(nameOfRule(rule('country', 'DE'))).to.equal('Allemagne')
    expect(nameOfRule(rule('language', 'DE'))).to.equal('allemand')
    expect(countryNamed('Germany')).to.equal('Allemagne')
    expect(countryNamed('Atlantis')).to.equal('Atlantis')
    await speak('en')
    expect(nameOfRule(rule('country', 'de'))).to.equal('Germany')
    expect(nameOfRule(rule('device', 'ipad'))).to.equal('iPad')
    expect(nameOfRule(rule('language', 'tlh'))).to.equal('tlh')
    expect(countryNamed('Germany')).to.equal('Germany')
  })

  it('can name each country once, in alphabetical order, and no code that is not a country', () => {
    const countries = choices('country')
    expect(countries.length).to.be.within(240, 260)
    expect(new Set(countries.map(([, name]) => name)).size).to.equal(countries.length)
    expect(countries.map(([code]) => code))
      .to.include.members(['DE', 'XK', 'TW'])
      .and.not.include.members(['EU', 'UK', 'FX'])
    expect(countries[0]).to.deep.equal(['AF', 'Afghanistan'])
  })
})

describe('the tester of rules', () => {
  const everything = [
    rule('language', 'de'),
    rule('country', 'DE'),
    rule('device', 'android'),
    rule('device', 'ios'),
    rule('device', 'iphone'),
    rule('browser', 'Firefox'),
  ]
  const deciding = (rules: readonly Rule[], over: Partial<Visitor> = {}) => decidingRule(rules, { ...german, ...over })

  const visitors: readonly (readonly [who: string, over: Partial<Visitor>, place: number | undefined])[] = [
    ['by the first rule of the device, before country and language', {}, 3],
    ['by another device', { device: 'androidPhone' }, 2],
    ['by the browser where no device matches', { device: 'linux', browser: 'Firefox' }, 5],
    ['by the country where neither does', { device: 'linux' }, 1],
    ['by the language where nothing else matches', { device: 'linux', country: 'AT' }, 0],
    ['to the destination where no rule matches', { device: 'linux', country: 'AT', language: 'en' }, undefined],
  ]
  for (const [how, over, place] of visitors)
    it(`sends a visitor ${how}`, () => expect(deciding(everything, over)).to.equal(place))

  const devices: readonly (readonly [device: Visitor['device'], names: string])[] = [
    ['iphone', 'ios iphone mobile'],
    ['ipad', 'ios ipad tablet'],
    ['androidPhone', 'android mobile'],
    ['androidTablet', 'android tablet'],
    ['windows', 'desktop windows'],
    ['mac', 'desktop mac'],
    ['linux', 'desktop linux'],
  ]
  for (const [device, names] of devices)
    it(`knows a visitor with the device ${device} by the names ${names}`, () => {
      const all = choices('device').map(([name]) => name)
      const matching = all.filter((name) => deciding([rule('device', name)], { device }) === 0)
      expect(matching.toSorted().join(' ')).to.equal(names)
    })

  it('knows a device by every name that the service takes, in any letter case', () => {
    for (const name of ['iPhone', 'iOS', 'Smartphone', 'iPhone OS'])
      expect(deciding([rule('device', name)]), name).to.equal(0)
    for (const name of ['macOS', 'Mac OS X', 'OSX'])
      expect(deciding([rule('device', name)], { device: 'mac' }), name).to.equal(0)
    expect(deciding([rule('device', 'toaster')])).to.equal(undefined)
  })

  it('matches a language with or without a region', () => {
    expect(deciding([rule('language', 'de-AT')])).to.equal(0)
    expect(deciding([rule('language', 'DE')])).to.equal(0)
    expect(deciding([rule('language', 'den')])).to.equal(undefined)
  })

  it('skips unfinished rules', () => {
    expect(deciding([rule('device', ''), rule('country', ''), rule('country', 'de')])).to.equal(2)
    expect(deciding([rule('device', '')])).to.equal(undefined)
  })
})
