import { timestamp } from '../../lib/fields.ts'
import type { Reader } from '../../queries/reader.ts'
import { readLost } from '../../queries/statistics/lost.ts'
import { countHeadRequests } from '../../queries/statistics/misses.ts'

interface Asked {
  readonly reader: Reader
  readonly account: number
  readonly query: Readonly<Record<'link' | 'campaign' | 'channel' | 'qr' | 'bio', number | undefined>>
}

/**
 * Returns fields about visits that statistics of all links lack, if any: visits that could not be recorded, whose links
 * are unknown, and HEAD requests, which are only counted for now.
 */
export const lostOf = async ({ reader, account, query }: Asked, time: { readonly from: Date; readonly to: Date }) => {
  const isOfAll = (query.link ?? query.campaign ?? query.channel ?? query.qr ?? query.bio) === undefined
  if (!isOfAll) return {}
  const lost = await readLost(reader, account, time)
  const headRequests = reader.clicksUpTo === undefined ? await countHeadRequests(reader, account, time) : 0
  return {
    ...(headRequests > 0 && { headRequests }),
    ...(lost.length > 0 && {
      lost: lost.map(({ from, to, visits, isOwn }) => ({
        from: timestamp(from),
        to: timestamp(to),
        visits,
        of: isOwn ? ('account' as const) : ('service' as const),
      })),
    }),
  }
}
