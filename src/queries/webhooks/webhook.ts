import type { WebhookFields } from '../../events/webhooks/webhook.ts'
import { listOwned, type OwnedRow, typed } from '../owned.ts'
import { filtered, inOrder, type Listed, type ListRequest, readPositions } from '../page.ts'
import type { Reader } from '../reader.ts'

/** A webhook, and how far it is. */
export interface WebhookRow extends OwnedRow, WebhookFields {
  /** null once the account is erased */
  readonly url: string | null
  /** why it sends nothing; null: it sends */
  readonly stopped: string | null
  readonly stopped_at: Date | null
  /** ordinal of the first event that is not delivered; null before it has begun */
  readonly next: number | null
  /** how often it had begun when that was stored */
  readonly starts: number | null
  /** of what it sends again before it goes on at `back`: ordinal of the first event after it */
  readonly until: number | null
  readonly back: number | null
  readonly failing_since: Date | null
  readonly tries: number | null
  readonly due_at: Date | null
}

/** How far a webhook is. One that had nothing left to deliver is as far as all of them. */
const progress = `c.starts, c.until, c.back, c.failing_since, c.tries, c.due_at,
  case when c.idle then greatest(c.next, (select next from state.webhook_tail)) else c.next end as next`

type Filters = 'campaigns' | 'channels' | 'domains' | 'tags'
/** Filters that an event of an older release does not have are null. */
type Numbers = 'next' | 'until' | 'back'
type Raw = Omit<WebhookRow, Numbers | Filters> & { readonly [K in Numbers]: string | null } & {
  readonly [K in Filters]: WebhookRow[K] | null
}
const numberOf = (text: string | null) => (text === null ? null : Number(text))
const withNumbers = (row: Raw): WebhookRow => ({
  ...typed(row),
  campaigns: row.campaigns ?? [],
  channels: row.channels ?? [],
  domains: row.domains ?? [],
  tags: row.tags ?? [],
  next: numberOf(row.next),
  until: numberOf(row.until),
  back: numberOf(row.back),
})

/** How far it was at an earlier moment is not known. */
const noProgress =
  'null as starts, null as until, null as back, null as failing_since, null as tries, null as due_at, null as next'

const selectWebhooks = ({ db, table, now }: Reader, own: object) =>
  db({ x: table('webhooks') })
    .leftJoin({ c: 'state.webhooks' }, 'c.webhook', 'x.id')
    .where(own)
    .select('x.*', db.raw(now === undefined ? progress : noProgress))

export const listWebhooks = async (
  reader: Reader,
  account: number,
  request: ListRequest,
): Promise<Listed<WebhookRow>> => {
  const rowsOf = (ids: readonly number[]) =>
    selectWebhooks(reader, { 'x.account': account, 'x.deleted': null }).whereIn('x.id', [...ids])
  const { rows, ...listed } = await listOwned<Raw>(reader, { kind: 'webhook' }, account, request, rowsOf)
  return { ...listed, rows: rows.map(withNumbers) }
}

export const findWebhook = async (reader: Reader, account: number, id: number): Promise<WebhookRow | undefined> => {
  const [row] = (await selectWebhooks(reader, { 'x.id': id, 'x.account': account, 'x.deleted': null })) as Raw[]
  return row && withNumbers(row)
}

/** Returns the ids of all webhooks that are not deleted. */
export const webhookIds = async ({ db, table }: Reader): Promise<readonly number[]> =>
  ((await db(table('webhooks')).where({ deleted: null }).select('id')) as { id: string }[]).map(({ id }) => Number(id))

/** An attempt to deliver a message. */
export interface DeliveryRow {
  readonly id: number
  readonly message: string
  readonly type: string
  readonly ordinal: number | null
  readonly at: Date
  readonly try: number
  readonly status: number | null
  readonly ms: number
  readonly delivered: boolean
  readonly problem: string
  readonly excerpt: string
}
type RawDelivery = Omit<DeliveryRow, 'id' | 'ordinal'> & { readonly id: string; readonly ordinal: string | null }

/** Returns one page of the attempts of a webhook that are kept. */
export const listDeliveries = async (
  reader: Reader,
  { webhook, delivered }: { readonly webhook: number; readonly delivered?: boolean | undefined },
  request: ListRequest,
): Promise<Listed<DeliveryRow>> => {
  const { db } = reader
  const wanted = { 'x.webhook': webhook, ...(delivered === undefined ? {} : { 'x.delivered': delivered }) }
  const own = () => db({ x: 'state.webhook_deliveries' }).where(wanted)
  const matching = () =>
    filtered(db, own(), request, { searched: `x.type || ' ' || x.message || ' ' || x.problem`, created: 'x.at' })
  const found = await readPositions({ matching, position: ['x.id'] }, reader, request)
  const ids = found.rows.map(([id]) => Number(id))
  const rows = (await own().whereIn('x.id', ids).select('x.*')) as RawDelivery[]
  return inOrder(
    found,
    rows.map((row) => ({ ...row, id: Number(row.id), ordinal: row.ordinal === null ? null : Number(row.ordinal) })),
    ({ id }) => id,
  )
}
