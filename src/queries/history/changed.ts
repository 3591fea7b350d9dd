import { cachedKinds, kinds, type ResourceKind } from '../../events/kinds.ts'
import { streamId, type StreamKind } from '../../events/streams.ts'
import { prepared } from '../../postgres/database.ts'
import { qrPrefix } from '../qr/qr.ts'
import type { Reader } from '../reader.ts'

/** Cached data of this stream and of this address is outdated. */
export interface Changed {
  readonly stream: string
  readonly domain: number | null
  /** null: it has no public address */
  readonly aliasKey: string | null
  readonly position: bigint
}

/** Columns of public addresses. */
const addresses: Readonly<Partial<Record<ResourceKind, { readonly domain?: string; readonly aliasKey: string }>>> = {
  link: { domain: 'domain', aliasKey: 'alias_key' },
  bio: { aliasKey: 'lower(alias)' },
  qr: { aliasKey: `'${qrPrefix}' || alias` },
}

/**
 * Returns all cached resources that changed after one position of the log and up to another, in one query per projected
 * batch.
 */
export const streamsChanged = async ({ db, table }: Reader, after: bigint, upTo: bigint): Promise<Changed[]> => {
  const changed = (
    kind: StreamKind,
    from: string,
    { id = 'id', domain = 'null::bigint', aliasKey = 'null::text' } = {},
  ) =>
    `select '${streamId(kind, '')}' || ${id} as stream, ${domain} as domain, ${aliasKey} as alias_key, position from ${table(from)}
     where position > ? and position <= ?`
  const sources = [
    ...cachedKinds.map((kind) => changed(kind, kinds[kind].table, addresses[kind])),
    // those that have come to a link
    `select '${streamId('link', '')}' || a.link, a.domain, a.alias_key, l.position
     from ${table('links')} l join ${table('link_addresses')} a on a.link = l.id
     where a.deleted is null and l.position > ? and l.position <= ?`,
    changed('block', 'blocks'),
    changed('team', 'members', { id: 'account' }),
    changed('approval', 'approval_rules', { id: 'account' }),
  ]
  const sql = sources.join(' union all ')
  type ChangedRow = { stream: string; domain: string | null; alias_key: string | null; position: string }
  const { rows } = await db
    .raw<{ rows: ChangedRow[] }>(
      sql,
      sources.flatMap(() => [after.toString(), upTo.toString()]),
    )
    .options(prepared(sql))
  return rows.map(({ stream, domain, alias_key, position }) => ({
    stream,
    domain: domain === null ? null : Number(domain),
    aliasKey: alias_key,
    position: BigInt(position),
  }))
}
