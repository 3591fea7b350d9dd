import type { QrFields, QrPersonal } from '../../events/qr/qr.ts'
import { listOwned, type OwnedRow, typed } from '../owned.ts'
import type { Listed, ListRequest } from '../page.ts'
import type { Reader } from '../reader.ts'

interface ListedQr extends OwnedRow {
  readonly alias: string
  readonly name: string | null
}
/** A QR code as its owner sees it. */
export interface QrRow extends ListedQr, Pick<QrFields & QrPersonal, 'type' | 'data' | 'foreground' | 'background'> {
  readonly hasLogo: boolean
}
export interface QrListRow extends ListedQr {
  /** not counting bots */
  readonly scans: number
}

export const listQrs = async (reader: Reader, account: number, request: ListRequest): Promise<Listed<QrListRow>> => {
  const { db, table } = reader
  const { rows, ...listed } = await listOwned<QrListRow>(reader, { kind: 'qr' }, account, request, (ids) =>
    db({ q: table('qrs') })
      // the statistics of QR codes have negative ids: see `subjects.qr`
      .leftJoin({ s: table('link_stats') }, 's.link', db.raw('-q.id'))
      .where({ 'q.account': account, 'q.deleted': null })
      .whereIn('q.id', ids)
      .select('q.id', 'q.alias', 'q.name', 'q.created', 'q.revision', db.raw('coalesce(s.clicks, 0) as scans')),
  )
  return { ...listed, rows: rows.map((row) => ({ ...row, scans: Number(row.scans) })) }
}

export const findQr = async ({ db, table }: Reader, account: number, id: number): Promise<QrRow | undefined> => {
  const [row] = (await db(table('qrs'))
    .where({ id, account, deleted: null })
    .select('id', 'alias', 'name', 'created', 'revision', 'type', 'data', 'foreground', 'background')
    .select(db.raw('(logo is not null or logo_hash is not null) as "hasLogo"'))) as QrRow[]
  return row && typed(row)
}

/** What the addresses of QR codes begin with; no alias has a slash. */
export const qrPrefix = 'qr/'

/** A QR code with all that its image and its scans need, except its logo. */
export interface PublicQr extends Omit<QrFields, 'logo'>, QrPersonal {
  readonly qr: number
  readonly account: number
  /** of its stream */
  readonly revision: number
  /** of its last change in the log */
  readonly position: bigint
  readonly domain: null
  /** where it is, with the prefix of all QR codes */
  readonly aliasKey: string
  /** whether the logo is in `logo`, because an event of 0.1.0 contains it */
  readonly hasInlineLogo: boolean
}

/**
 * Returns the QR codes with these aliases, in their order; none for a code that is deleted or whose account is not
 * active.
 */
export const findPublicQrs = async (
  { db, table }: Reader,
  aliases: readonly string[],
): Promise<readonly (PublicQr | undefined)[]> => {
  const columns = 'account revision position type alias name data foreground background'.split(' ')
  const rows = (await db({ q: table('qrs') })
    .join({ a: table('accounts') }, 'a.id', 'q.account')
    .where({ 'q.deleted': null, 'a.status': 'active' })
    .whereRaw('q.alias = any(?)', [[...aliases]])
    .select(
      'q.id as qr',
      ...columns.map((name) => `q.${name}`),
      'q.logo_hash as logoHash',
      db.raw('q.logo is not null as "hasInlineLogo"'),
    )) as PublicQr[]
  const found = new Map(
    rows.map((row) => [
      row.alias,
      {
        ...row,
        qr: Number(row.qr),
        account: Number(row.account),
        revision: Number(row.revision),
        position: BigInt(row.position),
        domain: null,
        aliasKey: qrPrefix + row.alias,
      },
    ]),
  )
  return aliases.map((alias) => found.get(alias))
}

/** Returns the logo (PNG) of a QR code that has it inline. */
export const findInlineLogo = async ({ db, table }: Reader, id: number): Promise<Buffer | undefined> => {
  const [row] = (await db(table('qrs')).where({ id }).select('logo')) as Pick<QrFields, 'logo'>[]
  return row?.logo ? Buffer.from(row.logo, 'base64') : undefined
}
