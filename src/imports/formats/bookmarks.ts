import { problem } from '../../lib/problems/problem.ts'
import { readLink } from '../link.ts'
import type { Reading } from '../reading.ts'
import type { SourceRecord } from '../records.ts'
import { textOf } from './blocks.ts'
import { frames } from './frames.ts'

const tag = /<(\/?)(A|H3|DL|DD)\b([^<>]*)>([^<]*)/gi
const attribute = /([\w-]{1,40})="([^"]*)"/g
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

const decoded = (text: string) =>
  text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{1,6}));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? all
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all
  })

/** What bookmarks say besides; pictures and the times of visits mean nothing here. */
const fields: Readonly<Record<string, string>> = {
  href: 'url',
  add_date: 'created',
  tags: 'tags',
  shortcuturl: 'shortcuturl',
}

interface Bookmark {
  readonly line: number
  readonly values: { readonly name: string; readonly value: string | readonly string[] }[]
}

/** Reads the bookmarks of a browser. The folder in which one is becomes one of its tags. */
export const readBookmarks = async function* (
  blocks: AsyncIterable<Buffer>,
  reading: Reading,
): AsyncGenerator<SourceRecord> {
  let bookmark: Bookmark | undefined
  let folder = ''
  const folders: string[] = []
  const take = function* () {
    if (bookmark) yield readLink(bookmark.values, { line: bookmark.line }, reading)
    bookmark = undefined
  }
  const begin = (line: number, given: string, title: string) => {
    const values = [...given.matchAll(attribute)].flatMap(([, name = '', value = '']) => {
      const field = fields[name.toLowerCase()]
      return field === undefined ? [] : [{ name: field, value: decoded(value) }]
    })
    const tags = values.find(({ name }) => name === 'tags')
    const all = [...(tags?.value ?? '').split(','), folders.at(-1) ?? '']
    bookmark = {
      line,
      values: [
        ...values.filter((one) => one !== tags),
        { name: 'title', value: decoded(title) },
        { name: 'tags', value: all },
      ],
    }
  }
  for await (const { line, bytes, fault } of frames(blocks)) {
    const text = fault ? undefined : textOf(bytes)
    if (text === undefined) {
      const wrong = fault ? problem('too_long', { what: 'record' }) : problem('wrong_body', { what: 'row_utf8' })
      yield { kind: 'problem', place: { line }, problem: wrong }
      continue
    }
    for (const [, slash, name = '', given = '', content = ''] of text.matchAll(tag)) {
      const kind = `${slash}${name.toUpperCase()}`
      if (kind === 'DD') bookmark?.values.push({ name: 'description', value: decoded(content) })
      else if (kind !== '/A') yield* take()
      if (kind === 'A') begin(line, given, content)
      // the bar of the browser is no folder of its owner
      else if (kind === 'H3') folder = /\bPERSONAL_TOOLBAR_FOLDER=/i.test(given) ? '' : decoded(content).trim()
      else if (kind === 'DL') {
        folders.push(folder)
        folder = ''
      } else if (kind === '/DL') folders.pop()
    }
  }
  yield* take()
}
