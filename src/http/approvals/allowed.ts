import { type Domain, hostOf } from '../../commands/domains/domain.ts'
import { addressesOf } from '../../commands/links/places.ts'
import type { Link } from '../../commands/links/state.ts'
import { isResource } from '../../events/kinds.ts'
import { rejectBlocked } from '../api/blockedaddress.ts'
import { rejectRedirects, rejectServiceHost, type ServiceHosts } from '../domains/allowed.ts'
import { histories } from '../history/kinds.ts'
import { type LinkChecks, rejectDestinations, rejectGainedPlaces } from '../links/allowed.ts'
import type { Waiting } from './proposed.ts'

/** What the changes that are proposed are checked with. */
export interface ChangeChecks extends LinkChecks, ServiceHosts {}

interface Effect {
  readonly before: unknown
  readonly after: unknown
}

/** Commands that bring a resource back, with all of its fields. */
const restoring: ReadonlySet<string> = new Set(['RestoreLink', 'CreateDomain', 'Restore'])
/** Returns the fields that a command sets: the routes check no others. */
const fieldsSet = (command: object, after: unknown): object => {
  const { type, changes = {} } = command as { readonly type: string; readonly changes?: object }
  return restoring.has(type) ? (after as { readonly fields: object }).fields : changes
}

/**
 * Fails, as the routes do, when a change may not be made now that could be made when it was proposed: the operator has
 * blocked since what it leads to, or where the link would be found.
 */
export const requireAllowed = (
  { command, kind, target }: Pick<Waiting, 'command' | 'kind' | 'target'>,
  { before, after }: Effect,
  services: ChangeChecks,
): void => {
  if (!isResource(kind)) return
  const fields = fieldsSet(command, after)
  if (kind === 'link') {
    rejectDestinations(fields, services)
    const is = after as Link
    if (is.status === 'open') rejectGainedPlaces(target, before as Link, addressesOf(is), services)
    return
  }
  if (kind === 'domain') {
    const [was, is] = [before as Domain, after as Domain]
    rejectRedirects(fields, services)
    if (was.status === 'deleted' && is.status === 'open') rejectServiceHost(hostOf(is.fields), services)
    return
  }
  const history = histories[kind]
  if ('owned' in history) rejectBlocked(history.owned.addresses(fields), services)
}
