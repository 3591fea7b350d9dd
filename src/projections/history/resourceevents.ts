import type { Knex } from 'knex'
import type { Recorded } from '../../events/event.ts'
import type { DomainEvent } from '../../events/index.ts'
import { parseStreamId, streamId } from '../../events/streams.ts'
import { prepared } from '../../postgres/database.ts'
import { column } from '../engine/columns.ts'
import type { Projection, TableNames } from '../engine/projection.ts'

/** An event, and a resource whose history has it. */
interface Entry {
  /** the stream of the resource; `key-<account>-<number>` for an API key */
  readonly subject: string
  readonly event: Recorded<DomainEvent>
}
interface Key {
  readonly account: number
  readonly key: string
  readonly number: number
  name: string
  ended: boolean
}

/** Streams that are no resource of an account, or whose events belong to the resources that they name. */
const others = /^(?:account|answer|block|channelitem|claim|clicks|log|projection|report|spool|team)-/

/** Returns the stream of an item of a channel. */
const itemStream = ({ kind, id }: { readonly kind: string; readonly id: number }) =>
  `${kind === 'links' ? 'link' : kind}-${id}`
/** Returns the subject of an API key. */
export const keySubject = (account: number, number: number) => `key-${account}-${number}`

/** Returns the campaign that a link is in after an event; undefined: as before. */
const campaignAfter = ({ type, data }: DomainEvent): number | null | undefined => {
  if (type === 'LinkCreated') return data.campaign
  return type === 'LinkUpdated' || type === 'LinkRestored' ? data.changes.campaign : undefined
}
const movesBetweenCampaigns = (event: DomainEvent) =>
  event.type === 'LinkDeleted' || event.type === 'LinkRestored' || campaignAfter(event) !== undefined

/** The campaigns of the links in a batch, as they are before it. They follow the events. */
const readCampaigns = async (tx: Knex, table: string, events: readonly Recorded<DomainEvent>[]) => {
  const links = new Set(
    events
      .filter(movesBetweenCampaigns)
      .flatMap((event) => (event.revision === 0n ? [] : [event.data as { id: number }])),
  )
  const ids = [...links].map(({ id }) => id)
  if (ids.length === 0) return new Map<number, number>()
  const { rows } = await tx.raw<{ rows: { link: string; campaign: string }[] }>(
    `select link, campaign from ${table} where link = any(?::bigint[])`,
    [`{${ids.join()}}`],
  )
  return new Map(rows.map(({ link, campaign }) => [Number(link), Number(campaign)]))
}

const writeCampaigns = async (tx: Knex, table: string, changed: ReadonlyMap<number, number | null>) => {
  const [gone, kept] = [
    [...changed].filter(([, campaign]) => campaign === null),
    [...changed].filter(([, campaign]) => campaign !== null),
  ]
  if (gone.length > 0)
    await tx.raw(`delete from ${table} where link = any(?::bigint[])`, [column(gone, ([link]) => link)])
  if (kept.length > 0)
    await tx.raw(
      `insert into ${table} select * from unnest(?::bigint[], ?::bigint[]) as n (link, campaign)
       on conflict (link) do update set campaign = excluded.campaign`,
      [column(kept, ([link]) => link), column(kept, ([, campaign]) => campaign ?? 0)],
    )
}

const isKeyEvent = (event: DomainEvent) => event.type.startsWith('ApiKey') || event.type === 'AccountErased'

/** Names a key in a map: nothing keeps two accounts of a log from having the same public id. */
const keyOf = (account: number, key: string) => `${account} ${key}`

/** All keys that the accounts in a batch have had. */
const readKeys = async (tx: Knex, table: string, events: readonly Recorded<DomainEvent>[]) => {
  const accounts = new Set(events.filter(isKeyEvent).map(({ stream }) => parseStreamId(stream).number))
  if (accounts.size === 0) return new Map<string, Key>()
  const { rows } = await tx.raw<{ rows: (Omit<Key, 'account' | 'number'> & { account: string; number: string })[] }>(
    `select account, key, number, name, ended from ${table} where account = any(?::bigint[])`,
    [`{${[...accounts].join()}}`],
  )
  return new Map(
    rows.map((row) => [
      keyOf(Number(row.account), row.key),
      { ...row, account: Number(row.account), number: Number(row.number) },
    ]),
  )
}

