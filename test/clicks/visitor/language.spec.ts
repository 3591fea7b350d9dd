import { expect } from 'chai'
import fc from 'fast-check'
import {
  isLanguage,
  languagesLimit,
  preferredLanguages,
  primaryLanguage,
} from '../../../src/clicks/visitor/language.ts'
import { cpuTime } from '../../support/clock.ts'
import { anyText } from '../../support/text.ts'

describe("the languages in a visitor's Accept-Language header", () => {
  it('are primary subtags ordered by q-value', () => {
    expect(preferredLanguages('fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5')).to.deep.equal(['fr', 'en', 'de'])
    expect(preferredLanguages('en;q=0.5,pt-BR;q=0.8,zh-Hans-CN')).to.deep.equal(['zh', 'pt', 'en'])
    expect(preferredLanguages('EN-us')).to.deep.equal(['en'])
  })

  it('keep the order of the header when their q-values are equal', () => {
    expect(preferredLanguages('de,en,fr')).to.deep.equal(['de', 'en', 'fr'])
    expect(preferredLanguages('de;q=0.5,en;q=0.5,fr')).to.deep.equal(['fr', 'de', 'en'])
  })

  it('are listed once each, by the highest q-value', () => {
    expect(preferredLanguages('en-US;q=0.2,de;q=0.5,en-GB;q=0.9')).to.deep.equal(['en', 'de'])
  })

  it('have one canonical name each', () => {
    expect(preferredLanguages('iw-IL,eng;q=0.9,deu;q=0.8,fil;q=0.7')).to.deep.equal(['he', 'en', 'de', 'fil'])
  })

  it('exclude languages with q=0 and wildcards', () => {
    expect(preferredLanguages('en;q=0,de;q=0.000,fr')).to.deep.equal(['fr'])
    expect(preferredLanguages('*')).to.deep.equal([])
    expect(preferredLanguages('')).to.deep.equal([])
    expect(preferredLanguages('x-klingon,i-default,english,e,de')).to.deep.equal(['de'])
  })

  it('are read from the valid entries of a malformed header', () => {
    expect(preferredLanguages(' de ; q = 0.5 ,, ,en; q=0.9')).to.deep.equal(['en', 'de'])
    expect(preferredLanguages('de_DE,en;q=high,fr;q=.5,es;q=1.')).to.deep.equal(['de', 'es', 'fr'])
    expect(preferredLanguages('de;q=7,en')).to.deep.equal(['de', 'en'])
    expect(preferredLanguages('de;q=1.2.3,en')).to.deep.equal(['en'])
  })

  it('are read from the first 256 characters, without an incomplete last entry', () => {
    const start = 'de'.padEnd(languagesLimit - 4, ' ')
    expect(preferredLanguages(`${start},en,`)).to.deep.equal(['de', 'en'])
    expect(preferredLanguages(`${start},enm,`)).to.deep.equal(['de'])
    expect(preferredLanguages('a'.repeat(100_000))).to.deep.equal([])
  })

  it('are parsed in bounded time, whatever the header', async () => {
    for (const piece of [' ', ',', ';', 'de,', 'de;q=', '-', '*', 'a-', 'q=0.', '1', 'é', 'de;q=0.5,', ' ,', '; ']) {
      const long = piece.repeat(Math.ceil(100_000 / piece.length))
      const { ms } = await cpuTime(() => [long, `de${long}!`].map(preferredLanguages))
      expect(ms, piece).to.be.below(2000)
    }
  })

  it('have two or three letters, whatever the header', () => {
    const piece = fc.constantFrom('de', 'en-US', 'fr', ';q=', '0.5', '1', ',', ' ', '*', '-', 'zh_Hant', 'é', '\u0000')
    const header = fc.oneof(
      anyText({ maxLength: 300 }),
      fc.array(piece, { maxLength: 40 }).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(header, (text) => preferredLanguages(text).every((tag) => /^[a-z]{2,3}$/.test(tag))),
      { numRuns: 300 },
    )
  })
})

describe('the code of a language', () => {
  it('is compared by its primary subtag, in any case', () => {
    for (const code of ['pt', 'pt-BR', 'PT_br', 'por']) expect(primaryLanguage(code), code).to.equal('pt')
    for (const code of ['', '*', 'x-klingon']) expect(primaryLanguage(code), code).to.equal('')
  })
  it('is that of a language which browsers can ask for', () => {
    for (const code of ['de', 'DE-at', 'eng', 'zh-Hant-TW']) expect(isLanguage(code), code).to.equal(true)
    for (const code of ['', 'xx', 'english', 'q']) expect(isLanguage(code), code).to.equal(false)
  })
})
