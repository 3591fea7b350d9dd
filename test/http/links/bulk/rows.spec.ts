import { Readable } from 'node:stream'
import { expect } from 'chai'
import type { Context } from 'koa'
import { z } from 'zod'
import { Failure } from '../../../../src/http/api/errors.ts'
import { readRows } from '../../../../src/http/links/bulk/rows.ts'
import { turnGrowth } from '../../../support/turns.ts'
import { problem } from '../../../../src/lib/problems/problem.ts'

const fields = z.object({ url: z.string(), title: z.string(), tags: z.array(z.string()) })
const types = { csv: 'text/csv', lines: 'application/x-ndjson', json: 'application/json' } as const

/** Reads a body as the API does. Returns its rows, or the message of the answer, and what the request was charged. */
const read = async (type: keyof typeof types, body: string | Buffer, schema: z.ZodObject = fields) => {
  const headers: Readonly<Record<string, string>> = { 'Content-Type': types[type] }
  const req = Readable.from([Buffer.from(body)])
  const charged: number[] = []
  const charge = async (requests: number) => void charged.push(requests)
  try {
    const ctx = { get: (name: string) => headers[name] ?? '', req, request: {} } as unknown as Context
    return { rows: await readRows(ctx, charge, schema), charged }
  } catch (error) {
    if (error instanceof Failure) return { message: error.message, charged }
    throw error
  }
}

