import type { Knex } from 'knex'
import { ownMember } from '../../events/accounts/team.ts'
import type { Recorded } from '../../events/event.ts'
import type { LogEvent } from '../../events/index.ts'
import { parseStreamId } from '../../events/streams.ts'
import type { Projection, TableNames } from '../engine/projection.ts'
import { accountIndex, type AccountEntry, insertEntries } from './accountindex.ts'
import { formGroups, type Grouped, groupsOf } from './groups.ts'

/** An event, the member who caused it, and the member whose work begins with it. */
interface Entry extends AccountEntry, Grouped {
  readonly member: number | null
  maker: number | null
}
/** The work of one member that passed to another. */
interface HandedOver {
  readonly account: number
  readonly from: number
  readonly to: number
}

/** A claim of a name is no change of a resource, and its fence may be in a stream of another account. */
const isOwn = ({ stream, type }: Recorded<LogEvent>) => type !== 'ClaimFenced' && parseStreamId(stream).kind !== 'claim'

/**
 * Returns the member who caused an event: the account's own sign-in is a member, too, but operators and visitors are
 * not.
 */
const memberOf = ({ metadata: { actor } }: Recorded<LogEvent>) =>
  actor.kind === 'key' || actor.kind === 'session' ? (actor.member ?? ownMember) : null

/** Work of the account's own sign-in has no maker. */
const makerOf = (member: number | null) => (member === ownMember ? null : member)

const handOver = async (tx: Knex, table: string, { account, from, to }: HandedOver) =>
  tx.raw(`update ${table} set maker = ? where account = ? and maker = ?`, [makerOf(to), account, from])

const write = async (tx: Knex, names: TableNames, events: readonly Recorded<LogEvent>[]) => {
  const table = names('account_events')
  const entries: Entry[] = []
  for (const event of events) {
    const { account } = event.metadata
    if (account === null || !isOwn(event)) continue
    const member = memberOf(event)
    const maker = event.revision === 0n ? makerOf(member) : null
    const at = Date.parse(event.metadata.at)
    entries.push({ ...event, account, member, maker, at, groups: groupsOf(event), group: null, leads: true })
    if (event.type !== 'MemberRemoved' || event.data.to === undefined) continue
    const { member: from, to } = event.data
    // rows of earlier batches, and those of this one
    await handOver(tx, table, { account, from, to })
    for (const entry of entries) if (entry.account === account && entry.maker === from) entry.maker = makerOf(to)
  }
  await formGroups(tx, table, entries)
  await insertEntries(tx, table, entries, {
    member: ['bigint', ({ member }) => member],
    maker: ['bigint', ({ maker }) => maker],
    group_id: ['uuid', ({ group }) => group],
    leads: ['boolean', ({ leads }) => leads],
  })
}

/**
 * The positions of the events of each account, without clicks, and the members who caused them. Includes events of a
 * newer release: they become readable with an update. The first event of a resource has the member whose work it is
 * now; null for the account's own sign-in. The first event of a group (see `groups.ts`) leads it: the others are shown
 * behind it.
 */
export const accountEvents: Projection = {
  name: 'accountevents',
  version: 5,
  filter: 'domain',
  indexedLast: ['account_events'],
  tables: {
    account_events: (t) => `${accountIndex(t, 'member bigint, maker bigint, group_id uuid, leads boolean not null')};
      create index on ${t} (account, member, position) where member > ${ownMember};
      create index on ${t} (account, stream, maker) where maker is not null;
      create index on ${t} (account, group_id, position) where group_id is not null;
      create index on ${t} (account, position) where leads`,
  },
  write,
  writeUnknown: write,
}
