import { separatorOf } from '../../lib/table.ts'
import { fieldOf } from '../fields.ts'
import type { Format } from '../records.ts'

/** Names of keys in JSON, or of columns, that only one format has together; the first that fits counts. */
const marks: readonly (readonly [Format, ...string[]])[] = [
  ['shlink', 'shortcode', 'longurl'],
  ['shlink', 'shortcode', 'url'],
  ['bitly', 'custombitlinks'],
  ['bitly', 'custombitlink'],
  ['bitly', 'customlink', 'destinationurl'],
  ['bitly', 'longurl', 'link'],
  ['rebrandly', 'slashtag'],
  ['shortio', 'originalurl'],
  ['tinyurl', 'tinyurl'],
  ['dub', 'shortlink', 'destinationurl'],
  ['dub', 'shortlink', 'key'],
  ['kutt', 'target', 'visitcount'],
  ['kutt', 'target', 'address'],
  ['yourls', 'source', 'target'],
  ['yourls', 'keyword', 'url'],
  ['yourls', 'link1', 'shorturl'],
  ['tinycc', 'shortid', 'note'],
  ['tinycc', 'shorturl', 'note'],
  ['linkledger', 'details', 'shorturl'],
  ['gempixel', 'longurl', 'shorturl'],
  ['sink', 'slug', 'url'],
]

const formatWith = (names: readonly string[]) => {
  const plain = new Set(names.map((name) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')))
  return marks.find(([, ...needed]) => needed.every((name) => plain.has(name)))?.[0]
}

/** Whether a file begins as a dump of a database does. */
export const isDump = (head: string): boolean =>
  /^\s{0,99}(?:--|\/\*|#|INSERT INTO |CREATE TABLE |DROP TABLE |SET )/i.test(head)

/** Returns the format of a file that begins with this text. */
export const detectFormat = (head: string): Format | undefined => {
  const text = head
    .slice(0, 64 * 1024)
    .replace(/^\ufeff/, '')
    .trimStart()
  if (head.startsWith('ustar', 257)) return 'linkledger'
  if (/^<!DOCTYPE NETSCAPE-Bookmark-file-1>/i.test(text)) return 'bookmarks'
  if (isDump(text)) return 'yourls'
  if (/^[[{]/.test(text))
    return formatWith([...text.matchAll(/"([a-z_]\w{0,63})"\s{0,9}:/gi)].map(([, name = '']) => name))
  const table = text.replace(/^sep=.[\r\n]+/i, '')
  const [header = ''] = table.split(/[\r\n]/, 1)
  const names = header.split(separatorOf(header, header.length)).map((name) => name.replaceAll('"', ''))
  if (!names.some((name) => fieldOf(name, 'csv')?.field === 'url')) return undefined
  return formatWith(names) ?? 'csv'
}
