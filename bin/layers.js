// The rule of the linter for imports between the folders of `src`: they point downwards, as docs/architecture.md shows.
import { dirname, relative, resolve, sep } from 'node:path'

const src = resolve(import.meta.dirname, '../src')

/**
 * What each folder may import besides itself: folders, and single files. Folders that are not listed, and files outside
 * of folders, may import everything; only those may import them.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const layers = {
  lib: ['events/kinds.ts'],
  'app/settings': ['events/kinds.ts', 'lib'],
  'clicks/visitor': ['lib'],
  imports: ['lib'],
  qr: ['lib'],
  postgres: ['events/kinds.ts', 'lib'],
  security: ['postgres', 'lib'],
  events: ['security', 'lib'],
  store: ['events', 'postgres', 'lib'],
  commands: ['events', 'security', 'qr', 'lib'],
  projections: ['events', 'postgres', 'lib'],
  queries: ['projections', 'events', 'postgres', 'lib'],
  cache: ['queries', 'commands', 'events', 'security', 'lib'],
  clicks: ['events', 'clicks/visitor', 'security', 'lib'],
  'app/jobs': ['commands', 'queries', 'events', 'security', 'lib'],
  http: ['cache', 'commands', 'queries', 'clicks', 'events', 'clicks/visitor', 'imports', 'qr', 'security', 'lib'],
  // the dashboard shares what imports nothing
  web: [
    'qr',
    'events/kinds.ts',
    'clicks/visitor/browser.ts',
    'clicks/visitor/choose.ts',
    'clicks/visitor/device.ts',
    'clicks/visitor/range.ts',
    'lib/csv.ts',
    'lib/loopback.ts',
    'lib/problems',
    'lib/zone.ts',
  ],
}

/**
 * What a folder may import as types only: it is gone when the program runs.
 * @type {Readonly<Record<string, RegExp>>}
 */
const typesOnly = {
  // what the routes answer is described once
  web: /^http\/(?:[a-z]+\/)+contract(?:\.ts|\/[a-z]+\.ts)$/,
}

/**
 * The folders that may import a client library; `app` and `cli` may as well.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const clients = {
  koa: ['http'],
  '@koa/router': ['http'],
  'koa-bodyparser': ['http'],
  knex: ['postgres', 'projections', 'queries'],
  pg: ['postgres', 'store'],
  kafkajs: ['clicks'],
  '@eventstore/db-client': ['store'],
}

/** Adapters that only `app`, `cli` and their own folder name. */
const adapters = ['clicks/kafka']

/** @param {string} path */
const inFolder = (path) => (/** @type {string} */ folder) => path === folder || path.startsWith(`${folder}/`)

/**
 * Returns the layer of a path below `src`: the longest folder of the table that it is in.
 * @param {string} path
 */
export const layerOf = (path) =>
  Object.keys(layers)
    .filter(inFolder(path))
    .sort((a, b) => b.length - a.length)[0]

/**
 * Returns why a file may not import another file or a package, undefined when it may. Both paths are relative to `src`.
 * @param {string} from
 * @param {{ readonly file: string } | { readonly name: string }} imported
 * @param {boolean} isType whether types alone are imported
 */
export const problemOf = (from, imported, isType = false) => {
  const layer = layerOf(from)
  if (layer === undefined) return undefined
  if ('name' in imported) {
    const users = clients[imported.name]
    return !users || users.includes(layer) ? undefined : `${imported.name} is imported in ${users.join(', ')} only`
  }
  const target = layerOf(imported.file)
  const allowed = layers[layer] ?? []
  if (isType && typesOnly[layer]?.test(imported.file)) return undefined
  if (target !== layer && !allowed.some((path) => path === target || inFolder(imported.file)(path)))
    return `${layer} does not import ${target ?? imported.file}: see the table in docs/architecture.md`
  const adapter = adapters.find(inFolder(imported.file))
  return adapter !== undefined && layer !== layerOf(adapter) ? `only app and cli name ${adapter}` : undefined
}

/** @param {string} path */
const belowSrc = (path) => relative(src, path).split(sep).join('/')

/** @type {(context: any) => Record<string, (node: any) => void>} */
const create = (context) => {
  const from = belowSrc(context.filename)
  if (from.startsWith('..')) return {}
  const check = (/** @type {any} */ node) => {
    const name = node.source?.value
    if (typeof name !== 'string') return
    const imported = name.startsWith('.') ? { file: belowSrc(resolve(dirname(context.filename), name)) } : { name }
    const isType = node.type === 'TSImportType' || node.importKind === 'type' || node.exportKind === 'type'
    const message = problemOf(from, imported, isType)
    if (message !== undefined) context.report({ node: node.source, message })
  }
  return {
    ImportDeclaration: check,
    ExportNamedDeclaration: check,
    ExportAllDeclaration: check,
    ImportExpression: check,
    TSImportType: check,
  }
}

export default { meta: { name: 'linkledger' }, rules: { layers: { create } } }
