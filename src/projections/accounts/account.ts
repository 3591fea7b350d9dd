import { mainKey } from '../../events/accounts/account.ts'
import type { Recorded } from '../../events/event.ts'
import type { Event } from '../../events/index.ts'
import { noExclusions } from '../../events/statistics/exclusions.ts'
import { allScopes } from '../../events/accounts/scope.ts'
import { defined } from '../../lib/defined.ts'
import { fenceHandler } from '../owned.ts'
import { patch, type Projection, put, remove } from '../engine/projection.ts'

type Registered = Pick<
  Recorded<Event<'AccountRegistered' | 'AccountRegisteredByIdentity'>>,
  'data' | 'at' | 'revision' | 'position'
>
/** `isTeam`: the account itself has no sign-in. */
const registered = ({ data: { id, email, username }, at, revision, position }: Registered, isTeam = false) => [
  put(
    'accounts',
    { id },
    {
      email,
      username,
      team: isTeam,
      timezone: null,
      status: 'active',
      registered: at,
      rate_limit: null,
      exclusions: noExclusions,
      erases: null,
      revision,
      position,
    },
  ),
]

/** Defaults of a member. */
const plain = { expires: null, domains: null, managed: false, heir: null }

/**
 * Accounts, their API keys and their members. A former member keeps their row, for the names in histories. Rows that
 * processes cache carry the `position` of their last change.
 */
