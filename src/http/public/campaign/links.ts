import QuickLRU from 'quick-lru'
import type { Progress } from '../../../cache/progress.ts'
import { batch } from '../../../lib/async/batch.ts'
import { isUnavailable } from '../../../lib/unavailable.ts'
import {
  campaignLinks,
  type PageLink,
  type PublicCampaign,
  rotatorCampaigns,
  type RotatorLink,
  rotatorLinks,
  stillRotating,
} from '../../../queries/links/campaign.ts'
import type { Reader } from '../../../queries/reader.ts'
import { createPaced } from '../paced.ts'

interface Tables {
  readonly reader: Reader
  readonly progress: Pick<Progress, 'seen'>
}

/** maximum number of links that a rotator chooses from */
const sampleSize = 1000
/** ms after which a new sample is drawn, so that all links of a larger campaign get visits */
const sampleAge = 1000
export const perPage = 100
/** pages of a list; each takes as long as all before it together */
export const mostPages = 100
/** guessed addresses that share a query */
export const guessesAtOnce = 1000

/** Whether the database answers anything at all. */
const aliveOf =
  ({ db }: Reader) =>
  () =>
    db.raw('select 1')

type RotatorCampaign = Pick<PublicCampaign, 'id' | 'account'>

/**
 * Returns what finds the public campaign with a slug, which one that was closed is not. No visit waits for the look-ups
 * of slugs that were guessed, and what was guessed takes no place of a campaign. While the database is unavailable, it
 * is that of before.
 */
const createRotators = ({ reader, progress: { seen } }: Tables) => {
  const known = new QuickLRU<string, { readonly found: RotatorCampaign; readonly seen: bigint; readonly at: number }>({
    maxSize: 1000,
  })
  const read = (slugs: readonly string[]) => rotatorCampaigns(reader, slugs)
  const [again, first] = [batch(guessesAtOnce, read), batch(guessesAtOnce, read)]
  return async (slug: string): Promise<RotatorCampaign | undefined> => {
    const [before, upTo, at] = [known.get(slug), seen(), performance.now()]
    if (before && before.seen === upTo && at < before.at + sampleAge) return before.found
    try {
      const found = await (before ? again : first)(slug)
      if (found) known.set(slug, { found, seen: upTo, at })
      else known.delete(slug)
      return found
    } catch (error) {
      if (before && isUnavailable(error)) return before.found
      throw error
    }
  }
}

/** Returns the links that a rotator chooses from; none when there is no such rotator. */
export const createSamples = (options: Tables) => {
  const {
    reader,
    progress: { seen },
  } = options
  const rotator = createRotators(options)
  const slugIn = (key: string) => key.split(' ')[1]!
  const sample = createPaced({
    find: (key) => rotatorLinks(reader, slugIn(key), sampleSize),
    renew: (key, found) => stillRotating(reader, slugIn(key), found),
    alive: aliveOf(reader),
    seen,
    age: sampleAge,
    most: 100,
  })
  return async (slug: string, network: string): Promise<readonly RotatorLink[]> => {
    const found = await rotator(slug)
    // another campaign may get the slug
    return found ? sample(`${found.account} ${slug} ${found.id}`, network) : []
  }
}

/** Returns what finds the links on a page of a list, and whether there is a next page. */
export const createLists = ({ reader, progress: { seen } }: Tables) => {
  const read = (key: string, these?: readonly number[]) => {
    const [account = 0, id = 0, page = 0] = key.split(' ').map(Number)
    return campaignLinks(reader, { id, account }, { page: these ? 1 : page, limit: perPage }, these)
  }
  const linksOn = createPaced<{ readonly rows: readonly PageLink[]; readonly more: boolean }>({
    find: async (key) => {
      const rows = await read(key)
      return { rows: rows.slice(0, perPage), more: rows.length > perPage }
    },
    renew: async (key, { rows, more }) => {
      const ids = rows.map(({ link }) => link)
      return { rows: ids.length > 0 ? await read(key, ids) : [], more }
    },
    alive: aliveOf(reader),
    seen,
    age: 0,
    most: 50,
  })
  return async ({ id, account }: PublicCampaign, page: number, network: string) =>
    page > mostPages ? { rows: [], more: false } : linksOn(`${account} ${id} ${page}`, network)
}
