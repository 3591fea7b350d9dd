import { overlay } from '../commands/overlay.ts'
import { listAnswers } from '../queries/answer.ts'
import { owns } from './owned.ts'
import { route } from './api/route.ts'
import { list, page, timestamp } from './api/fields.ts'

export const answerRoutes = [
  route({
    method: 'get',
    path: '/api/overlay/:id/answers',
    run: async ({ account, ids: [id = 0], query }, services) => {
      await owns(overlay, 'CTA overlay', services, account, id)
      const asked = page(query)
      return list('answers', asked, await listAnswers(services.reader, id, asked), ({ id, fields, created }) => ({
        id,
        date: timestamp(created),
        fields: fields === null ? {} : (JSON.parse(fields) as object),
      }))
    },
  }),
]