/** Applies an event to the keys, and returns the numbers of the keys that it concerns. */
const followKeys = (keys: Map<string, Key>, { type, data }: DomainEvent): readonly number[] => {
  const alive = (account: number) => [...keys.values()].filter((key) => key.account === account && !key.ended)
  const add = (account: number, key: string, number: number, name: string) =>
    keys.set(keyOf(account, key), { account, key, number, name, ended: false })
  switch (type) {
    case 'ApiKeyIssued': {
      const ending = alive(data.id)
      for (const key of ending) key.ended = true
      add(data.id, data.key, 1, 'Main key')
      return [...new Set([1, ...ending.map(({ number }) => number)])]
    }
    case 'ApiKeyAdded':
    case 'ApiKeyAddedByMember':
      add(data.id, data.key, data.number, data.name)
      return [data.number, ...(data.replaces === undefined ? [] : [data.replaces])]
    case 'ApiKeyUpdated':
      for (const key of alive(data.id)) if (key.number === data.number) key.name = data.name ?? key.name
      return [data.number]
    case 'ApiKeyDeleted':
      for (const key of alive(data.id)) if (key.number === data.number) key.ended = true
      return [data.number]
    case 'AccountErased':
      for (const [id, key] of keys) if (key.account === data.id) keys.delete(id)
      return []
    default:
      return []
  }
}

const writeKeys = async (tx: Knex, table: string, keys: readonly Key[], accounts: readonly number[]) => {
  if (accounts.length === 0) return
  await tx.raw(`delete from ${table} where account = any(?::bigint[])`, [column(accounts, (account) => account)])
  if (keys.length === 0) return
  await tx.raw(
    `insert into ${table} (key, account, number, name, ended)
     select * from unnest(?::text[], ?::bigint[], ?::bigint[], ?::text[], ?::bool[])`,
    [
      keys.map(({ key }) => key),
      column(keys, ({ account }) => account),
      column(keys, ({ number }) => number),
      keys.map(({ name }) => name),
      column(keys, ({ ended }) => String(ended)),
    ],
  )
}

/** Returns the resources whose histories have an event, besides the campaigns of a link and keys. */
const subjectsOf = ({ stream, type, data }: Recorded<DomainEvent>): readonly string[] => {
  switch (type) {
    case 'ClaimFenced':
      return []
    case 'ItemAssignedToChannel':
    case 'ItemRemovedFromChannel':
      return [streamId('channel', data.channel), itemStream(data.item)]
    case 'AnswerGiven':
    case 'AnswerErased':
      return [streamId('overlay', data.overlay)]
    case 'AddressBlocked':
    case 'AddressUnblocked':
      return data.kind === 'link' || data.kind === 'bio' ? [`${data.kind}-${data.value}`] : []
    default:
      return others.test(stream) ? [] : [stream]
  }
}

const insertEntries = async (tx: Knex, table: string, entries: readonly Entry[]) => {
  if (entries.length === 0) return
  const sql = `insert into ${table} (subject, position, stream, revision)
    select * from unnest(?::text[], ?::bigint[], ?::text[], ?::bigint[])`
  await tx
    .raw(sql, [
      entries.map(({ subject }) => subject),
      column(entries, ({ event }) => event.position),
      entries.map(({ event }) => event.stream),
      column(entries, ({ event }) => event.revision),
    ])
    .options(prepared(sql))
}

const write = async (tx: Knex, names: TableNames, events: readonly Recorded<DomainEvent>[]) => {
  const campaigns = await readCampaigns(tx, names('event_campaigns'), events)
  const keys = await readKeys(tx, names('event_keys'), events)
  const moved = new Map<number, number | null>()
  const accounts = new Set<number>()
  const entries: Entry[] = []
  for (const event of events) {
    const subjects = new Set(subjectsOf(event))
    if (movesBetweenCampaigns(event)) {
      const { id } = event.data as { readonly id: number }
      const before = campaigns.get(id)
      const after = campaignAfter(event)
      for (const campaign of [before, after]) if (campaign) subjects.add(streamId('campaign', campaign))
      if (after) campaigns.set(id, after)
      else if (after === null) campaigns.delete(id)
      if (after !== undefined && (after !== null || before !== undefined)) moved.set(id, after)
    }
    if (isKeyEvent(event)) {
      const account = parseStreamId(event.stream).number
      accounts.add(account)
      for (const number of followKeys(keys, event)) subjects.add(keySubject(account, number))
    }
    for (const subject of subjects) entries.push({ subject, event })
  }
  await insertEntries(tx, names('resource_events'), entries)
  await writeCampaigns(tx, names('event_campaigns'), moved)
  await writeKeys(tx, names('event_keys'), [...keys.values()], [...accounts])
}

/**
 * Where the events of each resource are in the log, also those in other streams: a link joins a channel in a stream of
 * its own. And the names of all keys that events name, also of those that have ended. See
 * docs/adr/0050-the-history-of-a-resource.md.
 */
export const resourceEvents: Projection = {
  name: 'resourceevents',
  version: 4,
  filter: 'domain',
  tables: {
    resource_events: (t) => `
      create table ${t} (
        subject text collate "C", position bigint, stream text collate "C" not null, revision bigint not null, primary key (subject, position))`,
    event_campaigns: (t) => `create table ${t} (link bigint primary key, campaign bigint not null)`,
    event_keys: (t) => `
      create table ${t} (
        account bigint, key text collate "C", number bigint not null, name text not null, ended boolean not null, primary key (account, key));
      create index on ${t} (key)`,
  },
  write,
}
