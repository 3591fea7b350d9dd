import type { ItemKind } from './links/channel.ts'
import { parseStreamId } from './streams.ts'

/** A link, bio page or QR code. */
export interface Item {
  readonly kind: ItemKind
  readonly id: number
}

/** What an event is about, as far as filters by campaign, channel, domain and tag ask for it. */
export interface Subject {
  readonly items: readonly Item[]
  readonly campaign?: number
  readonly channel?: number
  readonly domain?: number
}

/** Returns what the events of a stream are about. */
export const subjectOf = (stream: string): Subject => {
  const { kind, id, number } = parseStreamId(stream)
  switch (kind) {
    case 'link':
      return { items: [{ kind: 'links', id: number }] }
    case 'bio':
    case 'qr':
      return { items: [{ kind, id: number }] }
    case 'campaign':
    case 'channel':
    case 'domain':
      return { items: [], [kind]: number }
    case 'channelitem': {
      const [channel, of, item] = id.split('-')
      const items = of === 'links' || of === 'bio' || of === 'qr' ? [{ kind: of, id: Number(item) } as const] : []
      return { items, channel: Number(channel) }
    }
    default:
      return { items: [] }
  }
}

/** Returns what was visited: the link, and the QR code or bio page that the visitor came by. */
export const visitedItems = ({
  link,
  source,
}: {
  readonly link: number
  readonly source: { readonly kind: string; readonly id: number }
}): readonly Item[] => [
  ...(link === 0 ? [] : [{ kind: 'links', id: link } as const]),
  ...(source.kind === 'qr' ? [{ kind: 'qr', id: source.id } as const] : []),
  ...(source.kind === 'bio' ? [{ kind: 'bio', id: source.id } as const] : []),
]
