import { patch, type Projection, put, remove } from '../engine/projection.ts'

/** What accounts have imported from other services. */
export const imports: Projection = {
  name: 'imports',
  version: 1,
  filter: 'domain',
  tables: {
    imports: (t) => `
      create table ${t} (
        id uuid primary key, account bigint not null, format text not null, member bigint, started timestamptz not null,
        finished timestamptz, undone timestamptz, links bigint not null, kept bigint not null, position bigint not null);
      create index on ${t} (account, position)`,
  },
  on: {
    ImportStarted: ({ data: { id, account }, metadata: { actor }, at, position }) => [
      put(
        'imports',
        { id },
        {
          ...{ account, format: '', member: actor.member ?? null, started: at, finished: null, undone: null },
          ...{ links: 0, kept: 0, position },
        },
      ),
    ],
    ImportFinished: ({ data: { id, format, links }, at }) => [
      patch('imports', { id }, { format, links, finished: at }),
    ],
    ImportUndone: ({ data: { id, kept }, at }) => [patch('imports', { id }, { kept, undone: at })],
    AccountErased: ({ data: { id: account } }) => [remove('imports', { account })],
  },
}
