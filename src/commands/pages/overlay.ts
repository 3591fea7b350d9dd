import type { OverlayFields } from '../../events/pages/overlay.ts'
import { fold, refuse } from '../decider.ts'
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
  { kind: 'overlay', version: 2, label: 'CTA overlay', initial },
)

/** Returns which field is missing that the overlay's type requires, if any. */
const missing = ({ type, message, image, question, options, coupon }: OverlayFields): string | undefined => {
  switch (type) {
    case 'message':
      return message ? undefined : '`message` is required for an overlay of type message.'
    case 'poll':
      if (!question) return '`question` is required for an overlay of type poll.'
      return options.length < 2 ? '`options` must have at least 2 entries for an overlay of type poll.' : undefined
    case 'image':
      return image ? undefined : '`image` is required for an overlay of type image.'
    case 'coupon':
      return coupon ? undefined : '`coupon` is required for an overlay of type coupon.'
    // also a type that only a newer release knows, with its rules
    default:
      return undefined
  }
}

/** An update may not remove a field that the overlay's type requires. One that was allowed to lack it comes back as it was. */
export const overlay: typeof base = {
  ...base,
  decide: (command, state) => {
    const events = base.decide(command, state)
    const problem =
      command.type === 'Delete' || command.type === 'Restore' ? undefined : missing(fold(base, events, state).fields)
    return problem === undefined ? events : refuse('invalid', problem)
  },
}
