import { filtered, inOrder, type Listed, type ListRequest, readPositions } from '../page.ts'
import { idOrNull, type Reader } from '../reader.ts'

/** Something that is or was blocked, as every process caches it. */
export interface KnownBlock {
  readonly kind: string
  /** the id, host or pattern */
  readonly value: string
  /** null: it is not blocked any more */
  readonly reason: string | null
  /** of a link or a bio page, as `AddressBlocked` has them */
  readonly addresses: readonly string[]
  /** of its last change in the log */
  readonly position: bigint
}
export interface BlockRow extends KnownBlock {
  readonly operator: string
  readonly changed: Date
}

/** Returns what changed after one position of the log and up to another; from 0n on, all of it. */
export const blocksChanged = async ({ db, table }: Reader, after: bigint, upTo?: bigint): Promise<KnownBlock[]> => {
  const changed = db(table('blocks')).where('position', '>', after.toString())
  if (upTo !== undefined) void changed.where('position', '<=', upTo.toString())
  const rows = (await changed.select('kind', 'value', 'reason', 'addresses', 'position')) as KnownBlock[]
  return rows.map((row) => ({ ...row, position: BigInt(row.position) }))
}

/** Returns what is blocked, newest first. */
export const listBlocks = async ({ db, table }: Reader): Promise<readonly BlockRow[]> =>
  (await db(table('blocks')).whereNotNull('reason').orderBy('position', 'desc')) as BlockRow[]

/** Something that is blocked, with the alias and the account of a link, a bio page or a campaign: `r/` and its slug. */
export interface NamedBlock extends BlockRow {
  readonly alias: string | null
  readonly account: number | null
  /** links that the owner has made since, and that lead where the blocked link does: at most 10 ids, newest first */
  readonly again: readonly number[]
}

/** the newest links of an account among which those that lead to a blocked destination again are looked for */
const looked = 1000

/** Returns one page of what is blocked. */
export const searchBlocks = async (reader: Reader, request: ListRequest): Promise<Listed<NamedBlock>> => {
  const { db, table } = reader
  const blocks = () => db({ b: table('blocks') }).whereNotNull('b.reason')
  const searched = `concat_ws(' ', b.value, b.reason)`
  const matching = () => filtered(db, blocks(), request, { searched, created: 'b.changed' })
  const found = await readPositions({ matching, position: ['b.position'] }, reader, request)
  // the condition keeps the value of another kind, which is no number, from being read as one
  const idOf = (kind: string) => db.raw(`case when b.kind = '${kind}' then b.value::bigint end`)
  const rows = (await blocks()
    .leftJoin({ l: table('links') }, 'l.id', idOf('link'))
    .leftJoin({ o: table('bios') }, 'o.id', idOf('bio'))
    .leftJoin({ c: table('campaigns') }, 'c.id', idOf('campaign'))
    .whereRaw('b.position = any(?::bigint[])', [found.rows.map(([position]) => String(position))])
    .select(
      'b.*',
      db.raw(
        `coalesce(l.alias, o.alias, 'r/' || c.slug) as alias, coalesce(l.account, o.account, c.account) as account,
         array(
           select x.id::int from (
             select id, url from ${table('links')}
             where account = l.account and created > b.changed and deleted is null order by created desc limit ${looked}
           ) x where x.url = l.url order by x.id desc limit 10) as again`,
      ),
    )) as (Omit<NamedBlock, 'account'> & { readonly account: string | null })[]
  return inOrder(
    found,
    rows.map((row) => ({ ...row, position: BigInt(row.position), account: idOrNull(row.account) })),
    (row) => String(row.position),
  )
}
