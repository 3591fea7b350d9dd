import type { IncomingMessage } from 'node:http'
import type { Blocks } from '../../cache/blocks.ts'
import type { Domains } from '../../cache/domains.ts'
import type { DomainFields } from '../../events/domains/domain.ts'
import type { KnownDomain } from '../../queries/domains/domain.ts'
import { clientAddress, networkOf, type TrustedProxies } from '../../lib/address.ts'
import { androidFile, appleFile } from '../domains/apps.ts'
import { createPaced } from './paced.ts'
import type { Fallbacks, PublicHandler } from './responses.ts'
import { securityTxt } from './securitytxt.ts'

type Apps = Pick<DomainFields, 'apple' | 'android'>

/** The files that a branded domain has for the apps of its owner. */
const files: Readonly<Record<string, (apps: Apps) => object | undefined>> = {
  'apple-app-site-association': ({ apple }) => (apple.details.length === 0 ? undefined : appleFile(apple)),
  'assetlinks.json': ({ android }) => (android.length === 0 ? undefined : androidFile(android)),
}

/**
 * Returns what reads the file of a domain. Those of a few hundred domains are kept until the domain or its account
 * changes. Each has at most 128 KiB.
 */
const createFiles = (findApps: WellKnownOptions['findApps']) => {
  const read = createPaced({
    find: async (key) => {
      const [, name = '', id] = key.split(' ')
      const file = files[name]?.(await findApps(Number(id)))
      return file && Buffer.from(JSON.stringify(file))
    },
    seen: () => 0n,
    age: Infinity,
    most: 200,
  })
  return async (domain: KnownDomain | undefined, name: string, network: string) =>
    domain && Object.hasOwn(files, name)
      ? read(`${domain.account} ${name} ${domain.id} ${domain.position}`, network)
      : undefined
}

export interface WellKnownOptions extends Pick<Fallbacks, 'sendFailure'> {
  readonly domains: Pick<Domains, 'byHost'>
  readonly blocks: Pick<Blocks, 'domain'>
  /** Reads the apps of a domain by its id. */
  readonly findApps: (id: number) => Promise<Apps>
  /** an https or mailto address; undefined: there is no `security.txt` */
  readonly contact: string | undefined
  readonly trustProxy: TrustedProxies
  readonly now?: () => Date
}

const prefix = '/.well-known/'
const nameIn = ({ url = '' }: IncomingMessage) => url.slice(prefix.length).split('?', 1)[0] ?? ''

/**
 * Returns what serves all below `/.well-known/` (RFC 8615), where no alias is. What programs ask for there is neither
 * limited nor redirected: Apple and Google follow no redirect, and a device asks once.
 */
export const createWellKnown = ({
  blocks,
  domains,
  findApps,
  contact,
  sendFailure,
  trustProxy,
  now = () => new Date(),
}: WellKnownOptions): PublicHandler => {
  const fileOf = createFiles(findApps)
  const find = async (name: string, host: string, network: string) => {
    if (name === 'security.txt' && contact !== undefined) return securityTxt(contact, now())
    // an app that has the domain would open its links without asking here
    const body = blocks.domain(host) ? undefined : await fileOf(domains.byHost(host), name, network)
    return body && { type: 'application/json', body }
  }

  return async (req, res) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return void res.writeHead(405, { Allow: 'GET, HEAD' }).end()
    try {
      const file = await find(nameIn(req), req.headers.host ?? '', networkOf(clientAddress(req, trustProxy)))
      if (!file) return void res.writeHead(404, { 'Content-Length': 0, 'Cache-Control': 'no-store' }).end()
      res.writeHead(200, {
        'Content-Type': file.type,
        'Content-Length': Buffer.byteLength(file.body),
        'Cache-Control': 'public, max-age=3600',
        'X-Content-Type-Options': 'nosniff',
      })
      res.end(req.method === 'HEAD' ? undefined : file.body)
    } catch (error) {
      sendFailure(req, res, error)
    }
  }
}
