import { expect } from 'chai'
import { openCountries, readCountryTable } from '../../../src/clicks/visitor/geoip.ts'
import { OperatorError } from '../../../src/lib/operatorerror.ts'
import { makeTable } from '../../support/mmdb.ts'

const [north, south] = ['0', '1']
const halves = (one: object, other: object) => ({ [north]: one, [south]: other })

describe('a table of countries that the operator names', () => {
  it('is read as its makers write it, and says its name and its date', () => {
    const shapes: readonly (readonly [string, object, object])[] = [
      ['GeoLite2-City', { country: { iso_code: 'SE' }, city: {} }, { country: { iso_code: 'JP' } }],
      ['ipinfo country', { country: 'SE' }, { country: 'JP' }],
      ['dbip-country', { country_code: 'SE' }, { country_code: 'JP' }],
    ]
    for (const [type, one, other] of shapes) {
      const table = readCountryTable(makeTable(type, 4, halves(one, other)))
      expect(table).to.deep.include({ name: type, built: new Date(1_700_000_000_000) })
      expect([table.find('8.8.8.8'), table.find('200.1.1.1')], type).to.deep.equal(['SE', 'JP'])
    }
  })

  it('takes the place of the installed one at once, also for addresses that were looked up before', () => {
    const countries = openCountries()
    expect(countries.of('8.8.8.8')).to.equal('US')
    const used: string[] = []
    countries.onUse(({ name }) => used.push(name))
    const ours = readCountryTable(makeTable('Ours', 4, halves({ country_code: 'SE' }, { country_code: 'JP' })))
    countries.use(ours)
    expect(used).to.deep.equal(['Ours'])
    expect(countries.of('8.8.8.8')).to.equal('SE')
    expect(readCountryTable(ours.file).file, 'what threads share is not copied again').to.equal(ours.file)
    expect(countries.of('::ffff:8.8.8.8')).to.equal('SE')
    expect(countries.of('192.168.1.1'), 'a private address').to.equal('')
    expect(countries.of('2001:4860:4860::8888'), 'IPv6 in a table of IPv4').to.equal('')
    expect(openCountries().of('8.8.8.8'), 'the installed one').to.equal('US')
  })

  it('is of both families when it says so, and has no country where its record has none', () => {
    // IPv4 is below ::/96
    const ipv4 = '0'.repeat(96)
    const records = {
      [`${ipv4}0`]: { country_code: 'SE' },
      [`${ipv4}1`]: { country: {} },
      '001': { country: { iso_code: 'NO' } },
    }
    const { find } = readCountryTable(makeTable('Both', 6, records))
    expect(['8.8.8.8', '200.1.1.1', '2a00::1', 'fe00::1'].map(find)).to.deep.equal(['SE', '', 'NO', ''])
  })

  it('is refused when it is no such file, is cut off, or has no countries', () => {
    const whole = makeTable('Ours', 4, halves({ country_code: 'SE' }, { country_code: 'JP' }))
    const refused: readonly Buffer[] = [
      Buffer.alloc(0),
      Buffer.from('<html>'),
      whole.subarray(0, whole.length - 30),
      whole.subarray(40),
      makeTable('GeoLite2-ASN', 4, halves({ autonomous_system_number: 1 }, { autonomous_system_number: 2 })),
      makeTable('Odd', 4, halves({ country: 7 }, { country_code: '<script>' })),
    ]
    for (const [index, file] of refused.entries())
      expect(() => readCountryTable(file), `file ${index}`).to.throw(
        OperatorError,
        'in the format of MaxMind (.mmdb): ',
      )
    expect(() => readCountryTable(refused[4]!)).to.throw('GeoLite2-ASN has no countries')
  })

  it('has no country for an address in a part that is damaged, instead of failing the visit', () => {
    const whole = makeTable('Ours', 4, {
      '0': { country_code: 'SE' },
      '10': { country_code: 'JP' },
      '110': { country_code: 'CA' },
      '1110': { country_code: 'FI' },
    })
    for (let at = 0; at < whole.length; at++) {
      const damaged = Buffer.from(whole)
      damaged[at] = damaged[at]! ^ 0xff
      let table
      try {
        table = readCountryTable(damaged)
      } catch (error) {
        expect(error).to.be.instanceOf(OperatorError)
        continue
      }
      const countries = openCountries(table)
      for (const address of ['8.8.8.8', '130.1.1.1', '200.1.1.1', '230.1.1.1', '223.255.1.1'])
        expect(countries.of(address)).to.match(/^(?:[A-Z]{2})?$/)
    }
  })
})
