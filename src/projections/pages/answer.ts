import { add, type HandledProjection, patch, put } from '../engine/projection.ts'

/**
 * Visitors' answers to overlays. An answer's id is its position in the log. Its fields are cleared when the overlay's
 * account is erased.
 */
export const answers: HandledProjection = {
  name: 'answers',
  version: 1,
  filter: 'domain',
  tables: {
    answers: (t) => `
      create table ${t} (
        id bigint primary key, overlay bigint not null, account bigint not null, fields text, created timestamptz not null);
      create index on ${t} (overlay, id);
      create index on ${t} (account)`,
    answer_counts: (t) => `create table ${t} (overlay bigint primary key, n bigint not null)`,
  },
  on: {
    AnswerGiven: ({ data: { overlay, account, fields }, at, position }) => [
      put('answers', { id: position }, { overlay, account, fields, created: at }),
      add('answer_counts', { overlay }, { n: 1 }),
    ],
    AccountErased: ({ data: { id } }) => [patch('answers', { account: id }, { fields: null })],
  },
}
