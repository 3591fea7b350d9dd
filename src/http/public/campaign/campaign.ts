import { unlessNewer } from '../../../events/unknown.ts'
import { schemeOf, webHost } from '../../../lib/schemes.ts'
import { randomInt } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Blocks } from '../../../cache/blocks.ts'
import { aliasKey } from '../../../lib/short/alias.ts'
import { isExact } from '../../../cache/clickcounts.ts'
import type { PendingStreams } from '../../../cache/pending.ts'
import type { Progress } from '../../../cache/progress.ts'
import type { Targets } from '../../../cache/targets.ts'
import { campaign } from '../../../commands/links/campaign.ts'
import type { Handler as CommandHandler } from '../../../commands/handle.ts'
import { streamId } from '../../../events/streams.ts'
import { clientAddress, networkOf, type TrustedProxies } from '../../../lib/address.ts'
import { batch } from '../../../lib/async/batch.ts'
import { turnTimer } from '../../../lib/async/pause.ts'
import type { Target } from '../../../queries/links/target.ts'
import { findPublicCampaigns, type PageLink, type RotatorLink } from '../../../queries/links/campaign.ts'
import type { Reader } from '../../../queries/reader.ts'
import { pagination } from '../../api/fields.ts'
import { type LinkAddresses, short } from '../../links/address.ts'
import { blockedPage } from '../blocked.ts'
import type { SendPage } from '../page/page.ts'
import { listPage, pages } from '../page/messages.ts'
import { createLists, createSamples, guessesAtOnce, mostPages, perPage } from './links.ts'
import type { PageTurn } from '../page/turns.ts'
import { asWritten } from '../path.ts'
import type { Redirect } from '../redirect.ts'
import { type PublicHandler, redirectTo } from '../responses.ts'

export interface CampaignPagesOptions extends Pick<Redirect, 'follow' | 'withPrefix'>, LinkAddresses {
  readonly sendPage: SendPage
  readonly pageTurn: PageTurn
  readonly trustProxy: TrustedProxies
  readonly handler: CommandHandler
  readonly reader: Reader
  readonly pending: PendingStreams
  readonly progress: Pick<Progress, 'seen'>
  readonly targets: Targets
  readonly blocks: Blocks
  /** the clock that links end by, in ms since 1970 */
  readonly now: () => number
}

const rotatorPath = /^\/r\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})\/?(?:\?|$)/
const listPath = /^\/u\/([a-z0-9_-]{3,32})\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})-([1-9]\d{0,14})\/?(?:\?|$)/

/** Whether a link is blocked: itself, its address, its domain, or where it leads most visitors. */
const isBlocked = (
  { link, domain, aliasKey: key, url, variants }: Pick<Target, 'link' | 'domain' | 'aliasKey' | 'url' | 'variants'>,
  { blocks, domains }: Pick<CampaignPagesOptions, 'blocks' | 'domains'>,
) => {
  const usual = variants.length > 0 ? variants.map((one) => one.url) : [url]
  const known = domain === null ? undefined : domains.byId(domain)
  return (
    blocks.link(link) ||
    blocks.address(known?.domain, key) ||
    usual.every((one) => blocks.destination(one)) ||
    (known && blocks.domain(new URL(known.domain).hostname))
  )
}

/** links that a visit looks at, where most of a sample lead nowhere */
const mostTried = 100

/** What visits have learned of a sample: `left` is without the links that lead nowhere. */
interface Tried {
  left: readonly RotatorLink[]
  blocked?: 'blocked'
}

/**
 * Returns what picks one of the links of a sample that lead somewhere, each with the same probability; `blocked` when
 * they all are, undefined when there is none. A link that leads nowhere is looked at once for all visits that share the
 * sample, and other requests are answered between two of them.
 */
export const createPick = (options: Pick<CampaignPagesOptions, 'targets' | 'now' | 'blocks' | 'domains'>) => {
  const { targets, now } = options
  const samples = new WeakMap<readonly RotatorLink[], Tried>()
  return async (links: readonly RotatorLink[]) => {
    const sample: Tried = samples.get(links) ?? { left: links }
    samples.set(links, sample)
    const isLong = turnTimer()
    for (let tried = 0; sample.left.length > 0; tried++) {
      if (tried === mostTried) sample.left = []
      if (isLong()) await nextTurn()
      const link = sample.left[randomInt(sample.left.length || 1)]
      if (!link) break
      const isOver = link.expiry && link.expiry.getTime() <= now()
      const target = isOver ? undefined : await targets.get(link.domain, aliasKey(link.alias))
      if (target && 'link' in target && target.link === link.link) {
        if (!isBlocked(target, options)) return { target, link }
        sample.blocked = 'blocked'
      }
      sample.left = sample.left.filter((one) => one !== link)
    }
    return sample.blocked
  }
}

