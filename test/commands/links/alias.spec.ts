import { expect } from 'chai'
import fc from 'fast-check'
import { Refused } from '../../../src/commands/decider.ts'
import { aliasKey } from '../../../src/lib/short/alias.ts'
import {
  aliasPattern,
  aliasProblem,
  isReserved,
  randomAlias,
  withRandomAlias,
} from '../../../src/commands/links/alias.ts'
import { anyText } from '../../support/text.ts'
import { problem } from '../../../src/lib/problems/problem.ts'

describe('a custom alias', () => {
  it('may have up to 64 letters, digits, hyphens and underscores', () => {
    for (const alias of ['a', '7', 'Summer-Sale_2026', 'a-', 'A_', 'x'.repeat(64)]) {
      expect(aliasProblem(alias), alias).to.equal(undefined)
    }
  })

  it('may not have any other form', () => {
    const wrong = [
      '',
      '-a',
      '_a',
      'x'.repeat(65),
      'a b',
      'a/b',
      'a.b',
      'a\n',
      '\na',
      'a%20',
      '../x',
      '$all',
      '$$x',
      'a?b',
      'a#b',
    ]
    for (const alias of wrong) expect(aliasProblem(alias)?.code, alias).to.equal('wrong_form')
  })

  it('may not contain letters that only look like ASCII', () => {
    const strange = [
      'аpple',
      'ａpple',
      'app\u200dle',
      '\u202eapple',
      'é',
      'e\u0301',
      'ſale',
      '\u212a',
      'ı',
      'İ',
      '١٢',
      '💩',
    ]
    for (const alias of strange) expect(aliasProblem(alias)?.code, alias).to.equal('wrong_form')
  })

  it('is compared case-insensitively', () => {
    expect(aliasKey('Summer-SALE_1')).to.equal(aliasKey('summer-sale_1'))
  })

  it('may not be a reserved word, in any letter case', () => {
    const words = [
      ['api', 'qr', 'metrics', 'health', 'healthz', 'ready', 'readyz', 'live', 'admin', 'login', 'logout', 'static'],
      [
        'assets',
        'u',
        'c',
        'p',
        'r',
        'robots',
        'favicon',
        'sitemap',
        'index',
        'well-known',
        'true',
        'null',
        'undefined',
      ],
      ['register', 'docs', 'openapi', 'asyncapi', 'app', 'dashboard', 'log', 'report', 'privacy', 'imprint', 'terms'],
      ['abuse', 'security', 'support', 'www', 'keys', 'webhooks', 'internal'],
    ].flat()
    for (const word of words) {
      for (const alias of [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)]) {
        expect(isReserved(alias), alias).to.equal(true)
        expect(aliasProblem(alias)?.code, alias).to.equal('reserved')
      }
    }
  })

  it('may contain a reserved word or be the name of an object property', () => {
    for (const alias of ['api2', 'my-api', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(aliasProblem(alias), alias).to.equal(undefined)
    }
  })

  it('is checked by its characters before anything else', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 70 }), (text) => {
        expect(aliasPattern.test(text)).to.equal(text.length <= 64 && /^[A-Za-z0-9]/.test(text) && !/[^\w-]/.test(text))
      }),
    )
  })
})

describe('a random alias', () => {
  const many = Array.from({ length: 20_000 }, randomAlias)

  it('has eight symbols that are not easily confused', () => {
    for (const alias of many) expect(alias).to.match(/^[a-km-np-z2-9]{8}$/)
  })

  it('passes the rules for custom aliases', () => {
    for (const alias of many) expect(aliasProblem(alias)).to.equal(undefined)
  })

  it('hardly repeats among 20,000', () => {
    // of 2^40, one repeats once in 5,500 times, and two once in 60 million
    expect(new Set(many).size).to.be.at.least(many.length - 1)
  })

  it('uses all 32 symbols with equal frequency in every place', () => {
    for (let place = 0; place < 8; place += 1) {
      const counts = new Map<string, number>()
      for (const alias of many) counts.set(alias.charAt(place), (counts.get(alias.charAt(place)) ?? 0) + 1)
      expect(counts.size).to.equal(32)
      // 625 expected, standard deviation 25: a deviation of eight of them happens once in 10^15
      for (const count of counts.values()) expect(count).to.be.within(425, 825)
    }
  })

  it('is drawn again only while it is taken, at most ten times', async () => {
    const drawn: string[] = []
    const refusing = (times: number, error: Error) => (alias: string) =>
      drawn.push(alias) > times ? Promise.resolve(alias) : Promise.reject(error)
    const failure = (make: (alias: string) => Promise<string>) =>
      withRandomAlias(make).then(
        () => undefined,
        (error: unknown) => error,
      )
    const taken = new Refused(problem('taken', { what: 'alias' }))
    expect(await withRandomAlias(refusing(3, taken))).to.equal(drawn[3])
    expect(new Set(drawn).size).to.equal(4)
    drawn.length = 0
    expect(await failure(refusing(20, taken))).to.equal(taken)
    expect(drawn).to.have.length(10)
    drawn.length = 0
    const other = new Refused(problem('required', { field: 'url' }))
    expect(await failure(refusing(1, other))).to.equal(other)
    expect(drawn).to.have.length(1)
  })
})
