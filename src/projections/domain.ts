import { add, patch, type Projection, put } from './projection.ts'

const count = (account: number, n: number) => add('domains_counts', { account }, { n })

/** Branded domains. The row of a deleted domain stays: its links are still listed under it, and it may be restored. */
export const domains: Projection = {
  name: 'domains',
  version: 1,
  filter: 'domain',
  tables: {
    domains: (t) => `
      create table ${t} (
        id bigint primary key, account bigint not null, domain text not null, redirectroot text not null, redirect404 text not null,
        verified boolean not null, created timestamptz not null, deleted timestamptz, position bigint not null);
      create index on ${t} (account, id) where deleted is null;
      create index on ${t} (position)`,
    domains_counts: (t) => `create table ${t} (account bigint primary key, n bigint not null)`,
  },
  on: {
    DomainCreated: ({ data: { id, account, token: _, ...fields }, at, position }) => [
      put('domains', { id }, { account, ...fields, verified: true, created: at, deleted: null, position }),
      count(account, 1),
    ],
    DomainUpdated: ({ data: { id, changes }, position }) => [
      patch('domains', { id }, { ...(changes as Record<string, string>), position }),
    ],
    DomainDeleted: ({ data: { id }, metadata: { account }, at, position }) => [
      patch('domains', { id }, { deleted: at, position }),
      count(account ?? 0, -1),
    ],
    DomainRestored: ({ data: { id, token: _, ...fields }, metadata: { account }, position }) => [
      patch('domains', { id }, { ...fields, verified: true, deleted: null, position }),
      count(account ?? 0, 1),
    ],
    DomainUnverified: ({ data: { id }, position }) => [patch('domains', { id }, { verified: false, position })],
    DomainVerified: ({ data: { id }, position }) => [patch('domains', { id }, { verified: true, position })],
  },
}
