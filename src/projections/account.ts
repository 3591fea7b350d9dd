import { patch, type Projection, put } from './projection.ts'

/** Accounts and their API keys. Rows that processes cache carry the `position` of their last change. */
export const accounts: Projection = {
  name: 'accounts',
  version: 1,
  filter: 'domain',
  tables: {
    accounts: (t) => `
      create table ${t} (
        id bigint primary key, email text, username text, status text not null, registered timestamptz not null, position bigint not null);
      create index on ${t} (position)`,
    // one per account: a new key replaces the old one
    api_keys: (t) => `
      create table ${t} (
        account bigint primary key, key text not null, hash text not null, expires timestamptz, issued timestamptz not null);
      create index on ${t} (key)`,
  },
  on: {
    AccountRegistered: ({ data: { id, email, username }, at, position }) => [
      put('accounts', { id }, { email, username, status: 'active', registered: at, position }),
    ],
    AccountEmailChanged: ({ data: { id, email }, position }) => [patch('accounts', { id }, { email, position })],
    ApiKeyIssued: ({ data: { id, key, hash, expires }, at, position }) => [
      put('api_keys', { account: id }, { key, hash, expires, issued: at }),
      patch('accounts', { id }, { position }),
    ],
    AccountDisabled: ({ data: { id }, position }) => [patch('accounts', { id }, { status: 'disabled', position })],
    AccountEnabled: ({ data: { id }, position }) => [patch('accounts', { id }, { status: 'active', position })],
    AccountErased: ({ data: { id }, position }) => [
      patch('accounts', { id }, { status: 'erased', email: null, username: null, position }),
    ],
  },
}
