import { expect } from 'chai'
import { missedPath } from '../../../../src/http/public/link/misses.ts'
import { openMisses } from '../../../../src/postgres/misses.ts'
import { nearLinks, slips } from '../../../../src/queries/statistics/near.ts'
import { turnGrowth } from '../../../support/turns.ts'

describe('a path that leads nowhere', () => {
  it('is counted without its query, letter case, escapes, pasted ends and slashes at its end', () => {
    for (const url of ['/Sumer', '/sumer?utm_source=ann%40example.com', '//s%75mer/', '/sumer).', '/sumer#part'])
      expect(missedPath(url), url).to.equal('/sumer')
    expect(missedPath('/caf%C3%A9/men%C3%BC')).to.equal('/café/menü')
  })

  it('keeps its letter case on a domain with exact aliases, and is `other` as on all domains', () => {
    expect(missedPath('/Sale/2026.HTML/?x=1', true)).to.equal('/Sale/2026.HTML')
    for (const url of ['/Ann@example.com', '/John.Smith.HTML', '/User/Ann/Mueller', `/${'Ab'.repeat(11)}`])
      expect(missedPath(url, true), url).to.equal('other')
    expect(missedPath('/Robots.txt', true)).to.equal(undefined)
  })

  it('is `other` where it may name a person, in any spelling', () => {
    for (const url of [
      '/ann@example.com',
      '/ann%40example.com/x',
      '/u=7',
      '/u%3D7',
      `/${'a1'.repeat(11)}`,
      `/x/${'7'.repeat(21)}`,
      `/${'é'.repeat(21)}`,
      `/${'a-'.repeat(33)}`,
      '/%00x',
      '/%E2%80%AEx',
      '/%FF',
      '/%25%34%30%FF',
      '/4111111111111111',
      '/4915112345678',
      '/+49 151 123-45',
      '/٠١٢٣٤٥٦',
      '/203.0.113.77',
      '/2001:db8::1',
      '/de89-3704-0044-0532-0130-00',
      '/0f8fad5b-d9cb-469f-a165-70867728950e',
      '/abcdef-abcdef-abcdef-abcde1',
      '/sk_live_abcdefghij_klmnopqrst',
      '/eyjhbgcioijiuzi1nij9-x.y',
      '/ann＠example',
      '/ann at example.com',
      '/ann at example．com',
      '/user/ann-mueller-1980-05-17',
      '/user/ann/mueller',
      '/john.smith',
      '/john.smith.html',
    ])
      expect(missedPath(url), url).to.equal('other')
    for (const path of [
      `/${'ab'.repeat(10)}`,
      '/sale-2026-11',
      '/our-summer-sale-in-berlin',
      '/a1b2c3d4e5f6',
      '/menu.html',
    ])
      expect(missedPath(path)).to.equal(path)
  })

  it('is not counted where programs ask by themselves', () => {
    for (const url of ['/robots.txt', '/apple-touch-icon-120x120-precomposed.png', '/ads.txt', '/sitemap_index.xml?x'])
      expect(missedPath(url), url).to.equal(undefined)
  })
})

describe('the slips by which an alias is found', () => {
  it('are a letter too many, too few, swapped or wrong', () => {
    const near = slips('sumer')
    for (const alias of ['summer', 'suer', 'usmer', 'sumerr', 'sumed', 'su-mer']) expect(near, alias).to.include(alias)
    for (const alias of ['sumer', '', 'summerr', 'winter']) expect(near, alias).not.to.include(alias)
  })
})

describe('the links that are near to an answer of 1,000 addresses', () => {
  const letters = 'abcdefghijklmnop'
  const asked = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      domain: 1,
      exact: false,
      path: `/${letters}${String(n).padStart(4, '0')}`,
    }))
  /** Looks for them where no link is, and returns how many aliases were asked for. */
  const look = async (addresses: ReturnType<typeof asked>) => {
    let keys: readonly unknown[] = []
    const raw = (_: string, values: readonly (readonly unknown[])[]) => {
      keys = values[0] ?? []
      return Promise.resolve({ rows: [] })
    }
    await nearLinks({ db: { raw }, table: String } as never, 1, addresses)
    return keys.length
  }

  it('are looked for among the slips of 25 only, and let other requests be answered', async () => {
    const each = slips(`${letters}0000`).length
    expect(await look(asked(1000))).to.be.within(1000, 25 * each + 1000)
    expect(await look([{ domain: 1, exact: false, path: `/${letters}00000` }])).to.equal(1)
    expect(await turnGrowth(asked, look, { from: 25, to: 1600, times: 8 })).to.be.at.most(4)
  })
})

describe('misses that wait to be written', () => {
  const failing = { transaction: () => Promise.reject(new Error('away')) } as never
  const miss = (path: string) => ({
    ...{ account: 1, host: 'go.example.com', kind: 'unknown' as const },
    ...{ path, byPerson: true },
  })
  /** Returns what is written, by path. */
  const written = async (misses: ReturnType<typeof openMisses>, db: { rows: unknown[] }) => {
    await misses.write()
    const [, , , paths, , counts] = db.rows as [unknown, unknown, unknown, string[], unknown, number[]]
    return new Map(paths.map((path, i) => [path, counts[i] ?? 0]))
  }
  const recording = (fails: () => boolean) => {
    const db = { rows: [] as unknown[] }
    const raw = async (_: string, values: unknown) => void (Array.isArray(values) && (db.rows = values))
    const transaction = (work: (tx: unknown) => Promise<void>) =>
      fails() ? Promise.reject(new Error('away')) : work({ raw })
    return { db, misses: openMisses({ transaction } as never, () => Date.UTC(2026, 0, 31, 23)) }
  }

  it('are kept when the database is away', async () => {
    let away = true
    const { db, misses } = recording(() => away)
    misses.note(miss('/a'))
    expect(await misses.write().catch(String)).to.equal('Error: away')
    misses.note(miss('/a'))
    away = false
    expect([...(await written(misses, db))]).to.deep.equal([['/a', 2]])
    expect(db.rows[0]).to.equal('2026-01-31')
  })

  it('are at most 10,000 addresses, and the others together', async () => {
    const { db, misses } = recording(() => false)
    for (let n = 0; n < 10_050; n++) misses.note(miss(`/${n}`))
    const counts = await written(misses, db)
    expect([counts.size, counts.get('other')]).to.deep.equal([10_001, 50])
  })

  it('never make a visitor wait or fail', () => {
    expect(openMisses(failing, Date.now).note(miss('/a'))).to.equal(undefined)
  })
})
