import { parseStreamId } from '../../events/streams.ts'
import type { Part } from '../../queries/accounts/part.ts'
import type { HistoryRow } from '../../queries/history/history.ts'
import type { Reader } from '../../queries/reader.ts'
import { itemKey, itemsWithin } from '../../queries/streams/membership.ts'
import type { FieldChange } from './fields.ts'

/** Whose history is read by a caller who sees a part of the account. */
export interface Seen {
  readonly part: Part
  /** the stream of the resource itself, which is in that part */
  readonly own: string
}

/**
 * Returns the streams of links that are in a history, and not in the part of its caller: those that came to a campaign
 * or left it. Of these, a history has only that.
 */
export const hiddenStreams = async (
  rows: readonly Pick<HistoryRow, 'stream'>[],
  reader: Reader,
  seen: Seen | undefined,
): Promise<ReadonlySet<string>> => {
  if (seen === undefined) return new Set()
  const links = [...new Set(rows.map(({ stream }) => stream))].flatMap((stream) => {
    const { kind, number } = parseStreamId(stream)
    return kind === 'link' && stream !== seen.own ? [{ stream, item: { kind: 'links', id: number } as const }] : []
  })
  if (links.length === 0) return new Set()
  const items = links.map(({ item }) => item)
  const shown = await itemsWithin(reader, seen.part.account, { part: seen.part }, items)
  return new Set(links.flatMap(({ stream, item }) => (shown.has(itemKey(item)) ? [] : [stream])))
}

/** Returns of the changes of a link that is hidden those that say where it came from and went to. */
export const withoutContents = (changes: readonly FieldChange[]): readonly FieldChange[] =>
  changes.filter(({ field }) => field === 'campaign')
