import { fenceHandler } from './owned.ts'
import { patch, type Projection, put } from './projection.ts'

/** Accounts and their API keys. Rows that processes cache carry the `position` of their last change. */
export const accounts: Projection = {
  name: 'accounts',
  version: 2,
  filter: 'domain',
  tables: {
    accounts: (t) => `
      create table ${t} (
        id bigint primary key, email text, username text, status text not null, registered timestamptz not null,
        revision bigint not null, position bigint not null);
      create index on ${t} (position)`,
    // one per account: a new key replaces the old one
    api_keys: (t) => `
      create table ${t} (
        account bigint primary key, key text not null, hash text not null, expires timestamptz, issued timestamptz not null);
      create index on ${t} (key)`,
  },
  on: {
    AccountRegistered: ({ data: { id, email, username }, at, revision, position }) => [
      put('accounts', { id }, { email, username, status: 'active', registered: at, revision, position }),
    ],
    AccountEmailChanged: ({ data: { id, email }, revision, position }) => [
      patch('accounts', { id }, { email, revision, position }),
    ],
    AccountPasswordChanged: ({ data: { id }, revision }) => [patch('accounts', { id }, { revision })],
    ApiKeyIssued: ({ data: { id, key, hash, expires }, at, revision, position }) => [
      put('api_keys', { account: id }, { key, hash, expires, issued: at }),
      patch('accounts', { id }, { revision, position }),
    ],
    AccountDisabled: ({ data: { id }, revision, position }) => [
      patch('accounts', { id }, { status: 'disabled', revision, position }),
    ],
    AccountEnabled: ({ data: { id }, revision, position }) => [
      patch('accounts', { id }, { status: 'active', revision, position }),
    ],
    AccountErased: ({ data: { id }, revision, position }) => [
      patch('accounts', { id }, { status: 'erased', email: null, username: null, revision, position }),
    ],
    ClaimFenced: fenceHandler('account', 'accounts'),
  },
}
