import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { readBlocks, readFile } from '../../src/imports/formats/read.ts'
import { chunksOf, readAll, refusalOf } from './support.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

/** Returns random numbers from 0 to 1 that a seed repeats (mulberry32). */
const randomOf = (from: number) => {
  let state = from
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
const random = randomOf(seed)
const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)]!

const texts = [
  '',
  'a',
  'é',
  '😀',
  '"',
  '""',
  '\\',
  "'",
  ',',
  ';',
  '\n',
  '\r\n',
  '\t',
  '(',
  ')',
  '[',
  '{',
  '}',
  ']',
  '--',
  '/*',
  '<',
  '&amp;',
  '\u2028',
]
const text = () => Array.from({ length: Math.floor(random() * 6) }, () => pick(texts)).join('')
const many = <T>(make: () => T) => Array.from({ length: 1 + Math.floor(random() * 30) }, make)

const cell = (value: string) => `"${value.replaceAll('"', '""')}"`
const sql = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", random() < 0.5 ? "''" : "\\'")}'`
const link = () => ({ url: `https://example.com/${text()}`, alias: `a${text()}`, title: text() })
type Link = ReturnType<typeof link>

/** Writes links as each format has them. */
const written: Readonly<Record<string, (links: readonly Link[]) => string>> = {
  csv: (links) => {
    const end = pick(['\n', '\r\n', '\r'])
    return ['alias,url,title', ...links.map(({ alias, url, title }) => [alias, url, title].map(cell).join())].join(end)
  },
  'page of JSON': (links) => JSON.stringify({ data: links, total: links.length }, undefined, pick([0, 2])),
  'lines of JSON': (links) => [...links, link()].map((one) => JSON.stringify(one)).join('\n'),
  'SQL dump': (links) =>
    `-- MySQL dump\nINSERT INTO \`yourls_url\` (\`keyword\`,\`url\`,\`title\`) VALUES ${links.map(({ alias, url, title }) => `(${[alias, url, title].map(sql).join()})`).join()};\n`,
  bookmarks: (links) =>
    `<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n${links.map(({ url, title }) => `<DT><A HREF="${encodeURI(url)}">${title.replaceAll('<', '&lt;').replaceAll(/[\r\n]/g, '')}</A>\n`).join('')}</DL>`,
}

describe('a file that arrives in pieces', () => {
  for (const [format, write] of Object.entries(written))
    it(`has the same records, wherever it is cut: ${format}`, async () => {
      for (let round = 0; round < 60; round++) {
        const links = many(link)
        const [plain, break_] = [Buffer.from(write(links)), random() < 0.3]
        // some are broken, and are broken in the same way
        if (break_) plain[Math.floor(random() * plain.length)] = Math.floor(random() * 256)
        const given = format === 'SQL dump' ? 'yourls' : format === 'bookmarks' ? format : 'csv'
        const readIn = async (lengthOf: () => number) => {
          const found: unknown[] = []
          const blocks = chunksOf(plain, lengthOf) as AsyncGenerator<Buffer>
          const end = await refusalOf(
            (async () => {
              for await (const one of readBlocks(given, { head: plain.toString(), blocks }, { timezone: 'UTC' }))
                found.push(one)
            })(),
          )
          return { found, end }
        }
        const whole = await readIn(() => plain.length)
        const pieces = await readIn(() => 1 + Math.floor(random() * 9))
        expect(pieces, `SEED=${seed} round ${round}`).to.deep.equal(whole)
        if (!break_) {
          const titles = links.map(({ title }) => title.trim() || undefined)
          const found = (whole.found as readonly object[]).map((one) =>
            'url' in one ? ((one as { title?: string }).title ?? undefined) : one,
          )
          if (format !== 'bookmarks')
            expect(found.slice(0, links.length), `SEED=${seed} round ${round}`).to.deep.equal(titles)
        }
      }
    })

  it('may be compressed, and says when that was cut', async () => {
    const file = gzipSync(`url\n${'u\n'.repeat(50_000)}`)
    expect(await readAll(file, 'csv')).to.have.length(50_000)
    expect(await refusalOf(readAll(file.subarray(0, -20), 'csv'))).to.equal('The body must be sent to its end.')
  })

  it('is refused when it unpacks to far more than its size', async () => {
    const file = gzipSync(Buffer.concat([Buffer.from('url\n'), Buffer.alloc(80 * 1024 * 1024, 'x')]), { level: 1 })
    expect(await refusalOf(readAll(file, 'csv'))).to.equal(
      'The file must not unpack to more than 100 times its size: send it as it is.',
    )
  })

  it('is closed when no more of it is taken', async () => {
    const plain = Buffer.from(`url,title\n${many(() => `u,${random()}\n`.repeat(2000)).join('')}`)
    for (const bytes of [plain, gzipSync(plain)]) {
      let isClosed = false
      const file = async function* () {
        try {
          yield* chunksOf(bytes, () => 10_000)
        } finally {
          isClosed = true
        }
      }
      for await (const _ of readFile('csv', file(), { timezone: 'UTC' })) break
      await pause(20)
      expect(isClosed).to.equal(true)
    }
  })
})
