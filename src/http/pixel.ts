import { z } from 'zod'
import { pixel } from '../commands/pixel.ts'
import { PixelType } from '../events/pixel.ts'
import { listPixels, type PixelRow } from '../queries/pixel.ts'
import { deleteRoute, existing, listRoute } from './owned.ts'
import { route } from './api/route.ts'
import { must, text, timestamp } from './api/fields.ts'

/** Of the same shape for all networks, and never any markup. */
const tag = z
  .string(must('a text'))
  .regex(/^[A-Za-z0-9_./-]{3,64}$/, 'must be 3 to 64 letters, digits and any of _ . / -')
const name = text(255).min(1, 'must not be empty')
const type = z.enum(PixelType.options, { error: must(`one of ${PixelType.options.join(', ')}`).error })

const present = ({ id, type, name, tag, created }: PixelRow) => ({ id, type, name, tag, date: timestamp(created) })

export const pixelRoutes = [
  listRoute('/api/pixels', 'pixels', listPixels, present),

  route({
    method: 'post',
    path: '/api/pixel/add',
    body: z.object({ type, name, tag }),
    run: async ({ account, body, create }) => {
      const { id } = await create('pixel', pixel, (id) => ({ type: 'Create' as const, id, account, fields: body }))
      return { id }
    },
  }),

  route({
    method: 'put',
    path: '/api/pixel/:id/update',
    body: z.object({ name: name.optional(), tag }),
    exists: existing(pixel, 'Pixel'),
    run: async ({ account, ids: [id = 0], body: { name, tag }, write }) => {
      await write(pixel, { type: 'Update', id, account, changes: { tag, ...(name === undefined ? {} : { name }) } })
      return { message: 'Pixel has been updated.' }
    },
  }),

  deleteRoute('/api/pixel/:id/delete', pixel, 'Pixel'),
]
