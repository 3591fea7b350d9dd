import type { Blocks } from '../../cache/blocks.ts'
import { destinationsOf, isFramed } from '../../commands/links/link.ts'
import { shownAlias } from '../../lib/short/alias.ts'
import type { LinkFields } from '../../events/links/link.ts'
import { timestamp } from '../../lib/fields.ts'
import { importedOfLink } from '../../queries/links/imported.ts'
import { existingPixels, type LinkListRow, type LinkRow } from '../../queries/links/link.ts'
import { countClicks } from '../../queries/statistics/clickcount.ts'
import { linkStats } from '../../queries/statistics/stats.ts'
import type { Reading } from '../api/route.ts'
import { statistics, variantCounts } from '../statistics/totals.ts'
import { type LinkAddresses, origin, short } from './address.ts'
import { channelsOf } from './assigned.ts'
import type { LinkDetails, LinkRow as ListedLink } from './contract/link.ts'
import { countedAddresses, listedAddresses } from './moreaddresses.ts'
import { rulesByName } from './rules.ts'
import { statusOf } from './status.ts'

/** What links are shown with. */
interface Showing extends LinkAddresses {
  readonly blocks: Blocks
}

const titleOf = ({ title, metatitle }: Pick<LinkFields, 'title' | 'metatitle'>) => title || metatitle
const descriptionOf = ({ description, metadescription }: Pick<LinkFields, 'description' | 'metadescription'>) =>
  description || metadescription

/**
 * Returns the destinations that visitors are redirected to, because they refuse to be shown in the frame of this link.
 */
const unframedOf = (row: LinkRow) => {
  const destinations = isFramed(row.type) ? destinationsOf(row) : []
  return row.unframed
    .filter(({ url }) => destinations.includes(url))
    .map(({ url, reason, since }) => ({ url, reason, since: timestamp(new Date(since)) }))
}

const detailsOf = async (
  reading: Reading,
  row: LinkRow,
  services: Showing,
): Promise<Omit<LinkDetails, 'status' | 'addresses'>> => ({
  id: row.id,
  shorturl: short(row, services),
  longurl: row.entered ?? row.url,
  title: titleOf(row),
  description: descriptionOf(row),
  ...rulesByName(row),
  expiry: row.expiry && timestamp(row.expiry),
  date: timestamp(row.created),
  alias: shownAlias(row.alias),
  type: row.type,
  domain: origin(row, services),
  parameters: row.parameters,
  metatitle: row.metatitle,
  metadescription: row.metadescription,
  metaimage: row.metaimage,
  campaign: row.campaign,
  channels: await channelsOf(reading, row.id),
  pixels: await existingPixels(reading.reader, row.pixels),
  password: row.password,
  unframed: unframedOf(row),
  tags: row.tags,
  notes: row.notes ?? '',
  archived: row.archived,
  starts: row.starts && timestamp(row.starts),
  expired_url: row.expired_url,
  max_clicks: row.max_clicks,
  forward: row.forward && row.forward_path ? 'path' : row.forward,
  variants: row.variants,
  revision: row.revision,
})

/** Returns the moment that is asked about. */
export const nowIn = ({ now }: Reading['reader']) => now ?? new Date()

/** Returns a link as lists show it. */
export const listRow =
  (services: Showing, now: Date) =>
  (row: LinkListRow): ListedLink => ({
    id: row.id,
    alias: shownAlias(row.alias),
    shorturl: short(row, services),
    longurl: row.entered ?? row.url,
    clicks: row.clicks + row.imported.clicks,
    title: titleOf(row),
    description: descriptionOf(row),
    date: timestamp(row.created),
    uniqueclicks: row.uniques + row.imported.uniques,
    domain: origin(row, services),
    campaign: row.campaign,
    tags: row.tags,
    archived: row.archived,
    status: statusOf(row, services, now),
    revision: row.revision,
    ...(row.imported.clicks > 0 && { imported: row.imported.clicks }),
    ...(row.others && { addresses: listedAddresses(row, services) }),
  })

/** Returns the details of a link, and its statistics. */
export const detailed = async (reading: Reading, row: LinkRow, services: Showing) => {
  const stats = await linkStats(reading.reader, row.id)
  const imported = await importedOfLink(reading.reader, row.id)
  const [own] = row.max_clicks === null ? [] : await countClicks(reading.reader, [row.id])
  const { clicks, uniqueClicks, ...measured } = statistics(stats, 0, ['facebook', 'twitter', 'google'])
  const topVariants = variantCounts(stats)
  return {
    details: {
      ...(await detailsOf(reading, row, services)),
      status: statusOf({ ...row, own: own?.clicks ?? 0 }, services, nowIn(reading.reader)),
      addresses: countedAddresses(row, stats.address, services),
    },
    data: {
      clicks: clicks + imported.clicks,
      uniqueClicks: uniqueClicks + imported.uniques,
      ...(imported.clicks > 0 && { imported: imported.clicks }),
      ...measured,
      ...((row.variants.length > 0 || topVariants !== 0) && { topVariants }),
    },
  }
}
