import type { OverlayFields } from '../../events/pages/overlay.ts'
import { problem, type Problem } from '../../lib/problems/problem.ts'
import { fold, Refused } from '../decider.ts'
import { owned } from '../owned/owned.ts'

const initial: OverlayFields = {
  type: 'message',
  name: '',
  message: '',
  label: '',
  link: '',
  image: '',
  color: '#3b82f6',
  position: 'bl',
  question: '',
  options: [],
  coupon: '',
}
const base = owned(
  { created: 'OverlayCreated', updated: 'OverlayUpdated', deleted: 'OverlayDeleted', restored: 'OverlayRestored' },
  { kind: 'overlay', version: 3, initial },
)

/** Returns which field is missing that the overlay's type requires, if any. */
const missing = ({ type, message, image, question, options, coupon }: OverlayFields): Problem | undefined => {
  const required = (field: string, value: string) =>
    value ? undefined : problem('required_here', { what: 'overlay', field, type })
  switch (type) {
    case 'message':
      return required('message', message)
    case 'poll':
      if (options.length < 2 && question) return problem('too_few', { what: 'overlay', field: 'options', min: 2, type })
      return required('question', question)
    case 'image':
      return required('image', image)
    case 'coupon':
      return required('coupon', coupon)
    // also a type that only a newer release knows, with its rules
    default:
      return undefined
  }
}

/**
 * An update may not remove a field that the overlay's type requires. One that was allowed to lack it comes back as it
 * was.
 */
export const overlay: typeof base = {
  ...base,
  decide: (command, state) => {
    const events = base.decide(command, state)
    const found =
      command.type === 'Delete' || command.type === 'Restore' ? undefined : missing(fold(base, events, state).fields)
    if (found) throw new Refused(found)
    return events
  },
}
