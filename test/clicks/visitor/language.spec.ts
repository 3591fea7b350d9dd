import { expect } from 'chai'
import fc from 'fast-check'
import {
  isLanguage,
  languagesLimit,
  preferredLanguages,
  primaryLanguage,
} from '../../../src/clicks/visitor/language.ts'
import { canonicalRange, fitOf } from '../../../src/clicks/visitor/range.ts'
import { cpuTime } from '../../support/clock.ts'
import { anyText } from '../../support/text.ts'

describe("the languages in a visitor's Accept-Language header", () => {
  it('are ranges with their script and region, ordered by q-value', () => {
    const swiss = 'fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5'
    expect(preferredLanguages(swiss)).to.deep.equal(['fr-CH', 'fr', 'en', 'de'])
    expect(preferredLanguages('en;q=0.5,pt-BR;q=0.8,zh-Hans-CN')).to.deep.equal(['zh-Hans-CN', 'pt-BR', 'en'])
    expect(preferredLanguages('EN-us,ZH_hant')).to.deep.equal(['en-US', 'zh-Hant'])
  })

  it('keep the order of the header when their q-values are equal', () => {
    expect(preferredLanguages('de,en,fr')).to.deep.equal(['de', 'en', 'fr'])
    expect(preferredLanguages('de;q=0.5,en;q=0.5,fr')).to.deep.equal(['fr', 'de', 'en'])
  })

  it('are listed once each, by the highest q-value', () => {
    expect(preferredLanguages('en-us;q=0.2,de;q=0.5,en-US;q=0.9')).to.deep.equal(['en-US', 'de'])
  })

  it('have one canonical name each', () => {
    expect(preferredLanguages('iw-IL,eng;q=0.9,deu;q=0.8,fil;q=0.7')).to.deep.equal(['he-IL', 'en', 'de', 'fil'])
  })

  it('exclude languages with q=0 and wildcards', () => {
    expect(preferredLanguages('en;q=0,de;q=0.000,fr')).to.deep.equal(['fr'])
    expect(preferredLanguages('*')).to.deep.equal([])
    expect(preferredLanguages('')).to.deep.equal([])
    expect(preferredLanguages('x-klingon,i-default,english,e,de')).to.deep.equal(['de'])
  })

  it('are read from the valid entries of a malformed header', () => {
    expect(preferredLanguages(' de ; q = 0.5 ,, ,en; q=0.9')).to.deep.equal(['en', 'de'])
    expect(preferredLanguages('de_DE,en;q=high,fr;q=.5,es;q=1.')).to.deep.equal(['de-DE', 'es', 'fr'])
    expect(preferredLanguages('de;q=7,en')).to.deep.equal(['de', 'en'])
    expect(preferredLanguages('de;q=1.2.3,en')).to.deep.equal(['en'])
  })

  it('are read from the first 256 characters, without an incomplete last entry', () => {
    const start = 'de'.padEnd(languagesLimit - 4, ' ')
    expect(preferredLanguages(`${start},en,`)).to.deep.equal(['de', 'en'])
    expect(preferredLanguages(`${start},enm,`)).to.deep.equal(['de'])
    expect(preferredLanguages('a'.repeat(100_000))).to.deep.equal([])
  })

  it('are parsed in bounded time for any header', async () => {
    for (const piece of [' ', ',', ';', 'de,', 'de;q=', '-', '*', 'a-', 'q=0.', '1', 'é', 'de;q=0.5,', ' ,', '; ']) {
      const long = piece.repeat(Math.ceil(100_000 / piece.length))
      const { ms } = await cpuTime(() => [long, `de${long}!`].map(preferredLanguages))
      expect(ms, piece).to.be.below(2000)
    }
  })

  it('are short tags of letters for any header', () => {
    const piece = fc.constantFrom('de', 'en-US', 'fr', ';q=', '0.5', '1', ',', ' ', '*', '-', 'zh_Hant', 'é', '\u0000')
    const header = fc.oneof(
      anyText({ maxLength: 300 }),
      fc.array(piece, { maxLength: 40 }).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(header, (text) =>
        preferredLanguages(text).every((tag) => /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|\d{3}))?$/.test(tag)),
      ),
      { numRuns: 300 },
    )
  })
})

describe('the code of a language', () => {
  it('is compared by its primary subtag, in any case', () => {
    for (const code of ['pt', 'pt-BR', 'PT_br', 'por']) expect(primaryLanguage(code), code).to.equal('pt')
    for (const code of ['', '*', 'x-klingon']) expect(primaryLanguage(code), code).to.equal('')
  })
  it('is one of a language that browsers can request', () => {
    for (const code of ['de', 'DE-at', 'eng', 'zh-Hant-TW']) expect(isLanguage(code), code).to.equal(true)
    for (const code of ['', 'xx', 'english', 'q']) expect(isLanguage(code), code).to.equal(false)
  })
})

describe('the language that fits the request of a visitor', () => {
  /** Returns the one that fits best among several, which no order of them changes. */
  const best = (asked: string, offered: readonly string[]) => {
    const choose = (names: readonly string[]) =>
      names
        .flatMap((name) => {
          const fit = fitOf(name, asked)
          return fit === undefined ? [] : [{ name, fit }]
        })
        .toSorted((a, b) => a.fit - b.fit)[0]?.name
    const found = choose(offered)
    expect(choose(offered.toReversed()), `${asked} among ${offered.join(', ')}`).to.equal(found)
    return found
  }

  it('is the same, then one that means the same, then a shorter one, then another region', () => {
    for (const [asked, offered, wanted] of [
      ['zh-CN', ['zh-TW', 'zh-CN'], 'zh-CN'],
      ['zh-TW', ['zh-CN', 'zh-TW', 'zh'], 'zh-TW'],
      ['zh-TW', ['zh-Hans', 'zh-Hant', 'zh'], 'zh-Hant'],
      ['zh-HK', ['zh-Hans', 'zh-Hant'], 'zh-Hant'],
      ['zh-Hant-TW', ['zh-CN', 'zh-TW'], 'zh-TW'],
      ['zh-Hant-HK', ['zh', 'zh-Hant'], 'zh-Hant'],
      ['en-GB', ['en-US', 'en-GB'], 'en-GB'],
      ['en-AU', ['en-US', 'en', 'de'], 'en'],
      ['en', ['en-GB', 'en-US'], 'en-US'],
      ['pt', ['pt-PT', 'pt-BR'], 'pt-BR'],
      ['pt-PT', ['pt-BR', 'es'], 'pt-BR'],
      ['pt-BR', ['pt'], 'pt'],
      ['PT_br', ['pt-br', 'pt'], 'pt-br'],
      ['sr-Latn-RS', ['sr-Cyrl', 'sr-Latn'], 'sr-Latn'],
      ['he', ['iw'], 'iw'],
      ['en-US', ['de', 'fr-CA'], undefined],
    ] as const)
      expect(best(asked, offered), `${asked} among ${offered.join(', ')}`).to.equal(wanted)
  })

  it('is none for an invalid language', () => {
    for (const text of ['', '*', 'english', 'x-klingon', '12']) {
      expect(fitOf(text, 'en'), text).to.equal(undefined)
      expect(fitOf('en', text), text).to.equal(undefined)
      expect(canonicalRange(text), text).to.equal('')
    }
  })
})
