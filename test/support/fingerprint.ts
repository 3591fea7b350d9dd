import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { type EventType, events } from '../../src/events/index.ts'
import { versionOf } from '../../src/events/upcast.ts'

const tokens =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`|[\w$]+|[^\s\w$]/g
const isComment = (token: string) => token.startsWith('//') || token.startsWith('/*')
/** Quotes and the spaces of SQL are formatting, too. */
const plain = (token: string) => {
  const quoted = /^(["'])(.*)\1$/s.exec(token)
  return quoted ? JSON.stringify(quoted[2]) : token.replaceAll(/\s+/g, ' ')
}

/** Returns code without its formatting and comments, so that it compares equal however it is written down. */
export const withoutFormat = (code: string): string =>
  (code.match(tokens) ?? [])
    .filter((token) => !isComment(token) && token !== ';')
    .map(plain)
    .filter((token, i, all) => !(token === ',' && /^[)\]}]$/.test(all[i + 1] ?? '')))
    .join('\n')

/** Returns code without its imports: where a file is says nothing about rows. */
const withoutImports = (code: string) => code.replaceAll(/^import [^']*'[^']+'\n/gm, '')

const hash = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 12)

/** What a projection is made with, but not of: how changes are written is the same for all. */
const isFramework = (file: URL) => file.pathname.endsWith('/projections/engine/projection.ts')
const isPart = (file: URL) => /\/src\/(?:projections|lib)\//.test(file.pathname) && !isFramework(file)

/** Returns the code of a file and of the parts of ours that it imports, by path. */
const sourcesOf = async (file: URL, found = new Map<string, string>()): Promise<Map<string, string>> => {
  if (found.has(file.pathname)) return found
  const code = await readFile(file, 'utf8')
  found.set(file.pathname, code)
  for (const [, path = ''] of code.matchAll(/^import (?!type )[^']*'(\.[^']*)'/gm)) {
    const imported = new URL(path, file)
    if (isPart(imported)) await sourcesOf(imported, found)
  }
  return found
}

/** The shape of a type of event. The patterns of formats belong to zod. */
const shapeOf = (type: EventType) => [
  type,
  versionOf(type),
  z.toJSONSchema(events[type], {
    unrepresentable: 'any',
    io: 'input',
    override: ({ jsonSchema }) => {
      delete jsonSchema.$schema
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
    },
  }),
]

export interface Fingerprint {
  /** of the tables and handlers */
  readonly code: string
  /** of the schemas of the events that the handlers name */
  readonly events: string
}

/**
 * Returns what the rows of the projection in a file follow from. It depends on neither the version of Node nor the
 * format of the code.
 */
export const fingerprintOf = async (file: URL): Promise<Fingerprint> => {
  const sources = [...(await sourcesOf(file)).values()].map(withoutImports).map(withoutFormat).sort()
  const words = new Set(sources.join('\n').match(/[A-Z]\w+/g))
  const types = (Object.keys(events) as EventType[]).filter((type) => words.has(type)).sort()
  // the version of the projection is compared on its own
  const code = sources.map((source) => source.replaceAll(/\bversion\n:\n\d+/g, 'version')).join('\n\n')
  return { code: hash(code), events: hash(JSON.stringify(types.map(shapeOf))) }
}
