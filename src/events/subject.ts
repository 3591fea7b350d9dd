import { ItemKind } from './links/channel.ts'
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

const isItem = (kind: string): kind is ItemKind => ItemKind.safeParse(kind).success
/** What items are in, and filters ask for. */
const groups: ReadonlySet<string> = new Set<keyof Subject>(['campaign', 'channel', 'domain'])

/** Returns what the events of a stream are about. */
export const subjectOf = (stream: string): Subject => {
  const { kind, id, number } = parseStreamId(stream)
  if (kind === 'channelitem') {
    const [channel, of = '', item] = id.split('-')
    return { items: isItem(of) ? [{ kind: of, id: Number(item) }] : [], channel: Number(channel) }
  }
  const item = kind === 'link' ? 'links' : kind
  if (isItem(item)) return { items: [{ kind: item, id: number }] }
  return groups.has(kind) ? { items: [], [kind]: number } : { items: [] }
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
