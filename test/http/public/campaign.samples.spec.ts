import { expect } from 'chai'
import { createSamples } from '../../../src/http/public/campaign.ts'
import type { Reader } from '../../../src/queries/reader.ts'

/**
 * Returns a reader whose tables have one link in every campaign of a list, and what was asked for, in this order: one
 * slug for the links of a campaign, many for whether there are such campaigns.
 */
const fakeReader = (slugs: readonly string[]) => {
  const asked: (string | readonly string[])[] = []
  const link = { campaign: '1', link: '2', domain: null, alias: 'a', expiry: null }
  const rowsOf = (given: string | readonly string[]) =>
    typeof given === 'string' ? [link] : slugs.filter((slug) => given.includes(slug)).map((slug) => ({ slug }))
  const rowsIn = new WeakMap<object, readonly object[]>()
  const db = (from: object) => {
    let rows = rowsIn.get(from) ?? []
    const query: object = new Proxy(
      {},
      {
        get: (_, name) => {
          if (name === 'then') return (resolve: (rows: object) => void) => setImmediate(resolve, rows)
          return (...given: unknown[]) => {
            if (name === 'whereRaw' && given[1] !== undefined) {
              const [value] = given[1] as [string | readonly string[]]
              asked.push(value)
              rows = rowsOf(value)
              rowsIn.set(query, rows)
            }
            return query
          }
        },
      },
    )
    return query
  }
  return { asked, reader: { db, table: (name: string) => name } as unknown as Reader }
}

describe('the links that a rotator chooses from', () => {
  it('are read once for all visits that wait, so that one rotator does not delay the others', async () => {
    const { asked, reader } = fakeReader(['busy', 'other'])
    let seen = 0n
    // each visit finds the tables changed, so none is served from the cache
    const sample = createSamples({ reader, progress: { seen: () => seen++ } })
    const visits = Array.from({ length: 100 }, () => sample('busy'))
    const found = await Promise.all([...visits, sample('other')])
    expect(found.map((links) => links.length)).to.deep.equal(Array(101).fill(1))
    expect(asked).to.deep.equal([[...Array<string>(100).fill('busy'), 'other'], 'busy', 'other'])
  })

  it('are read again for a visit that comes while they are being read', async () => {
    const { asked, reader } = fakeReader(['busy', 'other'])
    let seen = 0n
    const sample = createSamples({ reader, progress: { seen: () => seen++ } })
    const first = sample('busy')
    while (!asked.includes('busy')) await new Promise(setImmediate)
    await Promise.all([first, sample('busy')])
    expect(asked.filter((one) => one === 'busy')).to.have.length(2)
  })

  it('are not read for slugs that were guessed, and thousands of guesses hold up nobody', async () => {
    const { asked, reader } = fakeReader(['first', 'last'])
    let seen = 0n
    const sample = createSamples({ reader, progress: { seen: () => seen++ } })
    await sample('first')
    const guesses = Array.from({ length: 3000 }, (_, i) => sample(`guess${i}`))
    const links = await Promise.all([...guesses, sample('first'), sample('last')])
    expect(links.map(({ length }) => length)).to.deep.equal([...Array<number>(3000).fill(0), 1, 1])
    const shared = asked.filter((one) => typeof one !== 'string')
    expect(asked.filter((one) => typeof one === 'string')).to.deep.equal(['first', 'first', 'last'])
    expect(shared.map(({ length }) => length)).to.deep.equal([1, 1000, 1000, 1000, 1])
  })
})