describe('the rows of a body', () => {
  const KiB = 1024
  const MiB = KiB * KiB
  const url = 'https://example.com/'

  it('are charged as one request for every 64 KiB, before they are parsed', async () => {
    for (const [size, requests] of [
      [1, 1],
      [64 * KiB, 1],
      [64 * KiB + 1, 2],
      [4 * MiB, 64],
    ] as const)
      expect((await read('lines', 'x'.repeat(size))).charged.at(-1)).to.equal(requests)
  })

  it('are charged for their announced length before they arrive, and for their real length when none was announced', async () => {
    const refuse = () => Promise.reject(new Failure(429, problem('too_many_requests', { what: 'codes', seconds: 1 })))
    const arrived: number[] = []
    const pieces = function* () {
      for (let n = 0; n < 64; n++) {
        arrived.push(n)
        yield Buffer.alloc(64 * KiB, 'x')
      }
    }
    const refused = async (length: number | undefined, charge: (requests: number) => Promise<void>) => {
      arrived.length = 0
      const req = Readable.from(pieces(), { highWaterMark: 1 })
      const ctx = {
        get: (name: string) => ({ 'Content-Type': types.lines })[name] ?? '',
        req,
        request: { length },
      } as unknown
      const { status } = await readRows(ctx as Context, charge, fields).then(
        () => ({ status: 200 }),
        (error: Failure) => error,
      )
      return [status, arrived.length < 8]
    }
    expect(await refused(4 * MiB, refuse)).to.deep.equal([429, true])
    expect(await refused(undefined, (requests) => (requests > 3 ? refuse() : Promise.resolve()))).to.deep.equal([
      429,
      true,
    ])
  })

  it('have the cells of the header, which has at most 200', async () => {
    const header = (cells: number) => ['url', ...Array.from({ length: cells - 1 }, (_, i) => `x${i}`)].join()
    expect((await read('csv', `${header(201)}\n${url}`)).message).to.equal(
      'The header must have at most 200 cells; it has 201.',
    )
    const { rows } = await read('csv', `${header(200)}\n${url}${','.repeat(199)}\n${url}${','.repeat(5000)}\n`)
    expect(rows).to.deep.equal([
      { number: 1, line: 2, value: { url } },
      {
        number: 2,
        line: 3,
        problem: problem('wrong_body', { what: 'row_cells', cells: 5001, header: 200 }),
      },
    ])
  })

  it('are read as spreadsheets and programs write them', async () => {
    const typed = z.object({ url: z.string(), archived: z.boolean(), max: z.number(), title: z.string() })
    const table = async (text: string) => (await read('csv', text, typed)).rows
    const values = (rows: Awaited<ReturnType<typeof table>>) =>
      rows?.map((row) => ('value' in row ? row.value : row.problem))
    const cells = ['TRUE', 'True', 'true', ' FALSE ', 'false']
    const found = values(await table(`url,archived\n${cells.map((cell) => `${url},${cell}`).join('\n')}`))
    expect(found).to.deep.equal([true, true, true, false, false].map((archived) => ({ url, archived })))
    expect(values(await table(`url,title\n${url},TRUE`)), 'a text').to.deep.equal([{ url, title: 'TRUE' }])
    // no row of values, and no answer about one
    expect(await table(`url,title\r\n${url},x\r\n,\r\n , \r\n"",\r\n`)).to.have.length(1)
    for (const first of ['sep=;\r\n', 'SEP=;\n', '\ufeffsep=;\n'])
      expect(values(await table(`${first}url;title\n${url};a,b,c,d,e\n`)), first).to.deep.equal([
        { url, title: 'a,b,c,d,e' },
      ])
  })

  it('are at most 64 KiB long, empty cells included', async () => {
    const { message } = await read('csv', `url,title\n${url}\n${','.repeat(64 * KiB + 1)}`)
    expect(message).to.match(/^A row must be at most 64 KiB long in line 3/)
    const open = await read('csv', `url,title\n"${'x""'.repeat(30 * KiB)}`)
    expect(open.message).to.match(/in line 2\. A quote that is never closed makes a long one/)
  })

  it('fail alone when one is longer than 64 KiB in bytes, in every format', async () => {
    const row = (size: number) => `{"url":"${url}","title":"${'\u0300'.repeat(size / 2)}"}`
    const tooLong = problem('too_long', { what: 'row' })
    for (const [type, body] of [
      ['json', `{"rows":[${row(64 * KiB)},{"url":"${url}"}]}`],
      ['lines', `${row(64 * KiB)}\n{"url":"${url}"}`],
    ] as const) {
      const { rows } = await read(type, body)
      expect(rows?.map((one) => ('problem' in one ? one.problem : one.value))).to.deep.equal([tooLong, { url }])
    }
    const { rows } = await read('csv', `url,title\n${url},${'\u0300'.repeat(32 * KiB)}\n${url},x`)
    expect(rows?.map((one) => ('problem' in one ? one.problem : one.value))).to.deep.equal([
      tooLong,
      { url, title: 'x' },
    ])
    expect((await read('json', `{"rows":[${row(63 * KiB)}]}`)).rows?.[0]).to.have.property('value')
  })

  it('fail alone when one is too deep or has too many values, and all of them when that could not be parsed', async () => {
    const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    const tooMuch = problem('too_many', { what: 'row_levels', levels: 8, values: 3000 })
    for (const large of [deep(9), deep(20), `[${'1,'.repeat(2998)}1]`]) {
      const row = `{"url":${large}}`
      const json = await read('json', `{"rows":[${row},{"url":"${url}"}]}`)
      expect(json.rows).to.deep.equal([
        { number: 1, problem: tooMuch },
        { number: 2, value: { url } },
      ])
      const lines = await read('lines', `${row}\n{"url":"${url}"}`)
      expect(lines.rows?.map((one) => ('problem' in one ? one.problem : one.value))).to.deep.equal([tooMuch, { url }])
    }
    const within = `{"url":${deep(8)},"title":[${'1,'.repeat(2989)}1]}`
    expect((await read('json', `{"rows":[${within}]}`)).rows?.[0]).to.have.property('value')
    for (const large of [deep(100), `[${'1,'.repeat(100_000)}1]`])
      expect((await read('json', `{"rows":[{"url":${large}}]}`)).message).to.equal(
        'The body must have at most 64 levels and 100,000 values.',
      )
  })

  it('let other requests be answered, however hard they are to read', async () => {
    const row = (cells: number) => `${url}${','.repeat(cells - 1)}\n`
    const table = (columns: number, size: number) =>
      `${Array.from({ length: columns }, (_, i) => `c${i}`).join()}\n${row(columns).repeat(size / columns)}`
    const hard: readonly (readonly [string, keyof typeof types, (size: number) => string])[] = [
      ['commas', 'csv', (size) => ','.repeat(size)],
      ['semicolons', 'csv', (size) => ';'.repeat(size)],
      ['line breaks of a table', 'csv', (size) => '\n'.repeat(size)],
      ['quotation marks', 'csv', (size) => '"'.repeat(size)],
      ['a quotation mark that is not closed', 'csv', (size) => `url\n"${'x'.repeat(size - 6)}`],
      ['columns', 'csv', (size) => table(size / 100, size - 64 * KiB)],
      ['rows with more cells than the header', 'csv', (size) => `url,title\n${row(4000).repeat(size / 4100)}`],
      ['line breaks', 'lines', (size) => '\n'.repeat(size)],
      ['lines of arrays', 'lines', (size) => `${'['.repeat(60_000)}\n`.repeat(size / 60_001)],
      ['levels', 'json', (size) => `{"rows":[{"url":${'['.repeat(size / 2 - 16)}${']'.repeat(size / 2 - 16)}}]}`],
      ['values', 'json', (size) => `{"rows":[{"url":[${'1,'.repeat(size / 2 - 16)}1]}]}`],
      ['empty objects', 'json', (size) => `{"rows":[${'{},'.repeat(size / 3 - 16)}1]}`],
    ]
    for (const [what, type, body] of hard) {
      const growth = await turnGrowth(body, (text) => read(type, text), { from: MiB, to: 4 * MiB, times: 4 })
      // 4 in work that is proportional to the body
      expect(growth, what).to.be.at.most(2)
    }
  })
})
