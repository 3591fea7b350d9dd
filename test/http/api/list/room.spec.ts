import { expect } from 'chai'
import type { ListedPart } from '../../../../src/queries/page.ts'
import { list, listQuery } from '../../../../src/http/api/list/list.ts'
import { openCursors } from '../../../../src/http/api/list/cursor.ts'
import { urls } from '../../../../src/http/links/contract/link.ts'
import { Failure } from '../../../../src/http/api/errors.ts'
import { createRoom } from '../../../../src/http/api/list/room.ts'
import { identified } from '../../../../src/http/statistics/visits.ts'
import type { ListedVisit } from '../../../../src/queries/statistics/visits.ts'

describe('a page of a list with large entries', () => {
  const rows = [0, 1, 2, 3, 4]
  const listed = { rows, next: ['after all'] }
  const placeOf = (row: number) => [`after ${row}`]
  /** Returns the rows of a page of which the entries have these sizes and come in this order. */
  const fitted = (sizes: readonly number[], order: readonly number[]) => {
    // an entry as JSON has two more bytes
    const room = createRoom<string>((text) => text as unknown as object, 100)
    for (const row of order) room.put(row, 'x'.repeat(sizes[row]! - 2))
    return room.rows(listed, placeOf)
  }

  it('has all entries that fit, and continues after them', () => {
    expect(fitted([20, 20, 20, 20, 20], [4, 2, 0, 1, 3])).to.deep.equal(listed)
  })

  it('ends before the first one that does not fit, in whichever order they are read', () => {
    const ending = { rows: [0, 1], next: ['after 1'], cut: true }
    for (const order of [rows, rows.toReversed(), [2, 0, 4, 1, 3]])
      expect(fitted([40, 40, 40, 5, 5], order), order.join()).to.deep.equal(ending)
  })

  it('contains its first item, however large, so that paging comes to an end', () => {
    for (const order of [rows, rows.toReversed()])
      expect(fitted([300, 5, 5, 5, 5], order), order.join()).to.deep.equal({ rows: [0], next: ['after 0'], cut: true })
    expect(fitted([5, 300, 5, 5, 5], [1, 4, 0, 2, 3])).to.deep.equal({ rows: [0], next: ['after 0'], cut: true })
  })

  const visit = (n: number): ListedVisit =>
    ({
      of: 'link',
      id: 1,
      at: new Date(0),
      labels: {},
      position: BigInt(n),
      index: 0,
      destination: `https://example.com/${'x'.repeat(1000)}`,
      place: [n],
    }) as unknown as ListedVisit
  const services = { ordinals: { of: async () => new Map() } } as unknown as Parameters<typeof identified>[1]

  it('of visits ends where their destinations are too large together', async () => {
    const page = await identified(
      { total: 9, rows: [1, 2, 3, 4].map(visit), next: undefined },
      services,
      undefined,
      3000,
    )
    expect([page.total, page.rows.length, page.next, page.cut]).to.deep.equal([9, 2, [2], true])
  })

  describe('of any resource', () => {
    const title = 'x'.repeat(60_000)
    /** Returns the ids on a page of 300 links of 60 KB, and its cursor. */
    const ask = async (search: Readonly<Record<string, string>>, gone = new AbortController().signal) => {
      const call = {
        ...{
          account: 1,
          limited: undefined,
          path: '/api/urls',
          params: {},
          cursors: openCursors(Buffer.alloc(32)),
          gone: () => gone,
        },
        query: listQuery(urls).parse({ limit: '1000', ...search }),
      }
      const read = async ({ after }: { after?: readonly (number | string)[] | undefined }) => {
        const ids = Array.from({ length: 300 }, (_, n) => n).filter((n) => n > Number(after?.[0] ?? -1))
        return { total: 300, rows: ids.map((id) => ({ id })), places: ids.map((id) => [id]) }
      }
      const { data } = await list(urls, call, read, ({ id }) => ({ id, title }) as never)
      const { urls: entries, next_cursor } = data as unknown as { urls: { id: number }[]; next_cursor?: string }
      return { ids: entries.map(({ id }) => id), next: next_cursor }
    }

    it('ends before an entry that does not fit, and a cursor continues until all were returned', async () => {
      const seen: number[] = []
      let pages = 0
      for (let cursor: string | undefined = ''; cursor !== undefined; pages++) {
        const { ids, next } = await ask({ cursor })
        seen.push(...ids)
        cursor = next
      }
      expect(seen).to.deep.equal(Array.from({ length: 300 }, (_, n) => n))
      expect(pages).to.equal(5)
    })

    it('is refused by number, since the next one would leave something out', async () => {
      const refused = await ask({}).catch((error: unknown) => error)
      expect(refused).to.be.instanceOf(Failure)
      expect((refused as Failure).status).to.equal(400)
    })

    it('is read in parts until it has no room, and continues at its end', async () => {
      const read: number[] = []
      const ids = Array.from({ length: 1000 }, (_, n) => n)
      const partOf = (all: readonly number[]): ListedPart<{ id: number }> => {
        const [first, others] = [all.slice(0, 100), all.slice(100)]
        read.push(...first)
        const own = { total: 1000, rows: first.map((id) => ({ id })), places: first.map((id) => [id]) }
        return { ...own, next: undefined, rest: others.length > 0 ? async () => partOf(others) : undefined }
      }
      const seen: number[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined;) {
        const { data } = await list(
          urls,
          {
            ...{
              account: 1,
              limited: undefined,
              path: '/api/urls',
              params: {},
              cursors: openCursors(Buffer.alloc(32)),
            },
            gone: () => new AbortController().signal,
            query: listQuery(urls).parse({ limit: '1000', cursor }),
          },
          async ({ after }) => partOf(ids.filter((id) => id > Number(after?.[0] ?? -1))),
          ({ id }) => ({ id, title: title.slice(0, 30_000) }) as never,
        )
        const page = data as unknown as { urls: { id: number }[]; next_cursor?: string }
        if (cursor === '') expect([page.urls.length, read.length]).to.deep.equal([139, 200])
        seen.push(...page.urls.map(({ id }) => id))
        cursor = page.next_cursor
      }
      expect(seen).to.deep.equal(ids)
    })

    it('is not made for a client that is gone', async () => {
      expect(await ask({ cursor: '' }, AbortSignal.abort(new Error('gone'))).catch(String)).to.equal('Error: gone')
    })
  })

  it('of 20,000 visits is made in pieces, so that others are answered meanwhile', async () => {
    const rows = Array.from({ length: 20_000 }, (_, n) => visit(n))
    let [turns, made] = [0, false]
    const count = () => {
      turns++
      if (!made) setImmediate(count)
    }
    count()
    await identified({ total: rows.length, rows, next: undefined }, services)
    made = true
    expect(turns).to.be.above(2)
  })
})
