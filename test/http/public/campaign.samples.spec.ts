import { expect } from 'chai'
import { createSamples } from '../../../src/http/public/campaign.ts'
import type { Reader } from '../../../src/queries/reader.ts'

/** Returns a reader whose tables have one link in every campaign, and the slugs that were asked for, in their order. */
const fakeReader = () => {
  const asked: unknown[] = []
  const link = { campaign: '1', link: '2', domain: null, alias: 'a', expiry: null }
  const query: object = new Proxy(
    {},
    {
      get: (_, name) => {
        if (name === 'then') return (resolve: (rows: object) => void) => setImmediate(resolve, [link])
        return (...given: unknown[]) => {
          if (name === 'whereRaw') asked.push(...(given[1] as unknown[]))
          return query
        }
      },
    },
  )
  return { asked, reader: { db: () => query, table: (name: string) => name } as unknown as Reader }
}

describe('the links that a rotator chooses from', () => {
  it('are read once for all visits that wait, so that one rotator does not delay the others', async () => {
    const { asked, reader } = fakeReader()
    let seen = 0n
    // each visit finds the tables changed, so none is served from the cache
    const sample = createSamples({ reader, progress: { seen: () => seen++ } })
    const visits = Array.from({ length: 100 }, () => sample('busy'))
    const found = await Promise.all([...visits, sample('other')])
    expect(found.map((links) => links.length)).to.deep.equal(Array(101).fill(1))
    expect(asked).to.deep.equal(['busy', 'other'])
  })

  it('are read again for a visit that comes while they are being read', async () => {
    const { asked, reader } = fakeReader()
    let seen = 0n
    const sample = createSamples({ reader, progress: { seen: () => seen++ } })
    const first = sample('busy')
    while (asked.length === 0) await Promise.resolve()
    await Promise.all([first, sample('busy')])
    expect(asked).to.deep.equal(['busy', 'busy'])
  })
})
