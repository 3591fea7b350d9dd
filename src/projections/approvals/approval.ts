import { patch, type Projection, put, remove } from '../engine/projection.ts'

/** Which links of accounts need the approval of a second person, and what was proposed. */
export const approvals: Projection = {
  name: 'approvals',
  version: 1,
  filter: 'domain',
  tables: {
    approval_rules: (t) => `
      create table ${t} (
        account bigint primary key, tags text[] not null, domains bigint[] not null, live boolean not null, position bigint not null);
      create index on ${t} (position)`,
    proposals: (t) => `
      create table ${t} (
        account bigint not null, number bigint not null, kind text not null, target bigint not null, revision bigint not null,
        member bigint not null, status text not null, proposed timestamptz not null, decided timestamptz, decider bigint, note text,
        primary key (account, number))`,
  },
  on: {
    ApprovalRulesSet: ({ data: { id, tags, domains, live }, position }) => [
      put('approval_rules', { account: id }, { tags, domains, live, position }),
    ],
    ChangeProposed: ({ data: { id, number, kind, target, revision, member }, at }) => [
      put(
        'proposals',
        { account: id, number },
        { kind, target, revision, member, status: 'open', proposed: at, decided: null, decider: null, note: null },
      ),
    ],
    ChangeApproved: ({ data: { id, number, member, note = null }, at }) => [
      patch('proposals', { account: id, number }, { decided: at, decider: member, note }),
    ],
    ChangeApplied: ({ data: { id, number } }) => [patch('proposals', { account: id, number }, { status: 'approved' })],
    ChangeRefused: ({ data: { id, number, member, note = null, why }, at }) => [
      patch('proposals', { account: id, number }, { status: why, decided: at, decider: member, note }),
    ],
    AccountErased: ({ data: { id } }) => [
      remove('approval_rules', { account: id }),
      remove('proposals', { account: id }),
    ],
  },
}
