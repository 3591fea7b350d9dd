import { expect } from 'chai'
import fc from 'fast-check'
import { countryCode, countryName, isCountry } from '../../../src/clicks/visitor/country.ts'
import { openCountries } from '../../../src/clicks/visitor/geoip.ts'

describe('the country of an address', () => {
  const countries = openCountries()

  it('is found for IPv4 and IPv6', () => {
    const known = {
      '24.48.0.1': 'CA',
      '81.2.69.142': 'GB',
      '8.8.8.8': 'US',
      '133.1.0.1': 'JP',
      '2001:4860:4860::8888': 'US',
      '2a00:1450:4001::1': 'IE',
    }
    for (const [address, code] of Object.entries(known)) expect(countries.of(address), address).to.equal(code)
  })

  it('is found for IPv4-mapped IPv6 addresses in every notation', () => {
    for (const address of ['::ffff:24.48.0.1', '::FFFF:24.48.0.1', '::ffff:1830:1', '0:0:0:0:0:ffff:1830:0001']) {
      expect(countries.of(address), address).to.equal('CA')
    }
  })

  it('is unknown for private and reserved addresses', () => {
    for (const address of [
      '127.0.0.1',
      '10.0.0.1',
      '192.168.1.1',
      '::1',
      'fe80::1%eth0',
      'fd00::1',
      '::ffff:10.0.0.1',
      '0.0.0.0',
    ]) {
      expect(countries.of(address), address).to.equal('')
    }
  })

  it('is unknown for text that is not an address', () => {
    const garbage = [
      '',
      ' ',
      'abc',
      '1.2.3',
      '999.1.1.1',
      '8.8.8.8:80',
      ' 8.8.8.8',
      '8.8.8.8, 1.1.1.1',
      '[::1]',
      '%',
      '::%',
      '::1::2',
      '0x8.8.8.8',
      'unknown',
    ]
    for (const text of garbage) expect(countries.of(text), text).to.equal('')
    expect(countries.of('8'.repeat(100_000))).to.equal('')
  })

  it('is two capital letters or empty for any input', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (text) => /^([A-Z]{2})?$/.test(countries.of(text))),
      { numRuns: 500 },
    )
  })

  it('has an English name whenever it is known', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        const code = countries.of(address)
        return code === '' || !['Unknown', code].includes(countryName(code))
      }),
      { numRuns: 500 },
    )
  })
})

describe('the name of a country', () => {
  it('is English', () => {
    expect(countryName('US')).to.equal('United States')
    expect(countryName('GB')).to.equal('United Kingdom')
    expect(countryName('DE')).to.equal('Germany')
    expect(countryName('CI')).to.equal('Côte d’Ivoire')
    expect(countryName('XK')).to.equal('Kosovo')
  })

  it('is Unknown for a code that no country has', () => {
    for (const code of ['', 'ZZ', 'AP', 'us', 'USA', '1', 'A1', 'U S', '__proto__']) {
      expect(countryName(code), code).to.equal('Unknown')
    }
  })

  it('is found by its code and by the usual names, in any spelling', () => {
    const known = {
      CA: ['Canada', 'ca', ' CANADA '],
      GB: ['United Kingdom', 'UK', 'Great Britain', 'gb'],
      US: ['United States', 'USA', 'the United States', 'United States of America'],
      KR: ['South Korea', 'Korea, Republic of', 'Republic of Korea'],
      KP: ['North Korea', "Korea, Democratic People's Republic of"],
      CI: ['Côte d’Ivoire', "Cote d'Ivoire", 'Ivory Coast'],
      IR: ['Iran', 'Iran, Islamic Republic of'],
      CD: ['Congo, the Democratic Republic of the'],
      TT: ['Trinidad & Tobago', 'Trinidad and Tobago', 'Trinidad&Tobago', 'Trinidad   and  Tobago'],
      LC: ['St. Lucia', 'Saint Lucia'],
      TR: ['Turkey', 'Türkiye', 'Turkiye'],
      DE: ['Germany', 'DE'],
      FR: ['France'],
      YE: ['Yemen'],
    }
    for (const [code, names] of Object.entries(known))
      for (const name of names) expect([countryCode(name), isCountry(name, code)], name).to.deep.equal([code, true])
  })

  it('finds every country by the name that is shown for it', () => {
    for (const code of ['AX', 'BA', 'CZ', 'HK', 'MM', 'MO', 'PS', 'ST', 'TL', 'VC', 'VN', 'XK'])
      expect(countryCode(countryName(code)), code).to.equal(code)
  })

  it('is not found when there is no such country', () => {
    for (const name of [
      ...['', 'Atlantis', 'ZZ', 'Europa', '__proto__', 'constructor', ',', 'Unknown'],
      ...['a, Korea, Republic of', 'Over the Yemen', 'my Saint Lucia'],
    ])
      expect([countryCode(name), isCountry(name, 'US'), isCountry(name, '')], name).to.deep.equal([
        undefined,
        false,
        false,
      ])
  })
})
