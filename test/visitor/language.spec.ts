import { expect } from 'chai'
import fc from 'fast-check'
import { languagesLimit, preferredLanguages } from '../../src/visitor/language.ts'

describe("a visitor's languages", () => {
  it('are primary subtags in the order of their weight', () => {
    expect(preferredLanguages('fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5')).to.deep.equal(['fr', 'en', 'de'])
    expect(preferredLanguages('en;q=0.5,pt-BR;q=0.8,zh-Hans-CN')).to.deep.equal(['zh', 'pt', 'en'])
    expect(preferredLanguages('EN-us')).to.deep.equal(['en'])
  })

  it('stand as sent when they weigh the same', () => {
    expect(preferredLanguages('de,en,fr')).to.deep.equal(['de', 'en', 'fr'])
    expect(preferredLanguages('de;q=0.5,en;q=0.5,fr')).to.deep.equal(['fr', 'de', 'en'])
  })

  it('are each named once, by the highest weight', () => {
    expect(preferredLanguages('en-US;q=0.2,de;q=0.5,en-GB;q=0.9')).to.deep.equal(['en', 'de'])
  })

  it('go by one name each', () => {
    expect(preferredLanguages('iw-IL,eng;q=0.9,deu;q=0.8,fil;q=0.7')).to.deep.equal(['he', 'en', 'de', 'fil'])
  })

  it('leave out what is not wanted, or says nothing', () => {
    expect(preferredLanguages('en;q=0,de;q=0.000,fr')).to.deep.equal(['fr'])
    expect(preferredLanguages('*')).to.deep.equal([])
    expect(preferredLanguages('')).to.deep.equal([])
    expect(preferredLanguages('x-klingon,i-default,english,e,de')).to.deep.equal(['de'])
  })

  it('are read as far as they can be', () => {
    expect(preferredLanguages(' de ; q = 0.5 ,, ,en; q=0.9')).to.deep.equal(['en', 'de'])
    expect(preferredLanguages('de_DE,en;q=high,fr;q=.5,es;q=1.')).to.deep.equal(['de', 'es', 'fr'])
    expect(preferredLanguages('de;q=7,en')).to.deep.equal(['de', 'en'])
    expect(preferredLanguages('de;q=1.2.3,en')).to.deep.equal(['en'])
  })

  it('are read from the first 256 bytes, without the entry that was cut', () => {
    const start = 'de'.padEnd(languagesLimit - 4, ' ')
    expect(preferredLanguages(`${start},en,`)).to.deep.equal(['de', 'en'])
    expect(preferredLanguages(`${start},enm,`)).to.deep.equal(['de'])
    expect(preferredLanguages('a'.repeat(100_000))).to.deep.equal([])
  })

  it('take bounded time, however odd they are', () => {
    for (const piece of [' ', ',', ';', 'de,', 'de;q=', '-', '*', 'a-', 'q=0.', '1', 'é', 'de;q=0.5,', ' ,', '; ']) {
      const long = piece.repeat(Math.ceil(100_000 / piece.length))
      const started = performance.now()
      preferredLanguages(long)
      preferredLanguages(`de${long}!`)
      expect(performance.now() - started, piece).to.be.below(250)
    }
  })

  it('are two or three letters, whatever is sent', () => {
    const piece = fc.constantFrom('de', 'en-US', 'fr', ';q=', '0.5', '1', ',', ' ', '*', '-', 'zh_Hant', 'é', '\u0000')
    const header = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.array(piece, { maxLength: 40 }).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(header, (text) => preferredLanguages(text).every((tag) => /^[a-z]{2,3}$/.test(tag))),
      { numRuns: 300 },
    )
  })
})
