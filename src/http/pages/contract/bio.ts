import { z } from 'zod'
import { BioTheme } from '../../../events/pages/bio.ts'
import {
  type AnswerOf,
  type Whole,
  address,
  count,
  deleted,
  id,
  labels,
  listOf,
  ownedFields,
  type Contract,
  revision,
  statistics,
  stored,
  success,
  text,
  time,
  updated,
} from '../../api/contract.ts'

const link = address.meta({ examples: ['https://go.example.com/ann'] })
const summary = { id, name: text, alias: text, title: text, link, date: time, revision }
const { clicks: views, uniqueClicks: uniqueViews, ...top } = statistics(labels, ['facebook', 'twitter', 'instagram'])
const entry = z
  .object({ id: count, title: text, url: address, clicks: count, uniqueClicks: count })
  .meta({ id: 'BioPageEntry' })
const fields = {
  alias: 'the address of the page; random if not sent',
  avatar: 'address of a picture',
  links: 'up to 100 entries; the `id` of an entry keeps its counts when it changes',
  theme: '`paper` (default), `ink`, `sand` or `color`',
  color: 'HEX color of the theme `color`',
}

export const bioPages = listOf('BioPage', 'bio', z.object({ ...summary, views: count, clicks: count }))
export type BioPageList = Whole<typeof bioPages>

export const bioContract = {
  'GET /api/bio': {
    summary: 'List bio pages',
    fields: ownedFields,
    ...bioPages,
  },
  'GET /api/bio/:id': {
    summary: 'Get a bio page and its statistics',
    answer: success({
      details: z
        .object({
          ...summary,
          description: text,
          avatar: text,
          theme: stored(BioTheme),
          color: text,
          links: z.array(entry),
        })
        .meta({ id: 'BioPageDetails' }),
      data: z
        .object({ views, uniqueViews, clicks: count, uniqueClicks: count, ...top })
        .meta({ id: 'BioPageStatistics' }),
    }),
  },
  'POST /api/bio/add': {
    summary: 'Create a bio page',
    fields,
    example: { name: 'Ann', alias: 'ann', links: [{ title: 'My shop', url: 'https://example.com/shop' }] },
    answer: success({ id, link, revision }),
  },
  'PUT /api/bio/:id/update': { summary: 'Change a bio page', fields, example: { title: 'Ann Smith' }, answer: updated },
  'DELETE /api/bio/:id/delete': { summary: 'Delete a bio page', answer: deleted },
} satisfies Contract

export type FoundBioPage = AnswerOf<typeof bioContract, 'GET /api/bio/:id'>
export type BioPageDetails = FoundBioPage['details']
