import { answer } from '../../commands/pages/answer.ts'
import { overlay } from '../../commands/pages/overlay.ts'
import { timestamp } from '../../lib/fields.ts'
import { streamId } from '../../events/streams.ts'
import { countChoices, findAnswer, listAnswers } from '../../queries/pages/answer.ts'
import type { StreamKeyring } from '../../security/streamkeys.ts'
import { fail } from '../api/errors.ts'
import { byId, pathId } from '../api/fields.ts'
import { list, listQuery } from '../api/list/list.ts'
import { endpoint, type Route } from '../api/route.ts'
import { ownedBy } from '../api/owned.ts'
import { overlayAnswers, overlayContract } from './contract/overlay.ts'

export interface AnswerServices {
  readonly streamKeys: Pick<StreamKeyring, 'destroy'>
}

export const answerRoutes = ({ streamKeys }: AnswerServices): readonly Route[] => [
  endpoint(overlayContract, 'GET /api/overlay/:id/answers', {
    scope: 'read',
    params: byId,
    query: listQuery(overlayAnswers),
    owner: ownedBy(overlay),
    run: (call) =>
      list(
        overlayAnswers,
        call,
        (request) => listAnswers(call.reader, call.params.id, request),
        ({ number, fields, created }) => ({
          id: number,
          date: timestamp(created),
          fields: fields === null ? {} : (JSON.parse(fields) as Readonly<Record<string, string>>),
        }),
      ),
  }),

  endpoint(overlayContract, 'GET /api/overlay/:id/answers/counts', {
    statistics: true,
    scope: 'read',
    params: byId,
    owner: ownedBy(overlay),
    run: async ({ params, reader }) => {
      const { answers: n, counted, choices } = await countChoices(reader, params.id)
      return { data: { answers: n, counted, choices: choices.map(({ choice, n: count }) => ({ choice, count })) } }
    },
  }),

  endpoint(overlayContract, 'DELETE /api/overlay/:id/answers/:answer/delete', {
    scope: 'write',
    params: byId.extend({ answer: pathId }),
    run: async ({ account, params: { id, answer: number }, reader, write }) => {
      const found = await findAnswer(reader, { account, overlay: id, number })
      if (!found) return fail(404, 'not_found', { what: 'answer' })
      await write(answer, { type: 'EraseAnswer', ...found })
      await streamKeys.destroy([streamId('answer', found.answer)])
      return { message: `Answer ${number} has been erased. It cannot come back.`, undo: null }
    },
  }),
]
