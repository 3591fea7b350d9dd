import { z } from 'zod'
import { pixel } from '../../commands/pages/pixel.ts'
import { PixelType } from '../../events/pages/pixel.ts'
import { defined } from '../../lib/defined.ts'
import { must, says, timestamp } from '../../lib/fields.ts'
import { listPixels, type PixelRow } from '../../queries/pages/pixel.ts'
import { byId, name } from '../api/fields.ts'
import { endpoint, type Route } from '../api/route.ts'
import { deleteOwned, listOwned, ownedBy } from '../api/owned.ts'
import { pixelContract, pixels } from './contract/pixel.ts'

/** One pattern for all networks, in which no tag can contain markup. */
const tag = z
  .string(must('wrong_type', { what: 'string' }))
  .regex(/^[A-Za-z0-9_./-]{3,64}$/, says('wrong_form', { what: 'pixel' }))
const type = z.enum(PixelType.options, { error: must('not_one_of', { values: PixelType.options.join(', ') }).error })

const present = ({ id, type, name, tag, created, revision }: PixelRow) => ({
  id,
  type,
  name,
  tag,
  date: timestamp(created),
  revision,
})

export const pixelRoutes = (): readonly Route[] => [
  endpoint(pixelContract, 'GET /api/pixels', { scope: 'read', ...listOwned(pixels, listPixels, present) }),

  endpoint(pixelContract, 'POST /api/pixel/add', {
    scope: 'write',
    limited: true,
    body: z.object({ type, name, tag }),
    run: async ({ account, body, create }) => {
      const make = (id: number) => ({ type: 'Create' as const, id, account, fields: body })
      const { id, revision } = await create('pixel', pixel, make)
      return { id, revision }
    },
  }),

  endpoint(pixelContract, 'PUT /api/pixel/:id/update', {
    single: true,
    scope: 'write',
    params: byId,
    owner: ownedBy(pixel),
    body: z.object({ name: name.optional(), tag }),
    run: async ({ account, params: { id }, body, write }) => {
      const { revision } = await write(pixel, { type: 'Update', id, account, changes: defined(body) })
      return { message: 'Pixel has been updated.', revision }
    },
  }),

  endpoint(pixelContract, 'DELETE /api/pixel/:id/delete', deleteOwned('pixel', pixel)),
]
