import { overlay } from '../../commands/pages/overlay.ts'
import { timestamp } from '../../lib/fields.ts'
import { countChoices, listAnswers } from '../../queries/pages/answer.ts'
import { byId } from '../api/fields.ts'
import { list, listQuery } from '../api/list/list.ts'
import { endpoint, type Route } from '../api/route.ts'
import { ownedBy } from '../api/owned.ts'
import { overlayAnswers, overlayContract } from './contract/overlay.ts'

export const answerRoutes = (): readonly Route[] => [
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
]
