import type { ItemKind } from '../../events/links/channel.ts'
import { type KeptKind, keptKinds, kinds } from '../../events/kinds.ts'
import { streamId } from '../../events/streams.ts'
import { type OtherAddress, otherAddresses } from '../links/addresses.ts'
import type { Reader } from '../reader.ts'

/** rows in one statement: another account must not wait for a connection of an export */
const batchSize = 1000

/** Reads in batches, each after the last row of the one before: between two of them, no connection is used. */
const inBatches = async function* <R>(readAfter: (last: R | undefined) => Promise<readonly R[]>): AsyncGenerator<R> {
  for (let last: R | undefined; ;) {
    const rows = await readAfter(last)
    yield* rows
    if (rows.length < batchSize) return
    last = rows.at(-1)
  }
}

/**
 * Returns the ids of an account's resources of one kind, also deleted ones, in one pass: what is deleted or restored
 * meanwhile is neither missed nor met twice. Those that are deleted have an index of their own, or are few.
 */
const ids = ({ db, table }: Reader, kind: KeptKind, account: number) =>
  inBatches<{ id: string }>((last) => {
    const some = (deleted: string) =>
      db(table(kinds[kind].table))
        .where({ account })
        .where('id', '>', last?.id ?? 0)
        .whereRaw(deleted)
        .orderBy('id')
        .limit(batchSize)
        .select('id')
    const both = some('deleted is null').unionAll([some('deleted is not null')], true)
    return db(both.as('both')).orderBy('id').limit(batchSize).select('id')
  })

interface Membership {
  readonly kind: ItemKind
  readonly item: string
  readonly position: string
}

/** Returns the items of a channel, also deleted ones, in the order of their assignments. */
const memberships = ({ db, table }: Reader, channel: string) =>
  inBatches<Membership>((last) =>
    db(table('channel_items'))
      .where({ channel })
      .where('position', '>', last?.position ?? 0)
      .orderBy('position')
      .limit(batchSize)
      .select('kind', 'item', 'position'),
  )

/**
 * Returns the streams of an account: its own, those of its resources, also deleted ones, and those of the items of its
 * channels.
 */
export const streamsOf = async function* (reader: Reader, account: number): AsyncGenerator<string> {
  yield streamId('account', account)
  for (const kind of keptKinds)
    for await (const { id } of ids(reader, kind, account)) {
      yield streamId(kind, id)
      if (kind !== 'channel') continue
      for await (const { kind: of, item } of memberships(reader, id)) yield streamId('channelitem', id, of, item)
    }
}

export interface ExportedAnswer {
  readonly id: string
  readonly overlay: string
  /** a JSON object of strings; null after it or its account was erased */
  readonly fields: string | null
  readonly created: Date
}

/** Returns the answers to all overlays of an account, also deleted ones, oldest first. */
export const answersOf = ({ db, table }: Reader, account: number) =>
  inBatches<ExportedAnswer>((last) =>
    db(table('answers'))
      .where({ account })
      .where('id', '>', last?.id ?? 0)
      .orderBy('id')
      .limit(batchSize)
      .select('id', 'overlay', 'fields', 'created'),
  )

interface RedirectingLink {
  readonly id: string
  readonly alias: string
  readonly domain: string | null
  readonly url: string
  readonly others: readonly OtherAddress[] | null
}

/** Returns the links of an account that redirect now, without a password. */
export const redirectingLinks = ({ db, table }: Reader, account: number) =>
  inBatches<RedirectingLink>((last) =>
    db(table('links'))
      .where({ account, deleted: null, password: null })
      .whereRaw('coalesce(expiry > now(), true) and coalesce(starts <= now(), true)')
      .where('id', '>', last?.id ?? 0)
      .orderBy('id')
      .limit(batchSize)
      .select('id', 'alias', 'domain', 'url', db.raw(`${otherAddresses(table, `${table('links')}.id`)} as others`)),
  )

interface LogoRow {
  readonly id: string
  /** of its image; null: it is in the row, because an event of 0.1.0 contains it */
  readonly hash: string | null
}

/** Returns which QR codes of an account have a logo. */
export const logosOf = ({ db, table }: Reader, account: number) =>
  inBatches<LogoRow>((last) =>
    db(table('qrs'))
      .where({ account, deleted: null })
      .whereRaw('(logo is not null or logo_hash is not null)')
      .where('id', '>', last?.id ?? 0)
      .orderBy('id')
      .limit(batchSize)
      .select('id', 'logo_hash as hash'),
  )
