import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { bio } from '../commands/bio.ts'
import type { BioFields } from '../events/bio.ts'
import { type BioRow, findBio, listBios } from '../queries/bio.ts'
import { withRandomAlias } from '../commands/alias.ts'
import { deleteRoute, detailsRoute, listRoute, updateRoute } from './owned.ts'
import { route, type Services } from './api/route.ts'
import { alias, name, orEmpty, orInitial, url } from './api/fields.ts'
import { must, text, timestamp } from '../lib/fields.ts'

const label = 'Bio page'
const links = z
  .array(z.object({ title: name, url }), must('an array of objects'))
  .max(100, 'must have at most 100 entries')

const fields = z
  .object({
    name,
    alias,
    title: orEmpty(text(255)),
    description: orEmpty(text(2000)),
    avatar: orEmpty(url),
    links: orInitial(links, []),
  })
  .partial()

const address = ({ alias }: BioFields, { baseUrl }: Services) => `${baseUrl()}/${alias}`

const listed = (row: BioRow, services: Services) => {
  const { id, name, alias, title, created } = row
  return { id, name, alias, title, link: address(row, services), date: timestamp(created) }
}
const details = (row: BioRow, services: Services) => {
  const { description, avatar, links } = row
  return { ...listed(row, services), description, avatar, links }
}

export const bioRoutes = [
  listRoute('/api/bio', 'bio', listBios, listed),
  detailsRoute('/api/bio/:id', bio, label, findBio, details),

  route({
    method: 'post',
    path: '/api/bio/add',
    body: fields.extend({ name, links }),
    run: async ({ account, body, create }, services) => {
      const { alias: wished, ...given } = body
      const token = randomUUID()
      const make = (alias: string) => {
        const fields = { ...bio.initialState.fields, ...given, alias } as BioFields
        return create('bio', bio, (id) => ({ type: 'Create' as const, id, account, fields, token }))
      }
      const { id, state } = wished === undefined ? await withRandomAlias(make) : await make(wished)
      return { id, link: address(state.fields, services) }
    },
  }),

  updateRoute('/api/bio/:id/update', bio, label, fields),
  deleteRoute('/api/bio/:id/delete', bio, label),
]
