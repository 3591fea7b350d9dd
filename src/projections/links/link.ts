import { aliasKey } from '../../lib/short/alias.ts'
import { addedFields, type LinkFields } from '../../events/links/link.ts'
import { fenceHandler } from '../owned.ts'
import { add, patch, type Projection, put, remove } from '../engine/projection.ts'
import type { Row } from '../engine/row.ts'

/** Notes are in a table of their own. The highest id of a variant is for the decider only. */
type Columns = Omit<LinkFields, 'notes' | 'last_variant'>
/** The fields that an event has. */
type Given = { readonly [K in keyof Columns]?: Columns[K] | undefined }
/** Columns that are named after the events' fields. */
const named: Readonly<Record<keyof Columns, true>> = {
  ...{ domain: true, alias: true, url: true, entered: true, type: true, title: true, description: true, expiry: true },
  ...{ location: true, device: true, language: true, parameters: true, pixels: true, campaign: true, tags: true },
  ...{ metatitle: true, metadescription: true, metaimage: true, archived: true, starts: true, expired_url: true },
  ...{ max_clicks: true, forward: true, forward_path: true, variants: true, browser: true },
}
export const linkColumns = Object.keys(named) as readonly (keyof Columns)[]

/**
 * Returns the columns of the fields that are given, and `more`. `alias_key` is the form in which aliases are compared.
 * `tag_keys` has the tags with their account, because an index cannot have both a number and the parts of an array. A
 * field is picked by its name: V8 takes ten times as long to copy an object of so many properties without some of them.
 */
const columns = (account: number, fields: Given, more: Row, otherwise: Given = {}): Row => {
  const row: Record<string, Row[string]> = {}
  for (const name of linkColumns) {
    const value = fields[name] === undefined ? otherwise[name] : fields[name]
    if (value !== undefined) row[name] = value
  }
  const { tags, url, entered, alias } = fields
  if (tags !== undefined || otherwise.tags) row['tag_keys'] = (tags ?? []).map((tag) => tagKey(account, tag))
  if (url !== undefined) row['entered'] = entered ?? null
  if (alias !== undefined) row['alias_key'] = aliasKey(alias)
  return Object.assign(row, more)
}
const count = (account: number, n: number, archived = 0) => add('link_counts', { account }, { n, archived })
const one = (present: boolean | undefined) => (present ? 1 : 0)

const noted = (link: number, account: number, notes: string | null) =>
  notes === null ? remove('link_notes', { link }) : put('link_notes', { link }, { account, notes })

/** Returns the value in `tag_keys` of links with this tag. */
export const tagKey = (account: number, tag: string) => `${account}/${tag}`

/**
 * The domain and the alias of links as one value. An index on both columns is not used for an alias that many domains
 * have, or that was created and deleted many times: PostgreSQL estimates each column alone.
 */
export const linkAddress = `coalesce(domain, 0)::text || '/' || alias_key`
/** Returns the value of `linkAddress` for a domain (null: the service's own host) and the key of an alias. */
export const addressKey = (domain: number | null, key: string) => `${domain ?? 0}/${key}`

/** The number of the main address; null: 1. */
const mainIs = (address: number | undefined) => (address === undefined ? {} : { main: address })
/** The same without letter case, of exact aliases: where one may be meant that has other letters. */
export const foldedAddress = `coalesce(domain, 0)::text || '/' || lower(alias_key)`
/** SQL of whether an alias is exact. */
export const hasExactAlias = `starts_with(alias_key, '/')`

/**
 * Links: one row serves the lists, the details and the redirect. The row of a deleted link stays, so that processes
 * that cached the link learn of the deletion by its `position`.
 */
