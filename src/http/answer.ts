import { overlay } from '../commands/overlay.ts'
import { timestamp } from '../lib/fields.ts'
import { listAnswers } from '../queries/answer.ts'
import { byId, list, pagination } from './api/fields.ts'
import { route } from './api/route.ts'
import { ownedBy } from './owned.ts'

export const answerRoutes = [
  route({
    method: 'get',
    path: '/api/overlay/:id/answers',
    scope: 'read',
    params: byId,
    query: pagination,
    owner: ownedBy(overlay, 'CTA overlay'),
    run: async ({ params, query }, { reader }) =>
      list('answers', query, await listAnswers(reader, params.id, query), ({ number, fields, created }) => ({
        id: number,
        date: timestamp(created),
        fields: fields === null ? {} : (JSON.parse(fields) as object),
      })),
  }),
]
