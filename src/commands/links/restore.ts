import { completed, type LinkEvent, type LinkFields } from '../../events/links/link.ts'
import { unreadable } from '../../security/seal.ts'
import { moveBack } from './addresses.ts'
import { refuseReserved } from './alias.ts'
import { addressesOf } from './places.ts'
import type { Link } from './state.ts'
import { differing, requireOwnedOrDeleted } from '../owned/owned.ts'

export interface RestoreLink {
  readonly type: 'RestoreLink'
  readonly id: number
  readonly account: number
  /** what the link was after one of its revisions; undefined: a deleted one comes back with its last values */
  readonly to?: (Pick<Link, 'fields' | 'password' | 'places'> & { readonly revision: number }) | undefined
  /** of the claim of the alias; those of its other addresses are made of it */
  readonly token: string
  /** the numbers of addresses that stay away, because others have them now */
  readonly without?: readonly number[]
  readonly now: string
}

/** Returns what differs between a link and what it was. A password that cannot be read stays. */
const changesTo = (to: RestoreLink['to'], { fields: given, password }: Link) => {
  if (!to) return { changes: {} }
  const fields = completed(given)
  const former = completed(to.fields)
  // ids of variants are never given twice
  const wanted = { ...former, entered: former.entered ?? null, last_variant: fields.last_variant }
  const { notes, ...changes } = differing<LinkFields>(wanted, fields)
  return {
    // a change of the address without what was entered would clear that
    changes: changes.url === undefined ? changes : { ...changes, entered: wanted.entered },
    ...(notes === undefined ? {} : { notes }),
    ...(to.password === password || to.password === unreadable ? {} : { password: to.password }),
  }
}

/** Returns the events that bring a deleted link back, or give a link the values that it had. Throws `Refused`. */
export const decideRestore = (command: RestoreLink, state: Link): readonly LinkEvent[] => {
  const { id, account, to, token, without = [], now } = command
  const { status, fields: before } = requireOwnedOrDeleted(state, account, 'link')
  const { changes, ...sealed } = changesTo(to, state)
  const { move, events } = moveBack({ id, token, now, without, to: addressesOf(to ?? state) }, state)
  if (status === 'open' && events.length + Object.keys({ ...changes, ...sealed }).length === 0) return []
  const fields = completed(before)
  const after = { ...fields, ...sealed, ...changes }
  refuseReserved('custom', after.alias, fields.alias)
  const marked = { id, ...(to && { to: to.revision }), ...move }
  if (status === 'open') return [{ type: 'LinkRestored', data: { ...marked, changes, ...sealed } }, ...events]
  const { notes } = after
  const revived = {
    deleted: true as const,
    ...(after.archived ? { archived: true as const } : {}),
    // the tables have no notes of a deleted link
    ...(notes === null && fields.notes === null ? {} : { notes }),
  }
  return [{ type: 'LinkRestored', data: { ...marked, ...sealed, ...revived, changes } }, ...events]
}
