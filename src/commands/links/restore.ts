import { completed, type LinkEvent, type LinkFields } from '../../events/links/link.ts'
import { unreadable } from '../../security/seal.ts'
import { aliasClaimName, refuseReserved } from './alias.ts'
import type { Link } from './state.ts'
import { differing, requireOwnedOrDeleted } from '../owned/owned.ts'
import { refuseTaken } from '../claims/taken.ts'

export interface RestoreLink {
  readonly type: 'RestoreLink'
  readonly id: number
  readonly account: number
  /** what the link was after one of its revisions; undefined: a deleted one comes back with its last values */
  readonly to?: (Pick<Link, 'fields' | 'password'> & { readonly revision: number }) | undefined
  /** of the claim of the alias */
  readonly token: string
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

/** Returns the event that brings a deleted link back, or gives a link the values that it had. Throws `Refused`. */
export const decideRestore = ({ id, account, to, token }: RestoreLink, state: Link): readonly LinkEvent[] => {
  const { status, fields: before, tokens } = requireOwnedOrDeleted(state, account, 'link')
  const { changes, ...sealed } = changesTo(to, state)
  if (status === 'open' && Object.keys({ ...changes, ...sealed }).length === 0) return []
  const fields = completed(before)
  const after = { ...fields, ...sealed, ...changes }
  refuseReserved('custom', after.alias, fields.alias)
  const moved = aliasClaimName(after) !== aliasClaimName(fields)
  const claims = status === 'deleted' || moved
  if (claims && tokens.fenced.includes(token)) return refuseTaken('alias', 'custom')
  const marked = { id, ...(to && { to: to.revision }), ...(claims && { token }) }
  if (status === 'open') return [{ type: 'LinkRestored', data: { ...marked, changes, ...sealed } }]
  const { notes } = after
  const revived = {
    deleted: true as const,
    ...(after.archived ? { archived: true as const } : {}),
    // the tables have no notes of a deleted link
    ...(notes === null && fields.notes === null ? {} : { notes }),
  }
  return [{ type: 'LinkRestored', data: { ...marked, ...sealed, ...revived, changes } }]
}
