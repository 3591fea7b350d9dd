import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FoundTarget } from '../../../cache/lookups.ts'
import type { Targets } from '../../../cache/targets.ts'
import type { KnownDomain } from '../../../queries/domains/domain.ts'
import type { BioTarget, Target } from '../../../queries/links/target.ts'
import type { createBioPages } from '../bio/bio.ts'
import type { MaybeLater } from '../responses.ts'
import type { Follow, FollowOptions } from './follow.ts'
import { restOf } from './rest.ts'
import { scannedCode } from './scan.ts'
import { queryOf, type Source } from './visit.ts'

export type Send = (req: IncomingMessage, res: ServerResponse, domain: KnownDomain | undefined) => void
/** What public addresses are served with. */
export interface Serving extends Pick<FollowOptions, 'pepper' | 'now'> {
  readonly targets: Targets
  readonly follow: Follow['follow']
  readonly bioPages: ReturnType<typeof createBioPages>
  readonly sendMiss: Send
  readonly sendUnknown: Send
  /** Answers a request for an address that the operator blocks; false: it is not blocked. */
  readonly sendIfBlocked: (
    req: IncomingMessage,
    res: ServerResponse,
    domain: KnownDomain | undefined,
    alias: string,
  ) => boolean
}

/** Returns what follows the alias in a path, undefined where the link does not pass it on. */
export const passedRest = ({ forward, forward_path }: Target, { url = '' }: IncomingMessage, segments?: number) =>
  forward && forward_path ? restOf(url, segments) : undefined

/** Returns what follows a link for its visitors, and for those who have scanned a code of it. */
export const createFollowFound =
  ({ follow, pepper, now }: Serving) =>
  (req: IncomingMessage, res: ServerResponse, target: Target, rest: string): MaybeLater => {
    const { link } = target
    const code = scannedCode(pepper, queryOf(req), link, now())
    const source: Source = code === undefined ? { kind: 'link', id: link } : { kind: 'qr', id: code }
    return follow(req, res, target, source, rest)
  }

/** Returns what serves the link or bio page of an alias, and the entries of a bio page. */
export const createServeAlias = (serving: Serving) => {
  const { targets, bioPages, sendMiss, sendUnknown } = serving
  const followFound = createFollowFound(serving)
  return (
    req: IncomingMessage,
    res: ServerResponse,
    domain: KnownDomain | undefined,
    alias: string,
    entry: string | undefined,
    hasRest: boolean,
  ): MaybeLater => {
    const serveBio = async (target: BioTarget) => {
      if (!hasRest) return bioPages.show(req, res, target)
      if (entry === undefined || !(await bioPages.followEntry(req, res, target, Number(entry))))
        sendUnknown(req, res, domain)
    }
    const serveFound = (target: FoundTarget) => {
      // no alias leads to the address of a QR code
      if (!target || 'qr' in target) return sendMiss(req, res, domain)
      if ('bio' in target) return serveBio(target)
      const rest = hasRest ? passedRest(target, req) : ''
      if (rest === undefined) return sendUnknown(req, res, domain)
      return followFound(req, res, target, rest)
    }
    const found = targets.get(domain?.id ?? null, alias)
    return found instanceof Promise ? found.then(serveFound) : serveFound(found)
  }
}
