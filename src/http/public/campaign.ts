import { randomInt } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import QuickLRU from 'quick-lru'
import type { PendingStreams } from '../../cache/pending.ts'
import type { Progress } from '../../cache/progress.ts'
import type { Targets } from '../../cache/targets.ts'
import { campaign } from '../../commands/campaign.ts'
import type { Handler as CommandHandler } from '../../commands/handle.ts'
import { isUnavailable } from '../../lib/unavailable.ts'
import { campaignLinks, findPublicCampaign, type RotatorLink, rotatorLinks } from '../../queries/campaign.ts'
import type { Reader } from '../../queries/reader.ts'
import { page } from '../api/fields.ts'
import type { Services } from '../api/route.ts'
import { short } from '../link.ts'
import { sendPage } from './html.ts'
import { listPage, pages } from './pages.ts'
import { type Handler, type Redirect, sendTo } from './redirect.ts'

export interface CampaignPagesOptions
  extends Pick<Redirect, 'follow' | 'below'>, Pick<Services, 'baseUrl' | 'domains'> {
  readonly handler: CommandHandler
  readonly reader: Reader
  readonly pending: PendingStreams
  readonly progress: Pick<Progress, 'seen'>
  readonly targets: Targets
}

const rotatorPath = /^\/r\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})(?:\?|$)/
const listPath = /^\/u\/([a-z0-9_-]{3,32})\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})-([1-9]\d{0,14})(?:\?|$)/
/** links that a rotator chooses among at a time, and ms until others of a larger campaign have their turn */
const [choices, turn] = [1000, 1000]
const perPage = 100

/** What a campaign shows to everyone while it is public: `/r/{slug}` leads to any of its links, `/u/{username}/{slug}-{id}` lists them. */
export const createCampaignPages = (options: CampaignPagesOptions): Handler => {
  const { handler, reader, pending, progress, targets, follow, below } = options
  const remembered = new QuickLRU<string, { links: readonly RotatorLink[]; seen: bigint; at: number }>({ maxSize: 100 })

  /** Also while the tables are late, what is no longer public is not shown. */
  const isOpen = async (id: number) => {
    if (!pending.has(`campaign-${id}`)) return true
    const { state } = await handler.load(campaign, id)
    return state.status === 'open' && state.fields.public
  }

  /** What is remembered is true while the tables stand where they stood; when they cannot be asked, it has to do. */
  const linksAt = async (slug: string) => {
    const before = remembered.get(slug)
    const [seen, at] = [progress.seen(), Date.now()]
    if (before?.seen === seen && at - before.at < turn) return before.links
    try {
      const links = await rotatorLinks(reader, slug, choices)
      remembered.set(slug, { links, seen, at })
      return links
    } catch (error) {
      if (before && isUnavailable(error)) return before.links
      throw error
    }
  }

  /** Any of them that leads somewhere, each as likely as the others. */
  const pick = async (links: readonly RotatorLink[]) => {
    const left = [...links]
    while (left.length > 0) {
      const [chosen] = left.splice(randomInt(left.length), 1)
      if (!chosen || (chosen.expiry && chosen.expiry.getTime() <= Date.now())) continue
      const target = await targets.get(chosen.domain, chosen.alias.toLowerCase())
      if (target && 'link' in target && target.link === chosen.link) return { target, chosen }
    }
    return undefined
  }

  const rotate = async (req: IncomingMessage, res: ServerResponse, slug: string) => {
    const links = await linksAt(slug)
    const id = links[0]?.campaign
    const picked = id !== undefined && (await isOpen(id)) && (await pick(links))
    if (!picked) return false
    const { target, chosen } = picked
    // the password is asked for at the link's own address: this one may lead elsewhere when the form comes back
    if (target.password !== null) sendTo(res, short(chosen, options))
    else await follow(req, res, target, { kind: 'rotator', id })
    return true
  }

  const show = async (req: IncomingMessage, res: ServerResponse, username: string, slug: string, id: number) => {
    const found = await findPublicCampaign(reader, id)
    const named = found?.username === username && found.slug.toLowerCase() === slug.toLowerCase()
    if (!found || !named || !(await isOpen(id))) return false
    const query = new URLSearchParams(req.url?.split('?')[1])
    const asked = { ...page({ page: query.get('page') ?? '' }), limit: perPage }
    const links = await campaignLinks(reader, found, asked)
    const shown = links.slice(0, perPage).map((link) => {
      const address = short(link, options)
      const title = link.title || address.replace(/^https?:\/\//, '')
      return { url: address, title, note: link.password ? 'protected by a password' : new URL(link.url).host }
    })
    const older = links.length > perPage ? `?page=${asked.page + 1}` : undefined
    const newer = asked.page > 1 ? `?page=${asked.page - 1}` : undefined
    sendPage(req, res, listPage({ title: found.name, links: shown, older, newer }))
    return true
  }

  return below(async (req, res) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      sendPage(req, res, { ...pages.method, headers: { Allow: 'GET, HEAD' } })
      return true
    }
    const { url = '' } = req
    const [, rotator] = rotatorPath.exec(url) ?? []
    if (rotator !== undefined) return rotate(req, res, rotator.toLowerCase())
    const [, username, slug, id] = listPath.exec(url) ?? []
    return username !== undefined && slug !== undefined && show(req, res, username, slug, Number(id))
  })
}
