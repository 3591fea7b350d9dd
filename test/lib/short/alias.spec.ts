import { expect } from 'chai'
import fc from 'fast-check'
import { aliasKey, aliasPath, exactAlias, exactAliasesAt, isExact, shownAlias } from '../../../src/lib/short/alias.ts'
import { repeatable, seed } from '../../support/faults.ts'

describe(`an exact alias (${repeatable})`, () => {
  it('is a path with its slash, compared as it is; any other is compared in lower case', () => {
    expect(exactAlias('Sale/2026.html')).to.equal('/Sale/2026.html')
    expect([aliasKey('/Sale'), aliasKey('Sale')]).to.deep.equal(['/Sale', 'sale'])
    expect([isExact('/Sale'), isExact('Sale')]).to.deep.equal([true, false])
    expect([shownAlias('/Sale/a'), shownAlias('Sale')]).to.deep.equal(['Sale/a', 'Sale'])
  })

  it('is in the composed form of Unicode, and has at most 255 bytes of UTF-8', () => {
    expect(exactAlias('cafe\u0301')).to.equal('/caf\u00e9')
    expect(exactAlias('é'.repeat(127))).to.equal(`/${'é'.repeat(127)}`)
    for (const path of ['é'.repeat(128), 'x'.repeat(256), '']) expect(exactAlias(path), path).to.equal(undefined)
  })

  it('has no part that browsers leave out or change', () => {
    for (const path of ['/a', 'a//b', 'a/', '.', 'a/..', '../a', 'a\\b', 'a\nb', 'a\u0000', '\ud800', 'a/ /b'])
      expect(exactAlias(path), path).to.equal(undefined)
    for (const path of ['.a', 'a..b', '...', 'a.', '~', '%', '%41']) expect(exactAlias(path), path).to.equal(`/${path}`)
  })

  it('is asked for by the path that it is linked with, and by no other spelling of a slash', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (text) => {
        const alias = exactAlias(text)
        if (alias === undefined) return
        const { pathname } = new URL(`/${aliasPath(alias)}`, 'https://go.example')
        expect(exactAliasesAt(pathname)[0]?.alias).to.equal(alias)
      }),
      { seed },
    )
    for (const path of ['/a%2Fb', '/%zz', '/a//b', '/']) {
      const whole = exactAliasesAt(path).filter(({ segments }) => segments === undefined)
      expect(whole, path).to.deep.equal([])
    }
  })
})
