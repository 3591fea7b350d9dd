import { timestamp } from '../../lib/fields.ts'
import type { Reader } from '../../queries/reader.ts'
import { readLost } from '../../queries/statistics/lost.ts'

interface Asked {
  readonly reader: Reader
  readonly account: number
  readonly query: Readonly<Record<'link' | 'campaign' | 'channel' | 'qr' | 'bio', number | undefined>>
}

/** Returns the field with what could not be recorded, if anything: of all links, as nobody knows of which they were. */
export const lostOf = async ({ reader, account, query }: Asked, time: { readonly from: Date; readonly to: Date }) => {
  const isOfAll = (query.link ?? query.campaign ?? query.channel ?? query.qr ?? query.bio) === undefined
  const lost = isOfAll ? await readLost(reader, account, time) : []
  if (lost.length === 0) return {}
  return {
    lost: lost.map(({ from, to, visits, isOwn }) => ({
      from: timestamp(from),
      to: timestamp(to),
      visits,
      of: isOwn ? ('account' as const) : ('service' as const),
    })),
  }
}
