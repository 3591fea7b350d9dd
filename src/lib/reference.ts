import { randomInt } from 'node:crypto'

/** Returns an id of eight symbols as a person reads and repeats it: `7kq2m9xd` is `7KQ2-M9XD`. */
export const reference = (id: string): string => `${id.slice(0, 4)}-${id.slice(4)}`.toUpperCase()

/** The inverse of `reference`. Returns undefined for a text that is no reference. */
export const readReference = (text: string): string | undefined =>
  /^[a-z\d]{8}$/.exec(text.trim().toLowerCase().replace('-', ''))?.[0]

const letters = 'ABCDEFGHJKMNPQRSTVWXYZ23456789'
/** Returns a reference to a line of the log. */
export const randomReference = (): string =>
  reference(Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join(''))
