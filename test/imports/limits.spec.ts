import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { readFile } from '../../src/imports/formats/read.ts'
import { type Format, UnreadableSource } from '../../src/imports/records.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Yields a text that begins and goes on so, of about so many bytes, in chunks of 64 KiB. */
const fileOf = async function* (begin: string, part: string, bytes: number) {
  yield Buffer.from(begin)
  const chunk = Buffer.from(part.repeat(Math.max(1, Math.floor(65_536 / part.length))))
  for (let at = 0; at < bytes; at += chunk.length) yield Buffer.from(chunk)
}
const countIn = async (
  format: Format,
  chunks: AsyncIterable<Uint8Array>,
  onRecord: (count: number) => void = () => {},
) => {
  let count = 0
  try {
    for await (const _ of readFile(format, chunks, { timezone: 'UTC' })) onRecord(++count)
  } catch (error) {
    if (!(error instanceof UnreadableSource)) throw error
  }
  return count
}

/** Returns ms of CPU time that reading takes: the first that is short enough, or the least of three. */
const cpuOf = async (format: Format, begin: string, part: string, bytes: number, shortEnough: number) => {
  let least = Infinity
  for (let run = 0; run < 3 && least > shortEnough; run++) {
    const before = process.cpuUsage()
    await countIn(format, fileOf(begin, part, bytes))
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return Math.max(20, least)
}

const begins: readonly (readonly [Format, string, readonly string[]])[] = [
  [
    'csv',
    'url,alias\n',
    ['"', '""', '"\n', '\n', '\r', ',', 'x', '"x', '"\n"",""\n', 'u,"\n', 'x","\n', '{"a":['.repeat(9)],
  ],
  [
    'csv',
    '{"data":[',
    ['[', '{', '"', '\\', '"\\', '{"a":', '[],', '}', ' ', '{"url":"\u0001\\""},', '{"url":"u","geo":{}},'],
  ],
  ['csv', '{"a":1}\n{"a":2}\n', ['{', '"\n', '{"url":\n', '\n', '[[1],']],
  [
    'yourls',
    'INSERT INTO `yourls_url` VALUES ',
    ['(', ')', "'", '"', '\\', '--', '/*', '(1),', "('\\'',", '(,),', ' ', ';'],
  ],
  ['yourls', '-- MySQL dump\n', ['INSERT INTO a ', 'VALUES (', 'CREATE TABLE ', '`', ' VALUES', '\n`']],
  [
    'bookmarks',
    '<!DOCTYPE NETSCAPE-Bookmark-file-1>',
    ['<', '<A ', '<A x="', '<DL>', '<DD>', '&#', '&amp;', '<A HREF="u">t</A>'],
  ],
]

describe('a file of another service', () => {
  for (const [format, begin, parts] of begins)
    it(`takes time in proportion to its length, for any content: ${JSON.stringify(begin.slice(0, 24))}`, async () => {
      for (const part of parts) {
        const small = await cpuOf(format, begin, part, 1 << 14, 20)
        const large = await cpuOf(format, begin, part, 1 << 16, small * 8)
        // 16 where each character looks at all before it
        expect(large / small, JSON.stringify(part)).to.be.at.most(8)
      }
    })

  const title = 'x'.repeat(2000)
  const large: readonly (readonly [Format, string, string])[] = [
    ['csv', 'url,title\n', `u,${title}\n`],
    ['csv', '{"data":[{}', `,{"url":"u","title":"${title}"}`],
    ['yourls', 'INSERT INTO yourls_url (keyword,url,title) VALUES (1,2,3)', `,('k','u','${title}')`],
    ['bookmarks', '<!DOCTYPE NETSCAPE-Bookmark-file-1>', `<A HREF="u">${title}</A>\n`],
    ['csv', '{"data":[{"a":"', title],
    ['csv', 'url\n"', title],
  ]
  for (const [format, begin, part] of large)
    it(`is in memory in parts only: ${JSON.stringify(begin.slice(0, 24))}`, async () => {
      const used = () => {
        collect()
        const { heapUsed, external } = process.memoryUsage()
        return (heapUsed + external) / 2 ** 20
      }
      const before = used()
      let [most, chunks] = [0, 0]
      const watched = async function* () {
        for await (const chunk of fileOf(begin, part, 32 * 2 ** 20)) {
          if (++chunks % 100 === 0) most = Math.max(most, used())
          yield chunk
        }
      }
      await countIn(format, watched())
      // MiB
      expect(most - before).to.be.at.most(20)
    })
})
