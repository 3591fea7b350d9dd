import { expect } from 'chai'
import { t as all } from '../../../src/web/core/alltexts.ts'
import { counted, figure, fill, lang, loadTexts, useLanguage } from '../../../src/web/core/texts.ts'

type Leaf = readonly [path: string, text: string]

/** Returns all texts below a part of the catalogue, by their paths. */
const leavesOf = (part: unknown, path = ''): readonly Leaf[] =>
  typeof part === 'string'
    ? [[path, part]]
    : Object.entries(part as Readonly<Record<string, unknown>>).flatMap(([name, value]) =>
        leavesOf(value, path === '' ? name : `${path}.${name}`),
      )

const catalogueOf = async (language: string): Promise<ReadonlyMap<string, string>> => {
  await useLanguage(language)
  await loadTexts()
  return new Map(leavesOf(all()))
}
const placeholdersIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted()

describe('texts of the dashboard', () => {
  after(() => catalogueOf('en'))

  for (const language of ['de', 'es', 'fr'])
    it(`have all English texts in ${language}, with the same values filled in`, async () => {
      const [english, translated] = [await catalogueOf('en'), await catalogueOf(language)]
      expect([...translated.keys()].toSorted()).to.deep.equal([...english.keys()].toSorted())
      const differ = [...english].filter(
        ([path, text]) => `${placeholdersIn(text)}` !== `${placeholdersIn(translated.get(path) ?? '')}`,
      )
      // a singular may leave its number out
      expect(differ.map(([path]) => path).filter((path) => !path.endsWith('.one'))).to.deep.equal([])
    })

  it('fill in given values, and show missing ones', () => {
    expect(fill('{a} of {b}, {a}', { a: 1, b: 'two' })).to.equal('1 of two, 1')
    expect(fill('{a} {b}', { a: '{b}' })).to.equal('{b} {b}')
  })

  it('count in the form and with the separators of the language', async () => {
    const links = { one: '{n} link', other: '{n} links' }
    await catalogueOf('en')
    expect([0, 1, 2, 12_345].map((n) => counted(links, n))).to.deep.equal([
      '0 links',
      '1 link',
      '2 links',
      '12,345 links',
    ])
    expect(figure(1.25, 1)).to.equal('1.3')
    await catalogueOf('fr')
    // in French, zero is singular
    expect(counted(links, 0)).to.equal('0 link')
    await catalogueOf('de')
    expect(figure(12_345)).to.equal('12.345')
  })

  it('are English where the language is not known', async () => {
    for (const code of ['xx', '', 'constructor']) {
      await useLanguage(code)
      expect(lang.value).to.equal('en')
    }
  })
})
