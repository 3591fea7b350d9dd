import type { LinkFields } from '../events/link.ts'
import { defined } from '../lib/defined.ts'
import { add, patch, type Projection, put, type Row } from './projection.ts'

/** Columns are named after the events' fields; `alias_key` is the form in which aliases are compared. */
const columns = (fields: Partial<LinkFields>): Row => ({
  ...defined(fields),
  ...(fields.url === undefined ? {} : { entered: fields.entered ?? null }),
  ...(fields.alias === undefined ? {} : { alias_key: fields.alias.toLowerCase() }),
})
const count = (account: number, n: number) => add('link_counts', { account }, { n })

/**
 * The domain and the alias of links as one value. An index on both columns is not used for an alias that many domains have, or that was
 * created and deleted many times: PostgreSQL estimates each column alone.
 */
export const linkAddress = `coalesce(domain, 0)::text || '/' || alias_key`
/** Returns the value of `linkAddress` for a domain (null: the service's own host) and an alias in lower case. */
export const addressKey = (domain: number | null, aliasKey: string) => `${domain ?? 0}/${aliasKey}`

/**
 * Links: one row serves the lists, the details and the redirect. The row of a deleted link stays, so that processes that cached the link
 * learn of the deletion by its `position`.
 */
export const links: Projection = {
  name: 'links',
  version: 6,
  filter: 'domain',
  tables: {
    links: (t) => `
      create table ${t} (
        id bigint primary key, account bigint not null, domain bigint, alias text not null, alias_key text not null,
        url text not null, entered text, type text not null, title text not null, description text not null, password text, expiry timestamptz,
        location json not null, device json not null, language json not null, parameters json not null, pixels json not null,
        metatitle text not null, metadescription text not null, metaimage text not null, campaign bigint, unframed json not null,
        created timestamptz not null, deleted timestamptz, revision bigint not null, position bigint not null);
      create index on ${t} ((${linkAddress})) where deleted is null;
      create index on ${t} (alias_key) where deleted is null;
      create index on ${t} (account, id) where deleted is null;
      create index on ${t} (campaign, id) where campaign is not null and deleted is null;
      create index on ${t} (position)`,
    // counting a million rows takes 57 ms, so the number is stored
    link_counts: (t) => `create table ${t} (account bigint primary key, n bigint not null)`,
  },
  on: {
    LinkCreated: ({ data: { id, account, password, token: _, ...fields }, at, revision, position }) => [
      put(
        'links',
        { id },
        { ...columns(fields), account, password, unframed: [], created: at, deleted: null, revision, position },
      ),
      count(account, 1),
    ],
    LinkUpdated: ({ data: { id, changes, password }, revision, position }) => [
      patch(
        'links',
        { id },
        {
          ...columns(changes as Partial<LinkFields>),
          ...(password === undefined ? {} : { password }),
          revision,
          position,
        },
      ),
    ],
    LinkFramingChecked: ({ data: { id, unframed }, revision, position }) => [
      patch('links', { id }, { unframed, revision, position }),
    ],
    LinkDeleted: ({ data: { id }, metadata: { account }, at, revision, position }) => [
      patch('links', { id }, { deleted: at, revision, position }),
      count(account ?? 0, -1),
    ],
  },
}
