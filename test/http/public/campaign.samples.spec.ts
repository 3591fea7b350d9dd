import { expect } from 'chai'
import { createPick } from '../../../src/http/public/campaign/campaign.ts'
import { createSamples } from '../../../src/http/public/campaign/links.ts'
import type { Reader } from '../../../src/queries/reader.ts'

/**
 * Returns a reader whose tables have one link in every campaign of a list, and what was asked for, in this order: one
 * slug for the links of a campaign, many for whether there are such campaigns.
 */
const fakeReader = (slugs: readonly string[]) => {
  const asked: (string | readonly string[])[] = []
  const link = { campaign: '1', link: '2', domain: null, alias: 'a', expiry: null }
  const rowsOf = (given: string | readonly string[]) =>
    typeof given === 'string'
      ? [link]
      : slugs.filter((slug) => given.includes(slug)).map((slug) => ({ slug, id: '1', account: '1' }))
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
    const sampleOf = createSamples({ reader, progress: { seen: () => seen++ } })
    const sample = (slug: string) => sampleOf(slug, '192.0.2.1')
    const visits = Array.from({ length: 100 }, () => sample('busy'))
    const found = await Promise.all([...visits, sample('other')])
    expect(found.map((links) => links.length)).to.deep.equal(Array(101).fill(1))
    expect(asked).to.deep.equal([[...Array<string>(100).fill('busy'), 'other'], 'busy', 'other'])
  })

  it('are read again for a visit that comes while they are being read', async () => {
    const { asked, reader } = fakeReader(['busy', 'other'])
    let seen = 0n
    const sampleOf = createSamples({ reader, progress: { seen: () => seen++ } })
    const sample = (slug: string) => sampleOf(slug, '192.0.2.1')
    const first = sample('busy')
    while (!asked.includes('busy')) await new Promise(setImmediate)
    await Promise.all([first, sample('busy')])
    expect(asked.filter((one) => one === 'busy')).to.have.length(2)
  })

  it('are not read for guessed slugs, and thousands of guesses delay no other visitor', async () => {
    const { asked, reader } = fakeReader(['first', 'last'])
    let seen = 0n
    const sampleOf = createSamples({ reader, progress: { seen: () => seen++ } })
    const sample = (slug: string) => sampleOf(slug, '192.0.2.1')
    await sample('first')
    const guesses = Array.from({ length: 3000 }, (_, i) => sample(`guess${i}`))
    const links = await Promise.all([...guesses, sample('first'), sample('last')])
    expect(links.map(({ length }) => length)).to.deep.equal([...Array<number>(3000).fill(0), 1, 1])
    const shared = asked.filter((one) => typeof one !== 'string')
    expect(asked.filter((one) => typeof one === 'string')).to.deep.equal(['first', 'first', 'last'])
    // whether one that is known is still public waits for no guess either
    expect(shared.map(({ length }) => length)).to.deep.equal([1, 1000, 1, 1000, 1000, 1])
  })
})

describe('the link that a rotator picks', () => {
  const links = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ campaign: 1, link: n, domain: null, alias: `a${n}`, expiry: null }))
  /** Returns what picks from links of which only these lead somewhere, and how many were looked at. */
  const picking = (open: (link: number) => boolean) => {
    let looked = 0
    const targets = {
      get: async (_: number | null, alias: string) => {
        looked++
        const link = Number(alias.slice(1))
        return { link, domain: null, aliasKey: alias, url: `https://${open(link)}.example/`, variants: [] }
      },
    }
    const blocks = {
      link: () => false,
      address: () => false,
      domain: () => false,
      destination: (url: string) => url === 'https://false.example/',
    }
    const pick = createPick({ targets, now: Date.now, blocks, domains: {} } as unknown as Parameters<
      typeof createPick
    >[0])
    return { pick, looked: () => looked }
  }

  it('is none after a hundred that are blocked, which are not looked at again for the same sample', async () => {
    const { pick, looked } = picking(() => false)
    const sample = links(1000)
    for (let visit = 0; visit < 5; visit++) expect(await pick(sample)).to.equal('blocked')
    expect(looked()).to.equal(100)
    expect(await pick(links(10))).to.equal('blocked')
    expect(looked()).to.equal(110)
  })

  it('is any link that is not blocked, although others are', async () => {
    const { pick, looked } = picking((link) => link % 20 === 0)
    const sample = links(80)
    const found = new Set<number>()
    for (let visit = 0; visit < 1000; visit++) {
      const picked = await pick(sample)
      found.add(picked === 'blocked' || !picked ? -1 : picked.link.link)
    }
    expect([...found].toSorted((a, b) => a - b)).to.deep.equal([0, 20, 40, 60])
    expect(looked()).to.be.at.most(1000 + 76)
  })
})