export const accounts: Projection = {
  name: 'accounts',
  version: 13,
  filter: 'domain',
  tables: {
    accounts: (t) => `
      create table ${t} (
        id bigint primary key, email text, username text, team boolean not null, timezone text, status text not null, registered timestamptz not null,
        rate_limit int, exclusions json not null, erases timestamptz, erased_on_disk timestamptz,
        revision bigint not null, position bigint not null);
      create index on ${t} (position);
      create index on ${t} (erases) where erases is not null;
      create index on ${t} (id) where status = 'erased' and erased_on_disk is null`,
    managed_operators: (t) => `create table ${t} (account bigint primary key)`,
    deactivated: (t) => `create table ${t} (account bigint primary key, ended timestamptz not null)`,
    api_keys: (t) => `
      create table ${t} (
        account bigint not null, number bigint not null, key text not null, hash text not null, name text not null, scopes json not null,
        expires timestamptz, addresses text, issued timestamptz not null, member bigint, primary key (account, number));
      create index on ${t} (key)`,
    members: (t) => `
      create table ${t} (
        account bigint not null, number bigint not null, person bigint, role text not null, status text not null,
        joined timestamptz not null, expires timestamptz, domains json, managed boolean not null, heir bigint, position bigint not null,
        primary key (account, number));
      create index on ${t} (person) where status = 'active';
      create index on ${t} (position)`,
  },
  on: {
    AccountRegistered: (event) => registered(event),
    AccountRegisteredByIdentity: (event) => registered(event),
    AccountAdded: ({ data, ...event }) =>
      registered({ ...event, data: { ...data, email: null, emailToken: null } }, true),
    AccountSignInEnded: ({ data: { id, member, keys }, revision, position }) => [
      patch('accounts', { id }, { email: null, team: true, revision, position }),
      remove('deactivated', { account: id }),
      ...keys.map((number) => patch('api_keys', { account: id, number }, { member })),
    ],
    AccountEmailChanged: ({ data: { id, email }, revision, position }) => [
      patch('accounts', { id }, { email, revision, position }),
    ],
    AccountTimezoneSet: ({ data: { id, timezone }, revision }) => [patch('accounts', { id }, { timezone, revision })],
    AccountPasswordChanged: ({ data: { id }, revision }) => [patch('accounts', { id }, { revision })],
    ApiKeyIssued: ({ data: { id, key, hash, expires }, at, revision, position }) => [
      // a new account has no other keys; removing them for each would keep a fill from writing many accounts at once
      ...(revision === 1n ? [] : [remove('api_keys', { account: id })]),
      put(
        'api_keys',
        { account: id, number: mainKey.number },
        { key, hash, name: mainKey.name, scopes: allScopes, expires, addresses: null, issued: at },
      ),
      patch('accounts', { id }, { revision, position }),
    ],
    ApiKeyAdded: ({ data: { id, number, replaces: _, ...key }, at, revision, position }) => [
      put('api_keys', { account: id, number }, { ...key, issued: at }),
      patch('accounts', { id }, { revision, position }),
    ],
    ApiKeyAddedByMember: ({ data: { id, number, replaces: _, ...key }, at, revision, position }) => [
      put('api_keys', { account: id, number }, { ...key, issued: at }),
      patch('accounts', { id }, { revision, position }),
    ],
    ApiKeyUpdated: ({ data: { id, number, to: _, ...changes }, revision, position }) => [
      patch('api_keys', { account: id, number }, defined(changes)),
      patch('accounts', { id }, { revision, position }),
    ],
    ApiKeyDeleted: ({ data: { id, number }, revision, position }) => [
      remove('api_keys', { account: id, number }),
      patch('accounts', { id }, { revision, position }),
    ],
    SecondFactorAdded: ({ data: { id }, revision }) => [patch('accounts', { id }, { revision })],
    RecoveryCodeUsed: ({ data: { id }, revision }) => [patch('accounts', { id }, { revision })],
    SecondFactorRemoved: ({ data: { id }, revision }) => [patch('accounts', { id }, { revision })],
    IdentityAdded: ({ data: { id }, revision }) => [patch('accounts', { id }, { revision })],
    IdentityRemoved: ({ data: { id }, revision }) => [patch('accounts', { id }, { revision })],
    PasskeyAdded: ({ data: { id }, revision }) => [patch('accounts', { id }, { revision })],
    PasskeyRenamed: ({ data: { id }, revision }) => [patch('accounts', { id }, { revision })],
    PasskeyRemoved: ({ data: { id }, revision }) => [patch('accounts', { id }, { revision })],
    AccountRateLimitSet: ({ data: { id, limit }, revision, position }) => [
      patch('accounts', { id }, { rate_limit: limit, revision, position }),
    ],
    AccountExclusionsSet: ({ data: { id, exclusions }, revision, position }) => [
      patch('accounts', { id }, { exclusions, revision, position }),
    ],
    AccountOperatorMarked: ({ data: { id }, revision }) => [patch('accounts', { id }, { revision })],
    AccountOperatorUnmarked: ({ data: { id }, revision }) => [patch('accounts', { id }, { revision })],
    AccountOperatorManaged: ({ data: { id, managed }, revision }) => [
      managed ? put('managed_operators', { account: id }, {}) : remove('managed_operators', { account: id }),
      patch('accounts', { id }, { revision }),
    ],
    AccountDisabled: ({ data: { id }, revision, position }) => [
      patch('accounts', { id }, { status: 'disabled', revision, position }),
    ],
    AccountEnabled: ({ data: { id }, revision, position }) => [
      patch('accounts', { id }, { status: 'active', revision, position }),
    ],
    AccountDeactivated: ({ data: { id }, at, revision, position }) => [
      put('deactivated', { account: id }, { ended: at }),
      patch('accounts', { id }, { revision, position }),
    ],
    AccountReactivated: ({ data: { id }, revision, position }) => [
      remove('deactivated', { account: id }),
      patch('accounts', { id }, { revision, position }),
    ],
    AccountErasureScheduled: ({ data: { id, due }, revision, position }) => [
      patch('accounts', { id }, { erases: due, revision, position }),
    ],
    AccountErasureCancelled: ({ data: { id }, revision, position }) => [
      patch('accounts', { id }, { erases: null, revision, position }),
    ],
    AccountErased: ({ data: { id }, revision, position }) => [
      patch(
        'accounts',
        { id },
        {
          status: 'erased',
          exclusions: noExclusions,
          email: null,
          username: null,
          timezone: null,
          erases: null,
          revision,
          position,
        },
      ),
      remove('api_keys', { account: id }),
    ],
    AccountErasedOnDisk: ({ data: { id }, at, revision }) => [
      patch('accounts', { id }, { erased_on_disk: at, revision }),
    ],
    TeamStarted: ({ data: { id, member, person }, at, position }) => [
      put(
        'members',
        { account: id, number: member },
        { ...plain, person, role: 'owner', status: 'active', joined: at, position },
      ),
    ],
    MemberInvited: ({ data: { id, member, role, domains = null, expires }, at, position }) => [
      put(
        'members',
        { account: id, number: member },
        { ...plain, person: null, role, status: 'invited', joined: at, expires, domains, position },
      ),
    ],
    InvitationWithdrawn: ({ data: { id, member } }) => [remove('members', { account: id, number: member })],
    MemberJoined: ({ data: { id, member, person, role, domains = null }, at, position }) => [
      patch(
        'members',
        { account: id, number: member },
        { person, role, status: 'active', joined: at, expires: null, domains, position },
      ),
    ],
    MemberRoleChanged: ({ data: { id, member, role, domains = null }, position }) => [
      patch('members', { account: id, number: member }, { role, domains, managed: false, position }),
    ],
    MemberRoleManaged: ({ data: { id, member, person, role, domains = null, managed }, at, position }) => [
      put(
        'members',
        { account: id, number: member },
        { ...plain, person, role, status: 'active', joined: at, domains, managed, position },
      ),
    ],
    // the keys of a former member are found by their heir
    MemberRemoved: ({ data: { id, member, to = null }, position }) => [
      patch('members', { account: id, number: member }, { status: 'removed', heir: to, position }),
    ],
    ClaimFenced: fenceHandler('account', 'accounts'),
  },
}
