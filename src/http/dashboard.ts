import accepts from 'accepts'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { z } from 'zod'
import type { Domains } from '../cache/domains.ts'
import { hasSessionCookie } from './api/session.ts'
import { compress } from './public/page/compress.ts'
import { type Inline, inline } from './public/page/csp.ts'
import { hasCached } from './public/page/etag.ts'
import { Html, html } from './public/page/html.ts'
import type { SendPage } from './public/page/page.ts'
import { pages } from './public/page/messages.ts'
import type { PublicHandler } from './public/responses.ts'
import { languages } from './public/texts/languages.ts'

export interface DashboardOptions {
  /** folder of the bundle; without one, there is no dashboard */
  readonly folder: string
  readonly domains: Pick<Domains, 'byHost'>
  readonly baseUrl: () => string
  /** whether a host has the dashboard; other hosts lead to `baseUrl` */
  readonly isDashboardHost: (host: string) => boolean
  /** whether registration is open */
  readonly registration: boolean
  /** whether there is no account yet */
  readonly isEmpty: () => Promise<boolean>
  /** whether the service sends mail */
  readonly mail: boolean
  /** the name of the issuer that signs people in */
  readonly issuer: string | undefined
  /** whether that is a proxy in front */
  readonly proxy: boolean
  /** whether people sign in with passwords */
  readonly passwords: boolean
  readonly sendPage: SendPage
  /** serves other paths: those of the dashboard on a branded domain */
  readonly handle: PublicHandler
}

/** The output of `bin/web.js`. */
const Manifest = z.object({
  script: z.string(),
  style: z.string(),
  chart: z.string(),
  preload: z.array(z.string()),
  parts: z.record(z.string(), z.array(z.string())),
  files: z.array(z.string()),
})
interface Bundle extends z.output<typeof Manifest> {
  readonly inlined: Inline
}

