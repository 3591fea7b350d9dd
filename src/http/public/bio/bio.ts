import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Blocks } from '../../../cache/blocks.ts'
import { bioRules } from '../../../events/statistics/click.ts'
import type { BioTarget } from '../../../queries/links/target.ts'
import { withRequestedHost } from '../../api/ownaddress.ts'
import { bioPage } from './page.ts'
import { type BlockedAddressOptions, blockedPage, createBlockedAddress, withoutBlockedEntries } from '../blocked.ts'
import type { Follow } from '../link/follow.ts'
import { aliasesIn, findOwnLink, type OwnLinkOptions } from '../link/ownlink.ts'
import type { SendPage } from '../page/page.ts'
import type { PageTurn } from '../page/turns.ts'
import { pages } from '../page/messages.ts'
import { redirectTo, seeOther } from '../responses.ts'
import type { Source } from '../link/visit.ts'

export interface BioOptions extends Pick<Follow, 'follow' | 'record'>, BlockedAddressOptions, OwnLinkOptions {
  readonly isOurHost: (host: string) => boolean
  readonly blocks: Pick<Blocks, 'address' | 'addressOn' | 'bio' | 'destination' | 'domain'>
  readonly sendPage: SendPage
  readonly pageTurn: PageTurn
}

export interface BioPages {
  /** Shows the page, and counts a view. */
  readonly show: (req: IncomingMessage, res: ServerResponse, page: BioTarget) => Promise<void>
  /** Counts a click on an entry of the page, and leads to its URL. Returns false when the page has no such entry. */
  readonly followEntry: (req: IncomingMessage, res: ServerResponse, page: BioTarget, entry: number) => Promise<boolean>
}

/** Addresses of ours that may lead back to an entry: an entry, and the scan of a QR code. */
const mayLoop = /^\/(?:qr\/.*|[A-Za-z0-9][A-Za-z0-9_-]{0,63}\/\d+\/?)$/

/** Serves bio pages and the addresses of their entries. Both are visits, recorded as those of links are. */
export const createBioPages = (options: BioOptions): BioPages => {
  const { domains, isOurHost, blocks, sendPage, pageTurn, follow, record } = options
  const isBlockedAddress = createBlockedAddress(options)
  // the page's revision tells where an entry led: the content of a bio page is personal data, which no click may
  // contain
  const recordEntry = (req: IncomingMessage, { account, revision }: BioTarget, source: Source, answer: () => void) =>
    record(req, { account, link: 0, revision }, { url: '', rule: bioRules.entry }, source, answer)

  return {
    show: async (req, res, page) => {
      if (blocks.bio(page.bio)) return sendPage(req, res, blockedPage)
      if (req.method === 'POST') return seeOther(req, res)
      const { bio: id, account, revision } = page
      const visited = { account, link: 0, revision }
      await record(req, visited, { url: '', rule: bioRules.view }, { kind: 'bio', id }, () => {})
      await pageTurn(req)
      sendPage(req, res, bioPage(withoutBlockedEntries(page, blocks)))
    },

    followEntry: async (req, res, page, id) => {
      const entry = page.links.find((link) => link.id === id)
      if (!entry) return false
      const url = new URL(entry.url)
      const ours = withRequestedHost(req, isOurHost)(url.host)
      const aliases = ours ? aliasesIn(url, domains) : []
      // a link of ours is followed here, without the request to its domain
      if (
        blocks.bio(page.bio) ||
        blocks.destination(entry.url) ||
        (blocks.domain(url.host) && domains.byHost(url.host)) ||
        aliases.some((alias) => isBlockedAddress(url.host, alias))
      ) {
        sendPage(req, res, blockedPage)
        return true
      }
      const source: Source = { kind: 'bio', id: page.bio, entry: id }
      const link = await findOwnLink(options, { host: url.host, aliases }, page.account)
      if (link) await follow(req, res, link, source)
      else if (ours && mayLoop.test(url.pathname)) sendPage(req, res, pages.loop)
      else if (req.method === 'POST') seeOther(req, res)
      else await recordEntry(req, page, source, () => redirectTo(res, entry.url))
      return true
    },
  }
}
