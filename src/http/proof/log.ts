import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Extension, TreeDamaged } from '../../events/proof/receipt.ts'
import type { TrustedProxies } from '../../lib/address.ts'
import { hashSize } from '../../lib/transparency/merkle.ts'
import { problem, sentenceOf } from '../../lib/problems/problem.ts'
import { keyOfTile, parseTilePath } from '../../lib/transparency/tiles.ts'
import type { Reader } from '../../queries/reader.ts'
import { readTiles } from '../../queries/proof/tree.ts'
import { createBudget } from '../public/budget.ts'

export interface LogPagesOptions {
  readonly db: Reader['db']
  /** Returns the newest signed checkpoint. */
  readonly checkpoint: () => Promise<{ readonly note: string } | undefined>
  /** Returns the proof that its log begins with the first events as they were; undefined when it has fewer. */
  readonly extension: (first: number) => Promise<Extension | undefined>
  readonly trustProxy: TrustedProxies
}

interface LogFile {
  readonly body: string | Buffer
  readonly type: string
  readonly cache: string
}

/** requests of a network in a minute: a tile has 256 events, and a cache answers most of them */
const limit = 600

const [plain, json] = ['text/plain; charset=utf-8', 'application/json; charset=utf-8']

const find = async ({ db, checkpoint, extension }: LogPagesOptions, path: string): Promise<LogFile | undefined> => {
  if (path === 'checkpoint') {
    const newest = await checkpoint()
    return newest && { body: newest.note, type: plain, cache: 'public, max-age=10' }
  }
  const [, first] = /^consistency\/([1-9]\d{0,14})$/.exec(path) ?? []
  if (first !== undefined) {
    const found = await extension(Number(first))
    return found && { body: `${JSON.stringify(found, null, 2)}\n`, type: json, cache: 'public, max-age=10' }
  }
  const tile = parseTilePath(path)
  if (!tile) return undefined
  const bytes = tile.width * hashSize
  const body = (await readTiles(db, [tile])).get(keyOfTile(tile))?.subarray(0, bytes)
  // what is before a hash in a tile never changes
  return body?.length === bytes
    ? { body, type: 'application/octet-stream', cache: 'public, max-age=31536000, immutable' }
    : undefined
}

const always = { 'Access-Control-Allow-Origin': '*', 'X-Content-Type-Options': 'nosniff' }

/**
 * Serves the signed checkpoint, proofs of consistency and the tiles of the tree over the log, below `/log/` (C2SP
 * tlog-tiles). They show nothing of an event.
 */
export const createLogPages = (options: LogPagesOptions) => {
  const budget = createBudget(limit, options.trustProxy)
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const answer = (status: number, text: string, headers: Readonly<Record<string, string | number>> = {}) =>
      void res
        .writeHead(status, { ...always, 'Content-Type': plain, 'Cache-Control': 'no-store', ...headers })
        .end(req.method === 'HEAD' || text === '' ? undefined : text)
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return answer(req.method === 'OPTIONS' ? 204 : 405, '', { Allow: 'GET, HEAD, OPTIONS' })
    const wait = budget(req)
    if (wait > 0) return answer(429, 'Too many requests.\n', { 'Retry-After': wait })
    try {
      const found = await find(options, (req.url ?? '').replace(/^\/log\//, '').replace(/\?.*/s, ''))
      if (!found) return answer(404, 'Not found.\n')
      res.writeHead(200, {
        ...always,
        'Content-Type': found.type,
        'Content-Length': Buffer.byteLength(found.body),
        'Cache-Control': found.cache,
      })
      res.end(req.method === 'HEAD' ? undefined : found.body)
    } catch (error) {
      if (error instanceof TreeDamaged)
        return answer(503, `${sentenceOf(problem('tree_damaged'))}\n`, { 'Retry-After': 60 })
      answer(503, 'The service cannot reach its database right now.\n', { 'Retry-After': 2 })
    }
  }
}
