import type { IncomingMessage, ServerResponse } from 'node:http'
import { exactAliasAt } from '../../../lib/short/alias.ts'
import type { KnownDomain } from '../../../queries/domains/domain.ts'
import { asWritten } from '../path.ts'
import { createFollowFound, passedRest, type Serving } from './serve.ts'

/** segments of an alias that is looked for at the beginning of a path */
const mostSegments = 8

const pathOf = (url: string) => url.split(/[?#]/, 1)[0] ?? ''

/** Returns the exact aliases that a path may ask for, the likely ones first: as it is typed, as it is meant. */
const wholePaths = (url: string) => {
  const found = [url, asWritten(url)].flatMap((one) => exactAliasAt(pathOf(one).replace(/\/$/, '')) ?? [])
  return [...new Set(found)]
}
/** Returns the exact aliases that a path begins with, the longest first. */
const beginnings = (url: string) => {
  const parts = pathOf(url).split('/').slice(1)
  const longest = Math.min(parts.length - 1, mostSegments)
  return Array.from({ length: Math.max(0, longest) }, (_, i) => longest - i).flatMap((segments) => {
    const alias = exactAliasAt(`/${parts.slice(0, segments).join('/')}`)
    return alias === undefined ? [] : [{ alias, segments }]
  })
}

/** Returns what serves a link on a domain with exact aliases: the whole path is its alias, or begins with it. */
export const createServeExact = (serving: Serving) => {
  const { targets, sendMiss, sendUnknown, sendIfBlocked } = serving
  const followFound = createFollowFound(serving)
  const linkAt = async (domain: KnownDomain, alias: string) => {
    const found = await targets.get(domain.id, alias)
    return found && 'link' in found ? found : undefined
  }
  return async (req: IncomingMessage, res: ServerResponse, domain: KnownDomain) => {
    const { url = '' } = req
    for (const alias of wholePaths(url)) {
      if (sendIfBlocked(req, res, domain, alias)) return
      const target = await linkAt(domain, alias)
      if (target) return followFound(req, res, target, '')
    }
    for (const { alias, segments } of beginnings(url)) {
      if (sendIfBlocked(req, res, domain, alias)) return
      const target = await linkAt(domain, alias)
      if (!target) continue
      const rest = passedRest(target, req, segments)
      return rest === undefined ? sendUnknown(req, res, domain) : followFound(req, res, target, rest)
    }
    sendMiss(req, res, domain)
  }
}
