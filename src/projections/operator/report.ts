import { type HandledProjection, patch, put } from '../engine/projection.ts'

/**
 * Reports by visitors. What a visitor wrote is cleared when it, or the account that was reported, is
 * erased.
 */
export const reports: HandledProjection = {
  name: 'reports',
  version: 2,
  filter: 'domain',
  tables: {
    reports: (t) => `
      create table ${t} (
        id text primary key, account bigint not null, kind text not null, subject bigint not null, address text not null,
        reason text not null, message text, email text, sent timestamptz not null, closed timestamptz, erased timestamptz,
        position bigint not null);
      create index on ${t} (position) where closed is null;
      create index on ${t} (kind, subject) where closed is null;
      create index on ${t} (account)`,
  },
  on: {
    ReportSent: ({ data: { id, ...fields }, at, position }) => [
      put('reports', { id }, { ...fields, sent: at, closed: null, position }),
    ],
    ReportClosed: ({ data: { id }, at }) => [patch('reports', { id }, { closed: at })],
    ReportErased: ({ data: { id }, at }) => [patch('reports', { id }, { message: null, email: null, erased: at })],
    AccountErased: ({ data: { id } }) => [patch('reports', { account: id }, { message: null, email: null })],
  },
}