/** Returns what a list says of a link. */
const entryOf = (row: PageLink, options: LinkAddresses) => {
  const url = short(row, options)
  const title = row.title || url.replace(/^https?:\/\//, '')
  const isSecret = row.password || isExact(row.max_clicks)
  return { url, title, host: isSecret ? undefined : webHost(row.url) || schemeOf(row.url) }
}

/** Returns whether a campaign is served: one that was closed is not, even before the tables know. */
const createIsPublic =
  ({ handler, pending }: Pick<CampaignPagesOptions, 'handler' | 'pending'>) =>
  async (id: number) => {
    if (!pending.has(streamId('campaign', id))) return true
    const read = async () => {
      const { state } = await handler.load(campaign, id)
      return state.status === 'open' && state.fields.public
    }
    return unlessNewer(read, () => true)
  }

/**
 * Serves the public addresses of campaigns: `/r/{slug}` leads to any of its links, `/u/{username}/{slug}-{id}` lists
 * them.
 */
export const createCampaignPages = (options: CampaignPagesOptions): PublicHandler => {
  const { sendPage, pageTurn, reader, blocks, follow, withPrefix, trustProxy } = options
  const networkOfClient = (req: IncomingMessage) => networkOf(clientAddress(req, trustProxy))
  const isPublic = createIsPublic(options)
  const sample = createSamples(options)
  const pick = createPick(options)
  const linksOf = createLists(options)
  const findPublic = batch(guessesAtOnce, (ids: readonly number[]) => findPublicCampaigns(reader, ids))

  const sendBlocked = (req: IncomingMessage, res: ServerResponse) => {
    sendPage(req, res, blockedPage)
    return true
  }

  const rotate = async (req: IncomingMessage, res: ServerResponse, slug: string) => {
    const links = await sample(slug, networkOfClient(req))
    const id = links[0]?.campaign
    if (id === undefined || !(await isPublic(id))) return false
    if (blocks.campaign(id) || blocks.address(undefined, `r/${slug}`)) return sendBlocked(req, res)
    const picked = await pick(links)
    if (!picked) return false
    if (picked === 'blocked') return sendBlocked(req, res)
    const { target, link } = picked
    // the password is entered at the link's own address: this one may lead elsewhere when the form is posted
    if (target.password !== null) redirectTo(res, short(link, options))
    else await follow(req, res, target, { kind: 'rotator', id })
    return true
  }

  const list = async (req: IncomingMessage, res: ServerResponse, username: string, slug: string, id: number) => {
    const found = await findPublic(id)
    const named = found?.username === username && found.slug.toLowerCase() === slug.toLowerCase()
    if (!found || !named || !(await isPublic(id))) return false
    if (blocks.campaign(id)) return sendBlocked(req, res)
    const query = new URLSearchParams(req.url?.split('?')[1])
    const current = { ...pagination.parse({ page: query.get('page') ?? '' }), limit: perPage }
    const { rows, more } = await linksOf(found, current.page, networkOfClient(req))
    const shown = rows.filter((row) => !isBlocked({ ...row, aliasKey: row.alias, variants: [] }, options))
    const links = shown.map((row) => entryOf(row, options))
    const older = more && current.page < mostPages ? `?page=${current.page + 1}` : undefined
    const newer = current.page > 1 ? `?page=${Math.min(current.page - 1, mostPages)}` : undefined
    await pageTurn(req)
    sendPage(req, res, listPage({ title: found.name, links, older, newer }))
    return true
  }

  return withPrefix(async (req, res) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      sendPage(req, res, pages.readOnly)
      return true
    }
    const { url = '' } = req
    const [, rotator] = rotatorPath.exec(url) ?? rotatorPath.exec(asWritten(url)) ?? []
    if (rotator !== undefined) return rotate(req, res, rotator.toLowerCase())
    const [, username, slug, id] = listPath.exec(url) ?? []
    return username !== undefined && slug !== undefined && list(req, res, username, slug, Number(id))
  })
}