const assets = '/dashboard/assets/'
const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}
const copies = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/** It loads files of this service only, sends requests only to it, and no script can turn text into markup or code. */
const policyOf = ({ hash }: Inline) =>
  [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self' ${hash}`,
    `img-src 'self' data: blob:`,
    `connect-src 'self'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
    `require-trusted-types-for 'script'`,
    `trusted-types 'none'`,
  ].join('; ')

const readBundle = async (folder: string): Promise<Bundle> => {
  const manifest = Manifest.parse(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')))
  return { ...manifest, inlined: inline(await readFile(join(folder, manifest.style), 'utf8')) }
}

const logo = new Html(
  '<svg viewBox="0 0 22 22" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"><path d="M3 5h16M3 10h9"/><path d="M3 15.5h16M3 19h16" stroke-width="1.5"/></svg>',
)

/** The page before the script runs: the shell of a screen or the sign-in, without words. */
const waiting = (isSignedIn: boolean) =>
  isSignedIn
    ? html`<div class="shell">
        <nav class="side"><span class="brand">${logo}Linkledger</span></nav>
        <header class="top">
          <div class="top-row"><span class="brand on-phone">${logo}Linkledger</span></div>
        </header>
        <main></main>
      </div>`
    : html`<div class="sign-in">
        <header><span class="brand">${logo}Linkledger</span></header>
      </div>`

/** The screens that users open first most often, by their paths, with further files that they need. */
const firstScreens = [
  { pattern: /^\/?$/, screen: 'statistics/overview', hasAllTexts: false, hasChart: true },
  { pattern: /^\/links$/, screen: 'links/list', hasAllTexts: true, hasChart: false },
  { pattern: /^\/links\/\d+$/, screen: 'links/link', hasAllTexts: true, hasChart: true },
] as const

/**
 * Returns the scripts that a page needs: without their names in the page, they would load one after another. The chart
 * can wait for the others, which request its figures.
 */
const scriptsOf = ({ preload, parts, chart }: Bundle, { lang, isSignedIn, path }: PageOptions) => {
  const first = isSignedIn ? firstScreens.find(({ pattern }) => pattern.test(path)) : undefined
  const names = [`texts/${lang}?start`]
  if (!isSignedIn) names.push('screens/accounts/signin')
  if (first) names.push(`screens/${first.screen}`)
  if (first?.hasAllTexts) names.push(`texts/${lang}?screens`)
  const scripts = new Set([...preload, ...names.flatMap((name) => parts[name] ?? [])])
  return { scripts: [...scripts], later: first?.hasChart ? [chart] : [] }
}

interface PageOptions {
  readonly lang: string
  readonly isSignedIn: boolean
  /** whether the service has no account yet */
  readonly isEmpty: boolean
  /** below `/dashboard` */
  readonly path: string
}

type PageService = Pick<DashboardOptions, 'baseUrl' | 'registration' | 'mail' | 'issuer' | 'proxy' | 'passwords'>

const pageOf = (
  bundle: Bundle,
  { baseUrl, registration, mail, issuer = '', proxy, passwords }: PageService,
  page: PageOptions,
) => {
  const { scripts, later } = scriptsOf(bundle, page)
  return html`<!doctype html>
    <html
      lang="${page.lang}"
      data-base="${baseUrl()}"
      data-registration="${registration ? 'open' : 'closed'}"
      data-first="${page.isEmpty ? 'yes' : 'no'}"
      data-mail="${mail ? 'yes' : 'no'}"
      data-issuer="${issuer}"
      data-proxy="${proxy ? 'yes' : 'no'}"
      data-passwords="${passwords ? 'on' : 'off'}"
      data-session="${page.isSignedIn ? 'maybe' : 'none'}"
    >
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <meta name="robots" content="noindex" />
        <title>Linkledger</title>
        <link rel="icon" href="/favicon.ico" />
        ${page.isSignedIn ? html`<link rel="preload" as="fetch" href="/api/account" crossorigin />` : ''}
        ${scripts.map((name) => html`<link rel="modulepreload" href="${assets}${name}" />`)}
        <script type="module" src="${assets}${bundle.script}"></script>
        ${later.map((name) => html`<link rel="modulepreload" href="${assets}${name}" fetchpriority="low" />`)}
        ${new Html(`<style>${bundle.inlined.text}</style>`)}
      </head>
      <body>
        <div id="app">${waiting(page.isSignedIn)}</div>
        <noscript>The dashboard needs JavaScript. The API works without: <a href="/docs">/docs</a>.</noscript>
      </body>
    </html>`.text
}

const sendShell = async (req: IncomingMessage, res: ServerResponse, bundle: Bundle, options: DashboardOptions) => {
  const lang = accepts(req).languages(Object.keys(languages)) || 'en'
  const isSignedIn = hasSessionCookie(req, options.baseUrl())
  const path = (req.url ?? '').split('?')[0]?.slice('/dashboard'.length) ?? ''
  const isEmpty = !isSignedIn && (await options.isEmpty())
  const text = pageOf(bundle, options, { lang, isSignedIn, isEmpty, path })
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  const headers = {
    ETag: etag,
    // revalidated each time: after an update, the names of the scripts differ
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept-Encoding, Accept-Language, Cookie',
    'Content-Security-Policy': policyOf(bundle.inlined),
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  }
  if (hasCached(req, etag)) return void res.writeHead(304, headers).end()
  const { body, encoding } = compress(req, text)
  res.writeHead(200, {
    ...headers,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': body.length,
    ...(encoding && { 'Content-Encoding': encoding }),
  })
  res.end(req.method === 'HEAD' ? undefined : body)
}

/** Sends a file whose name has the hash of its content, so that browsers never request it again. */
const sendAsset = async (req: IncomingMessage, res: ServerResponse, folder: string, name: string) => {
  const [encoding, ending = ''] = copies.find(([one]) => accepts(req).encodings([one])) ?? []
  const body = await readFile(join(folder, name + ending))
  res.writeHead(200, {
    'Content-Type': types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
    'Content-Length': body.length,
    ...(encoding && { 'Content-Encoding': encoding }),
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
    'X-Content-Type-Options': 'nosniff',
  })
  res.end(req.method === 'HEAD' ? undefined : body)
}

/**
 * Serves the dashboard at `/dashboard` and below, on the hosts of the service. The script in the page decides which
 * screen to show.
 */
export const createDashboard = (options: DashboardOptions): PublicHandler => {
  const { folder, domains, isDashboardHost, baseUrl, sendPage, handle } = options
  let bundle: Promise<Bundle | undefined> | undefined
  return async (req, res) => {
    const { host = '' } = req.headers
    if (domains.byHost(host)) return handle(req, res)
    if (!isDashboardHost(host)) {
      res.writeHead(302, { Location: `${baseUrl()}${req.url ?? ''}`, 'Cache-Control': 'no-store' })
      return void res.end()
    }
    if (req.method !== 'GET' && req.method !== 'HEAD') return sendPage(req, res, pages.methodNotAllowed)
    // a checkout without a build has none
    bundle ??= readBundle(folder).catch(() => undefined)
    const found = await bundle
    const path = (req.url ?? '').split('?')[0] ?? ''
    const name = path.startsWith(assets) ? path.slice(assets.length) : undefined
    if (!found || (name !== undefined && !found.files.includes(name))) return sendPage(req, res, pages.notFound)
    return name === undefined ? sendShell(req, res, found, options) : sendAsset(req, res, folder, name)
  }
}