export const links: Projection = {
  name: 'links',
  version: 17,
  filter: 'domain',
  indexedLast: ['links'],
  tables: {
    links: (t) => `
      create table ${t} (
        id bigint primary key, account bigint not null, domain bigint, alias text not null, alias_key text not null,
        url text not null, entered text, type text not null, title text not null, description text not null, password text, expiry timestamptz,
        location json not null, device json not null, language json not null, parameters json not null, pixels json not null,
        metatitle text not null, metadescription text not null, metaimage text not null, campaign bigint, unframed json not null,
        tags text[] not null, tag_keys text[] not null, archived boolean not null, starts timestamptz, expired_url text not null,
        max_clicks int, forward boolean not null, forward_path boolean not null, variants json not null, browser json not null,
        main int, created timestamptz not null, import uuid, deleted timestamptz, revision bigint not null, position bigint not null);
      create index on ${t} ((${linkAddress})) where deleted is null;
      create index on ${t} ((${foldedAddress})) where deleted is null and ${hasExactAlias};
      create index on ${t} (alias_key) where deleted is null;
      create index on ${t} (account, id) where deleted is null;
      create index on ${t} (account, archived, id) where deleted is null;
      create index on ${t} (account, created, id) where deleted is null;
      create index on ${t} (account, id) where deleted is not null;
      create index on ${t} (account);
      create index on ${t} using gin (tag_keys) where deleted is null;
      create index on ${t} (account) where deleted is null and tags <> '{}';
      create index on ${t} (import, id) where import is not null and deleted is null;
      create index on ${t} (account, hashtextextended(url, 0)) where import is not null and deleted is null;
      create index on ${t} (campaign, id) where campaign is not null and deleted is null;
      create index on ${t} (position)`,
    // counting a million rows takes 57 ms, so the number is stored
    link_counts: (t) => `create table ${t} (account bigint primary key, n bigint not null, archived bigint not null)`,
    // few links have notes
    link_notes: (t) => `
      create table ${t} (link bigint primary key, account bigint not null, notes text not null);
      create index on ${t} (account)`,
  },
  on: {
    LinkCreated: ({ data, at, revision, position }) => {
      const { id, account, password, notes = null, archived, created = at, import: by = null } = data
      const more = { account, password, unframed: [], created, import: by, deleted: null, revision, position }
      return [
        put('links', { id }, columns(account, data, more, addedFields)),
        ...(notes === null ? [] : [noted(id, account, notes)]),
        count(account, 1, one(archived)),
      ]
    },
    LinkUpdated: ({ data: { id, changes, notes, password, address }, metadata, revision, position }) => {
      const account = metadata.account ?? 0
      const secret = password === undefined ? {} : { password }
      return [
        patch('links', { id }, columns(account, changes, { ...secret, ...mainIs(address), revision, position })),
        ...(notes === undefined ? [] : [noted(id, account, notes)]),
        // an event has only what changes
        ...(changes.archived === undefined ? [] : [count(account, 0, changes.archived ? 1 : -1)]),
      ]
    },
    LinkRestored: ({ data, metadata, revision, position }) => {
      const { id, deleted, archived, changes, notes, password, address } = data
      const account = metadata.account ?? 0
      const secret = password === undefined ? {} : { password }
      const more = { ...secret, ...mainIs(address), deleted: null, revision, position }
      const moved = changes.archived === undefined ? [] : [count(account, 0, changes.archived ? 1 : -1)]
      return [
        patch('links', { id }, columns(account, changes, more)),
        ...(notes === undefined ? [] : [noted(id, account, notes)]),
        ...(deleted ? [count(account, 1, one(archived))] : moved),
      ]
    },
    LinkAddressAdded: ({ data: { id }, revision, position }) => [patch('links', { id }, { revision, position })],
    LinkAddressRemoved: ({ data: { id }, revision, position }) => [patch('links', { id }, { revision, position })],
    LinkFramingChecked: ({ data: { id, unframed }, revision, position }) => [
      patch('links', { id }, { unframed, revision, position }),
    ],
    ClicksImported: ({ data: { id }, revision, position }) => [patch('links', { id }, { revision, position })],
    LinkDeleted: ({ data: { id, archived }, metadata: { account }, at, revision, position }) => [
      patch('links', { id }, { deleted: at, revision, position }),
      remove('link_notes', { link: id }),
      count(account ?? 0, -1, -one(archived)),
    ],
    AccountErased: ({ data: { id: account } }) =>
      ['link_notes', 'links', 'link_counts'].map((table) => remove(table, { account })),
    ClaimFenced: fenceHandler('link', 'links'),
  },
}
