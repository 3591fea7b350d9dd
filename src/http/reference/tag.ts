import { z } from 'zod'
import { count, page, pageFields, type Reference, text } from './describe.ts'

const row = z.object({
  tag: text.meta({ examples: ['spring'] }),
  links: count.describe('links with this tag that are not archived'),
  archived: count.describe('archived links with this tag'),
})

export const tagReference: Reference = {
  'GET /api/tags': {
    summary: 'List the tags of your links, in alphabetical order',
    fields: pageFields,
    answer: page('tags', row),
  },
}
