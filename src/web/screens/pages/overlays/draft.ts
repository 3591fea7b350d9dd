export const types = ['message', 'contact', 'poll', 'newsletter', 'image', 'coupon'] as const
export type OverlayType = (typeof types)[number]
export const positions = ['bl', 'br', 'tl', 'tr'] as const

/** An overlay as its form has it; also as the API takes and returns it. */
export interface Draft {
  readonly type: OverlayType
  readonly name: string
  readonly message: string
  readonly label: string
  readonly link: string
  readonly image: string
  readonly color: string
  readonly position: (typeof positions)[number]
  readonly question: string
  readonly options: readonly string[]
  readonly coupon: string
}

export const blank: Draft = {
  type: 'message',
  name: '',
  message: '',
  label: '',
  link: '',
  image: '',
  color: '#0a6349',
  position: 'bl',
  question: '',
  options: ['', ''],
  coupon: '',
}
export const fields = Object.keys(blank)

/** The fields that each type shows, besides its name and its look. */
export const fieldsOf: Readonly<Record<OverlayType, readonly (keyof Draft)[]>> = {
  message: ['message', 'label', 'link', 'image'],
  contact: ['message', 'label'],
  poll: ['question', 'options', 'label'],
  newsletter: ['message', 'label'],
  image: ['image', 'link', 'label', 'message'],
  coupon: ['coupon', 'message', 'label', 'link'],
}

/** What visitors send through an overlay, by the names of its fields. */
export const answersOf: Readonly<Partial<Record<OverlayType, readonly ('name' | 'email' | 'message' | 'choice')[]>>> = {
  contact: ['name', 'email', 'message'],
  poll: ['choice'],
  newsletter: ['email'],
}

/** Returns the form of an overlay that there is. */
export const draftOf = (details: Draft): Draft => {
  const { type, name, message, label, link, image, color, position, question, options, coupon } = details
  const rows = options.length > 0 ? options : blank.options
  return { type, name, message, label, link, image, color, position, question, options: rows, coupon }
}

/** Returns a form as the API takes it: answers that are empty are left out. */
export const bodyOf = (draft: Draft) => ({
  ...draft,
  options: draft.options.map((one) => one.trim()).filter((one) => one !== ''),
})
