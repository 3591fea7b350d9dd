import { parseStreamId } from '../../events/streams.ts'
import { add, type HandledProjection, patch, put, remove } from '../engine/projection.ts'

/**
 * Visitors' answers to overlays. An answer's id is its position in the log. `answer` names its stream.
 * Its fields are cleared when it is erased. The answers to an erased account are deleted.
 */
export const answers: HandledProjection = {
  name: 'answers',
  version: 3,
  filter: 'domain',
  tables: {
    answers: (t) => `
      create table ${t} (
        id bigint primary key, overlay bigint not null, account bigint not null, answer text not null, fields text,
        created timestamptz not null, erased timestamptz);
      create index on ${t} (overlay, id);
      create index on ${t} (account);
      create index on ${t} (answer);
      create index on ${t} (id) where erased is not null;
      create index on ${t} (created) where fields is not null`,
    answer_counts: (t) => `create table ${t} (overlay bigint primary key, n bigint not null)`,
  },
  on: {
    AnswerGiven: ({ data: { overlay, account, fields }, stream, at, position }) => [
      put('answers', { id: position }, { overlay, account, answer: parseStreamId(stream).id, fields, created: at }),
      add('answer_counts', { overlay }, { n: 1 }),
    ],
    AnswerErased: ({ stream, at }) => [
      patch('answers', { answer: parseStreamId(stream).id }, { fields: null, erased: at }),
    ],
    AccountErased: ({ data: { id } }) => [remove('answers', { account: id })],
  },
}
