import type { IncomingMessage, ServerResponse } from 'node:http'
import { exactAliasesAt } from '../../../lib/short/alias.ts'
import type { KnownDomain } from '../../../queries/domains/domain.ts'
import { createFollowFound, passedRest, type Serving } from './serve.ts'

/** Returns what serves a link on a domain with exact aliases: the whole path is its alias, or begins with it. */
export const createServeExact = (serving: Serving) => {
  const { targets, sendMiss, sendIfBlocked } = serving
  const followFound = createFollowFound(serving)
  const linkAt = async (domain: KnownDomain, alias: string) => {
    const found = await targets.get(domain.id, alias)
    return found && 'link' in found ? found : undefined
  }
  return async (req: IncomingMessage, res: ServerResponse, domain: KnownDomain) => {
    for (const { alias, segments } of exactAliasesAt(req.url ?? '')) {
      if (sendIfBlocked(req, res, domain, alias)) return
      const target = await linkAt(domain, alias)
      if (!target) continue
      const rest = segments === undefined ? '' : passedRest(target, req, segments)
      if (rest === undefined) break
      return followFound(req, res, target, rest)
    }
    sendMiss(req, res, domain)
  }
}
