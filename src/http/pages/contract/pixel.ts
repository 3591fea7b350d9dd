import { z } from 'zod'
import {
  type Answer,
  type Whole,
  created,
  deleted,
  id,
  listOf,
  ownedFields,
  type Contract,
  revision,
  text,
  time,
  updated,
} from '../../api/contract.ts'

const pixel = z.object({
  id,
  type: text.meta({ examples: ['gapixel'] }),
  name: text.meta({ examples: ['Shop'] }),
  tag: text.meta({ examples: ['G-ABC123'] }),
  date: time,
  revision,
})
const fields = { tag: 'the id at the vendor: 3 to 64 letters, digits, `_`, `.`, `/` and `-`' }

export const pixels = listOf('Pixel', 'pixels', pixel)
export type Pixel = Answer<typeof pixel>
export type PixelList = Whole<typeof pixels>

export const pixelContract = {
  'GET /api/pixels': { summary: 'List tracking pixels', fields: ownedFields, ...pixels },
  'POST /api/pixel/add': {
    summary: 'Create a tracking pixel',
    description: 'It fires for visitors of the links that have its id in `pixels`.',
    fields,
    example: { type: 'gapixel', name: 'Shop', tag: 'G-ABC123' },
    answer: created,
  },
  'PUT /api/pixel/:id/update': {
    summary: 'Change a tracking pixel',
    fields,
    example: { name: 'Shop', tag: 'G-ABC456' },
    answer: updated,
  },
  'DELETE /api/pixel/:id/delete': { summary: 'Delete a tracking pixel and remove it from links', answer: deleted },
} satisfies Contract
