import { z } from 'zod'
import { overlay } from '../../commands/pages/overlay.ts'
import { type OverlayFields, OverlayPosition, OverlayType } from '../../events/pages/overlay.ts'
import { findOverlay, listOverlays, type OverlayRow } from '../../queries/pages/overlay.ts'
import { addOwned, type AddressesOf, deleteOwned, listOwned, showOwned, updateOwned } from '../api/owned.ts'
import { type Blocking, rejectBlocked } from '../api/blockedaddress.ts'
import { endpoint, type Route } from '../api/route.ts'
import { color, name, orEmpty, orInitial, url } from '../api/fields.ts'
import { must, orStop, says, text, timestamp } from '../../lib/fields.ts'
import { overlayContract, overlays } from './contract/overlay.ts'

const initial = overlay.initialState.fields
const type = z.enum(OverlayType.options, {
  error: must('not_one_of', { values: OverlayType.options.join(', ') }).error,
})
const position = z.enum(OverlayPosition.options, says('not_one_of', { what: 'corner' }))
const options = z
  .array(name, must('wrong_type', { what: 'strings' }))
  .max(10, orStop(says('too_many', { max: 10 })))
  .refine((answers) => new Set(answers).size === answers.length, says('repeated', { what: 'answer' }))

const fields = z
  .object({
    type,
    name,
    message: orEmpty(text(2000)),
    label: orEmpty(text(255)),
    link: orEmpty(url),
    image: orEmpty(url),
    color: orInitial(color, initial.color),
    position: orInitial(position, 'bl'),
    question: orEmpty(text(255)),
    options: orInitial(options, initial.options),
    coupon: orEmpty(text(255)),
  })
  .partial()

export const addressesOf: AddressesOf<OverlayFields> = ({ link, image }) => ({ link: [link], image: [image] })

const listed = ({ id, type, name, created, revision }: OverlayRow) => ({
  id,
  type,
  name,
  date: timestamp(created),
  revision,
})
const details = (row: OverlayRow) => {
  const { message, label, link, image, color, position, question, options, coupon } = row
  return { ...listed(row), message, label, link, image, color, position, question, options, coupon }
}

/** The decider checks which fields a type requires, because updates send them one by one. */
export const overlayRoutes = (services: Blocking): readonly Route[] => {
  const check = (body: Parameters<typeof addressesOf>[0]) => rejectBlocked(addressesOf(body), services)
  return [
    endpoint(overlayContract, 'GET /api/overlay', { scope: 'read', ...listOwned(overlays, listOverlays, listed) }),
    endpoint(overlayContract, 'GET /api/overlay/:id', showOwned(overlay, findOverlay, details)),
    endpoint(
      overlayContract,
      'POST /api/overlay/add',
      addOwned('overlay', overlay, fields.extend({ type, name }), check),
    ),
    endpoint(overlayContract, 'PUT /api/overlay/:id/update', updateOwned('overlay', overlay, fields, check)),
    endpoint(overlayContract, 'DELETE /api/overlay/:id/delete', deleteOwned('overlay', overlay)),
  ]
}
