import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Domains } from '../../cache/domains.ts'
import type { KnownDomain } from '../../queries/domains/domain.ts'
import { androidFile, appleFile } from '../domains/apps.ts'
import { securityTxt } from './securitytxt.ts'

interface File {
  readonly type: string
  readonly text: string
}

/** A file follows from the apps of a domain, which are another object once they change. */
const written = new WeakMap<object, File>()
const jsonOf = <A extends object>(apps: A, isEmpty: boolean, file: (apps: A) => unknown): File | undefined => {
  if (isEmpty) return undefined
  const known = written.get(apps)
  if (known) return known
  const made = { type: 'application/json', text: JSON.stringify(file(apps)) }
  written.set(apps, made)
  return made
}

/** The files that a branded domain has for the apps of its owner. */
const ofDomain: Readonly<Record<string, (domain: KnownDomain) => File | undefined>> = {
  'apple-app-site-association': ({ apple }) => jsonOf(apple, apple.details.length === 0, appleFile),
  'assetlinks.json': ({ android }) => jsonOf(android, android.length === 0, androidFile),
}

export interface WellKnownOptions {
  readonly domains: Pick<Domains, 'byHost'>
  /** an https or mailto address; undefined: there is no `security.txt` */
  readonly contact: string | undefined
  readonly now?: () => Date
}

const prefix = '/.well-known/'
const nameIn = ({ url = '' }: IncomingMessage) => url.slice(prefix.length).split('?', 1)[0] ?? ''

/**
 * Returns what serves all below `/.well-known/` (RFC 8615), where no alias is. What programs ask for there is neither
 * limited nor redirected: Apple and Google follow no redirect, and a device asks once.
 */
export const createWellKnown =
  ({ domains, contact, now = () => new Date() }: WellKnownOptions) =>
  (req: IncomingMessage, res: ServerResponse) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return void res.writeHead(405, { Allow: 'GET, HEAD' }).end()
    const name = nameIn(req)
    const domain = domains.byHost(req.headers.host ?? '')
    const security = name === 'security.txt' && contact !== undefined ? securityTxt(contact, now()) : undefined
    const file = security ?? (domain && Object.hasOwn(ofDomain, name) ? ofDomain[name]?.(domain) : undefined)
    if (!file) return void res.writeHead(404, { 'Content-Length': 0, 'Cache-Control': 'no-store' }).end()
    res.writeHead(200, {
      'Content-Type': file.type,
      'Content-Length': Buffer.byteLength(file.text),
      'Cache-Control': 'public, max-age=3600',
      'X-Content-Type-Options': 'nosniff',
    })
    res.end(req.method === 'HEAD' ? undefined : file.text)
  }
