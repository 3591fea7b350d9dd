import { expect } from 'chai'
import { englishTexts, problemCodes } from '../../src/lib/problems/problem.ts'
import de from '../../src/web/texts/problems/de.json' with { type: 'json' }
import es from '../../src/web/texts/problems/es.json' with { type: 'json' }
import fr from '../../src/web/texts/problems/fr.json' with { type: 'json' }

const languages: Readonly<Record<string, Readonly<Record<string, string>>>> = { de, es, fr }

/** Every English sentence by the key that a translation of it has: `code`, or `code.what`. */
const english = new Map(
  Object.entries<string | Readonly<Record<string, string>>>(englishTexts).flatMap(([code, text]) =>
    typeof text === 'string'
      ? [[code, text] as const]
      : Object.entries(text).map(([what, sentence]) => [`${code}.${what}`, sentence] as const),
  ),
)
const namesIn = (text: string) => [...text.matchAll(/\{(\w+)/g)].map(([, name]) => name)

describe('the problems of the API', () => {
  it('have codes that name the reason, in snake_case', () => {
    for (const code of problemCodes) expect(code).to.match(/^[a-z]+(?:_[a-z]+)*$/)
  })

  for (const [language, texts] of Object.entries(languages)) {
    it(`have a text for each code in the dashboard: ${language}`, () => {
      expect(problemCodes.filter((code) => !texts[code] && !texts[`${code}.plain`])).to.deep.equal([])
      const variants = (code: string) => [...english.keys()].filter((key) => key.startsWith(`${code}.`))
      for (const code of problemCodes)
        if (!texts[code])
          expect(
            variants(code).filter((key) => !texts[key]),
            code,
          ).to.deep.equal([])
    })

    it(`have texts with the same values as the English one: ${language}`, () => {
      for (const [key, text] of Object.entries(texts)) {
        const keys = [...english.keys()].filter((known) => known === key || known.startsWith(`${key}.`))
        expect(keys, `${key} is no problem`).not.to.deep.equal([])
        for (const known of keys.filter((one) => one === key || !texts[one]))
          expect(namesIn(english.get(known)!), known).to.include.members(namesIn(text))
      }
    })
  }
})
