import { completedDomain, noApps } from '../../events/domains/domain.ts'
import { defined } from '../../lib/defined.ts'
import { fenceHandler } from '../owned.ts'
import { add, patch, type Projection, put } from '../engine/projection.ts'

const count = (account: number, n: number) => add('domains_counts', { account }, { n })
/** An older release, which did not ask for a record, verified a domain when it was added. */
const proofOf = (token: string | undefined) => (token === undefined ? '' : 'off')

/**
 * Branded domains. The row of a deleted domain stays: its links are still listed under it, and it may be restored.
 * `proof` is how it was verified, empty when it never was. `free` is when a host that the account does not have now is
 * available to others. The row of an erased account stays, too: until the host is available, it is reserved by it.
 */
export const domains: Projection = {
  name: 'domains',
  version: 6,
  filter: 'domain',
  tables: {
    domains: (t) => `
      create table ${t} (
        id bigint primary key, account bigint not null, domain text not null, redirectroot text not null, redirect404 text not null,
        apple json not null, android json not null, exact boolean,
        verified boolean not null, proof text not null, free timestamptz, created timestamptz not null, deleted timestamptz,
        revision bigint not null, position bigint not null);
      create index on ${t} (account, id) where deleted is null;
      create index on ${t} (account);
      create index on ${t} (position)`,
    domains_counts: (t) => `create table ${t} (account bigint primary key, n bigint not null)`,
  },
  on: {
    DomainCreated: ({ data: { id, account, token, ...fields }, at, revision, position }) => [
      put(
        'domains',
        { id },
        {
          account,
          ...completedDomain(fields),
          verified: token !== undefined,
          proof: proofOf(token),
          free: null,
          created: at,
          deleted: null,
          revision,
          position,
        },
      ),
      count(account, 1),
    ],
    DomainAliasesMadeExact: ({ data: { id }, revision, position }) => [
      patch('domains', { id }, { exact: true, revision, position }),
    ],
    DomainUpdated: ({ data: { id, changes }, revision, position }) => [
      patch('domains', { id }, { ...defined(changes), revision, position }),
    ],
    DomainDeleted: ({ data: { id, free }, metadata: { account }, at, revision, position }) => [
      patch('domains', { id }, { deleted: at, free, revision, position }),
      count(account ?? 0, -1),
    ],
    DomainRestored: ({ data: { id, token, until: _, ...fields }, metadata: { account }, revision, position }) => [
      patch(
        'domains',
        { id },
        {
          ...completedDomain(fields),
          verified: token !== undefined,
          free: null,
          deleted: null,
          revision,
          position,
          // what was proven once counts within the reservation, not after it
          ...(token === undefined ? { proof: '' } : {}),
        },
      ),
      count(account ?? 0, 1),
    ],
    DomainUnverified: ({ data: { id, free = null }, revision, position }) => [
      patch('domains', { id }, { verified: false, free, revision, position }),
    ],
    DomainVerified: ({ data: { id, by }, revision, position }) => [
      patch(
        'domains',
        { id },
        { verified: true, free: null, revision, position, ...(by === undefined ? {} : { proof: by }) },
      ),
    ],
    DomainReleased: ({ data: { id, free }, revision, position }) => [
      patch('domains', { id }, { verified: false, proof: '', free, revision, position }),
    ],
    AccountErased: ({ data: { id } }) => [
      patch('domains', { account: id }, { redirectroot: '', redirect404: '', ...noApps }),
    ],
    ClaimFenced: fenceHandler('domain', 'domains'),
  },
}
