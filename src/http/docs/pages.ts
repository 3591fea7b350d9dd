import accepts from 'accepts'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Route } from '../api/route.ts'
import { hasCached } from '../public/page/etag.ts'
import { openApi } from './openapi.ts'

type Handler = (req: IncomingMessage, res: ServerResponse) => unknown

/** What makes further documents, by the path at which they are served. */
export type Descriptions = Readonly<Record<string, () => object>>

interface Asset {
  readonly type: string
  readonly read: () => Promise<Buffer> | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** The reference page may load what this service serves, send requests to it, and nothing else. */
const policy = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self' data:`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ')

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Linkledger API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="/favicon.ico">
</head>
<body>
<main id="reference"><noscript>This page needs JavaScript. The same is in <a href="/openapi.json">/openapi.json</a>.</noscript></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`
const start = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  displayRequestDuration: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
})
`

/** The build has a copy of Swagger UI, so that what runs does not depend on its package. */
const swagger = (name: string) => {
  const built = join(import.meta.dirname, 'swagger-ui', name)
  const folder = () => dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  return readFile(existsSync(built) ? built : join(folder(), name))
}

/** A description for programs of any origin. */
const description = (make: () => object): Asset => ({
  type: 'application/json; charset=utf-8',
  read: () => Buffer.from(JSON.stringify(make())),
  headers: { 'Access-Control-Allow-Origin': '*' },
})

const assets = (routes: readonly Route[], version: string, others: Descriptions): Readonly<Record<string, Asset>> => ({
  ...Object.fromEntries(Object.entries(others).map(([path, make]) => [path, description(make)])),
  '/openapi.json': description(() => openApi({ routes, version })),
  '/docs': {
    type: 'text/html; charset=utf-8',
    read: () => Buffer.from(html),
    headers: {
      'Content-Security-Policy': policy,
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Referrer-Policy': 'no-referrer',
    },
  },
  '/docs/start.js': { type: 'text/javascript; charset=utf-8', read: () => Buffer.from(start) },
  '/docs/swagger-ui.css': { type: 'text/css; charset=utf-8', read: () => swagger('swagger-ui.css') },
  '/docs/swagger-ui-bundle.js': {
    type: 'text/javascript; charset=utf-8',
    read: () => swagger('swagger-ui-bundle.js'),
  },
})

const compress = promisify(gzip)

const prepare = async ({ read }: Asset) => {
  const plain = await read()
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`
  return { plain, zipped: await compress(plain), etag }
}

/** Returns what serves an asset, which is read and compressed when it is first asked for. */
const serveAsset = (asset: Asset): Handler => {
  let prepared: ReturnType<typeof prepare> | undefined
  return async (req, res) => {
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return res.writeHead(req.method === 'OPTIONS' ? 204 : 405, { Allow: 'GET, HEAD, OPTIONS' }).end()
    prepared ??= prepare(asset)
    // a checkout that runs without a build and without the packages for development has no Swagger UI
    const ready = await prepared.catch(() => undefined)
    if (!ready) return res.writeHead(404).end()
    const { plain, zipped, etag } = ready
    const shared = {
      ...asset.headers,
      ETag: etag,
      // asked for again each time: after an update, an old page would not fit the new API
      'Cache-Control': 'no-cache',
      Vary: 'Accept-Encoding',
      'X-Content-Type-Options': 'nosniff',
    }
    if (hasCached(req, etag)) return res.writeHead(304, shared).end()
    const accepted = accepts(req).encodings(['gzip']) === 'gzip'
    const body = accepted ? zipped : plain
    res.writeHead(200, {
      ...shared,
      'Content-Type': asset.type,
      'Content-Length': body.length,
      ...(accepted ? { 'Content-Encoding': 'gzip' } : {}),
    })
    return res.end(req.method === 'HEAD' ? undefined : body)
  }
}

/**
 * Returns what serves `/openapi.json`, `/docs`, which is a page that shows it and sends requests, and the descriptions
 * that are not of the HTTP API. By path.
 */
export const referencePages = (
  routes: readonly Route[],
  version: string,
  others: Descriptions,
): Readonly<Record<string, Handler>> =>
  Object.fromEntries(Object.entries(assets(routes, version, others)).map(([path, asset]) => [path, serveAsset(asset)]))
