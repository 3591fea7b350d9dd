import { expect } from 'chai'
import fc from 'fast-check'
import { isWithin } from '../../src/lib/json.ts'
import { turnGrowth } from '../support/turns.ts'

/** Returns how many arrays and objects the deepest value is in, and how many values there are. */
const measure = (value: unknown): { levels: number; values: number } => {
  const inside = typeof value === 'object' && value !== null ? Object.values(value).map(measure) : []
  return {
    levels: Math.max(0, ...inside.map(({ levels }) => levels + 1)),
    values: inside.reduce((sum, { values }) => sum + values, 1),
  }
}

describe('the limits of a JSON text', () => {
  it('count the levels and the values of any JSON as they are once it is parsed', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1), (value, space) => {
        const text = JSON.stringify(value, undefined, space)
        const { levels, values } = measure(JSON.parse(text))
        const exact = isWithin(text, { levels, values })
        const lower = [isWithin(text, { levels: levels - 1, values }), isWithin(text, { levels, values: values - 1 })]
        expect([exact, ...lower], text).to.deep.equal([true, levels === 0, false])
      }),
    )
  })

  it('take strings for what they are, also with quotation marks, backslashes and brackets in them', () => {
    const limits = { levels: 1, values: 3 }
    for (const text of ['["[[[", ",,,"]', '["\\"[[[", "\\\\"]', '["\\\\\\"[", ","]', '{"[[{,":"}"}'])
      expect(isWithin(text, limits), text).to.equal(true)
    expect(isWithin('["\\\\", [[1]]]', limits)).to.equal(false)
  })

  it('take no longer than the length of the text allows, whatever is in it', async () => {
    const none = { levels: Infinity, values: Infinity }
    for (const part of ['[', '"', '\\', '"\\', '\\"', '{"a":', '[],', ' '])
      for (const begin of ['', '"']) {
        const textOf = (size: number) => begin + part.repeat(size / part.length)
        const growth = await turnGrowth(textOf, (text) => isWithin(text, none), { from: 1 << 16, to: 1 << 21 })
        expect(growth, begin + part).to.be.at.most(3)
      }
  })
})
