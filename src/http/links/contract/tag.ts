import { z } from 'zod'
import { type Whole, count, listOf, pageFields, type Contract, text } from '../../api/contract.ts'

const row = z.object({
  tag: text.meta({ examples: ['spring'] }),
  links: count.describe('links with this tag that are not archived'),
  archived: count.describe('archived links with this tag'),
})

// a tag is not created: it is there while a link has it
const { from: _from, to: _to, ...undated } = pageFields

export const tagNames = listOf('Tag', 'tags', row, ['tag'])
export type TagList = Whole<typeof tagNames>

export const tagContract = {
  'GET /api/tags': {
    summary: 'List the tags of your links, in alphabetical order',
    fields: { ...undated, order: '`name`', q: 'part of the tag' },
    ...tagNames,
  },
} satisfies Contract
