import type { LinkedKind, NamedKind } from '../../events/kinds.ts'

/** Why a link cannot name a resource. */
export const notYours = {
  domain: '{field} must refer to a domain of your account; {id} is not one.',
  campaign: '{field} must refer to a campaign of your account; {id} is not one.',
  channel: '{field} must refer to a channel of your account; {id} is not one.',
  pixel: '{field} must refer to a pixel of your account; {id} is not one.',
  splash: '{field} must refer to a splash page of your account; {id} is not one.',
  overlay: '{field} must refer to an overlay of your account; {id} is not one.',
} as const satisfies Readonly<Record<LinkedKind, string>>

/** Why a resource that was deleted cannot have its name again. */
export const nameTaken = {
  account:
    'Account cannot be restored: `email` belongs to another account. Rename or delete what has the name now, then restore again.',
  bio: 'Bio page cannot be restored: That alias is taken. Rename or delete what has the name now, then restore again.',
  campaign: 'Campaign cannot be restored: `slug` is taken. Rename or delete what has the name now, then restore again.',
  domain:
    'Domain cannot be restored: `domain` belongs to another account. Rename or delete what has the name now, then restore again.',
  link: 'Link cannot be restored: That alias is taken. Rename or delete what has the name now, then restore again.',
  qr: 'QR code cannot be restored: That alias is taken by another QR code. Rename or delete what has the name now, then restore again.',
} as const satisfies Readonly<Record<NamedKind, string>>
