import { type AccountEvent, mainKey } from '../../events/accounts/account.ts'
import type { Open } from '../../events/openenum.ts'
import { allows, allScopes, type Scope } from '../../events/accounts/scope.ts'
import { defined } from '../../lib/defined.ts'
import { isWithin, networksIn } from '../../lib/networks.ts'
import { problem, type Problem } from '../../lib/problems/problem.ts'
import { refuse, Refused } from '../decider.ts'

/** An API key: its public id, a keyed hash of its secret, and when it expires (ISO 8601; null: never). */
export interface IssuedKey {
  readonly key: string
  readonly hash: string
  readonly expires: string | null
}

/** What a key allows. `addresses`: the networks that it may be used from, separated by spaces; null: any. */
export interface KeyRights {
  readonly scopes: readonly Open<Scope>[]
  readonly expires: string | null
  readonly addresses: string | null
}
/**
 * A key of an account. `number` is its id within the account, `member` its creator; undefined: the account's own
 * sign-in.
 */
export interface AccountKey extends IssuedKey, KeyRights {
  readonly number: number
  readonly name: string
  readonly member?: number | undefined
}

/** The keys of an account, and the highest number that was given to one. */
export interface Keys {
  readonly keys: readonly AccountKey[]
  readonly lastKey: number
}
export const noKeys: Keys = { keys: [], lastKey: 0 }

const mostKeys = 100

/**
 * `by` is the public id of the key that sends the command; undefined: a session, or an operator. `member` is the member
 * who has the key or session; undefined: the account's own sign-in, or an operator. `now` is ISO 8601.
 */
interface Sent {
  readonly id: number
  readonly by?: string | undefined
  readonly member?: number | undefined
  readonly now: string
}
/** A key's properties: those that are not undefined change. */
type Changeable = KeyRights & Pick<AccountKey, 'name'>
type KeyChanges = { readonly [K in keyof Changeable]?: Changeable[K] | undefined }

export type KeyCommand =
  | (Sent & {
      readonly type: 'AddKey'
      readonly apiKey: Omit<IssuedKey, 'expires'>
      readonly name: string
      readonly scopes: readonly Scope[]
      /** undefined: as the key that sends the command */
      readonly expires?: string | null | undefined
      readonly addresses?: string | null | undefined
    })
  | (Sent & {
      readonly type: 'UpdateKey'
      readonly number: number
      readonly changes: KeyChanges
      /** the revision of the account in which the key had these values, when it is reset to them */
      readonly to?: number
    })
  | (Sent & {
      readonly type: 'RotateKey'
      readonly number: number
      /** the member who has the key now; undefined: the account's own sign-in */
      readonly holder: number | undefined
      readonly apiKey: Omit<IssuedKey, 'expires'>
      /** when the old key ends, ISO 8601 */
      readonly until: string
    })
  | { readonly type: 'DeleteKey'; readonly id: number; readonly number: number }

const operatorRights: KeyRights = { scopes: allScopes, expires: null, addresses: null }

const rightsOf = ({ keys }: Keys, by: string | undefined): KeyRights =>
  by === undefined ? operatorRights : (keys.find(({ key }) => key === by) ?? refuse('key_ended'))

/** Returns the problem when rights exceed those of a key, or undefined. */
const excessOf = (own: KeyRights, given: Partial<KeyRights>): Problem | undefined => {
  const scope = given.scopes?.find((one) => !allows(own.scopes, one))
  if (scope !== undefined) return problem('lacks_rights', { what: 'scope', field: 'scopes', scope })
  if (given.expires !== undefined && own.expires !== null && (given.expires ?? '9999') > own.expires)
    return problem('lacks_rights', { what: 'expires', field: 'expires' })
  const within = (addresses: string | null) =>
    addresses !== null && networksIn(addresses).every((one) => isWithin(one, networksIn(own.addresses ?? '')))
  if (given.addresses !== undefined && own.addresses !== null && !within(given.addresses))
    return problem('lacks_rights', { what: 'addresses', field: 'addresses' })
  return undefined
}
/** Whether changes give a key a right that it does not have. */
export const widens = (key: KeyRights, changes: KeyChanges): boolean => excessOf(key, defined(changes)) !== undefined
/** Throws `Refused` when a key would grant rights that it lacks itself. */
const requireWithin = (own: KeyRights, given: Partial<KeyRights>) => {
  const excess = excessOf(own, given)
  if (excess) throw new Refused(excess)
}
/**
 * A caller may narrow a key without having its rights. A wider key passes all of its rights to its holder, so widening
 * needs all of them.
 */
const requireMayChange = (own: KeyRights, key: KeyRights, changes: Partial<KeyRights>) => {
  requireWithin(own, changes)
  if (excessOf(key, changes) !== undefined && excessOf(own, { ...key, ...changes }) !== undefined)
    refuse('lacks_rights', { what: 'key' })
}

/** Returns the event of a new key, which has at most the rights of its creator. */
const added = (
  member: number | undefined,
  data: Omit<Extract<AccountEvent, { type: 'ApiKeyAdded' }>['data'], 'member'>,
): AccountEvent =>
  member === undefined ? { type: 'ApiKeyAdded', data } : { type: 'ApiKeyAddedByMember', data: { ...data, member } }

const isExpired = ({ expires }: Pick<IssuedKey, 'expires'>, now: string) => expires !== null && expires <= now
const notPast = (expires: string | null | undefined, now: string) => {
  if (typeof expires === 'string' && expires <= now) refuse('in_past', { field: 'expires' })
}

/**
 * Returns the events that make room for one more key: when there are too many, the one that expired longest ago ends.
 */
const makeRoom = (id: number, { keys }: Keys, now: string): readonly AccountEvent[] => {
  if (keys.length < mostKeys) return []
  const [oldest] = keys
    .filter((key) => isExpired(key, now))
    .toSorted((a, b) => ((a.expires ?? '') < (b.expires ?? '') ? -1 : 1))
  return oldest
    ? [{ type: 'ApiKeyDeleted', data: { id, number: oldest.number } }]
    : refuse('too_many', { what: 'keys', max: mostKeys })
}

const find = ({ keys }: Keys, wanted: number) =>
  keys.find(({ number }) => number === wanted) ?? refuse('not_found', { what: 'key' })

const differing = (changes: KeyChanges, key: AccountKey): Partial<Changeable> =>
  Object.fromEntries(
    Object.entries(defined(changes)).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(key[name as keyof KeyChanges]),
    ),
  )

/** Returns the events of a command on the keys of an existing account. Throws `Refused`. */
export const decideKey = (command: KeyCommand, state: Keys): readonly AccountEvent[] => {
  const { id } = command
  const number = state.lastKey + 1
  const isKnown = (key: string) => state.keys.some((one) => one.key === key)
  switch (command.type) {
    case 'AddKey': {
      const { by, member, now, apiKey, name, scopes } = command
      if (isKnown(apiKey.key)) return []
      const own = rightsOf(state, by)
      const { expires = own.expires, addresses = own.addresses } = command
      notPast(expires, now)
      requireWithin(own, { scopes, expires, addresses })
      const data = { id, number, ...apiKey, name, scopes: [...scopes], expires, addresses }
      return [...makeRoom(id, state, now), added(member, data)]
    }
    case 'UpdateKey': {
      const key = find(state, command.number)
      const changes = differing(command.changes, key)
      if (Object.keys(changes).length === 0) return []
      notPast(changes.expires, command.now)
      requireMayChange(rightsOf(state, command.by), key, defined(changes))
      const { scopes, ...others } = changes
      const changed = { ...others, ...(scopes === undefined ? {} : { scopes: [...scopes] }) }
      const to = command.to === undefined ? {} : { to: command.to }
      return [{ type: 'ApiKeyUpdated', data: { id, number: key.number, ...to, ...changed } }]
    }
    case 'RotateKey': {
      const { member, now, apiKey, until } = command
      if (isKnown(apiKey.key)) return []
      const old = find(state, command.number)
      // the caller would get a key that acts in the name of another member
      if (command.holder !== member) refuse('lacks_rights', { what: 'maker' })
      if (isExpired(old, now)) refuse('key_ended', { what: 'rotated' })
      requireWithin(rightsOf(state, command.by), old)
      const { name, scopes, expires, addresses } = old
      const data = { id, number, ...apiKey, name, scopes: [...scopes], expires, addresses, replaces: old.number }
      const end = { id, number: old.number }
      const ended: AccountEvent =
        until <= now
          ? { type: 'ApiKeyDeleted', data: end }
          : { type: 'ApiKeyUpdated', data: { ...end, expires: until < (expires ?? '9999') ? until : expires } }
      return [...makeRoom(id, state, now), added(member, data), ended]
    }
    case 'DeleteKey':
      return [{ type: 'ApiKeyDeleted', data: { id, number: find(state, command.number).number } }]
  }
}

type KeyEvent = Extract<
  AccountEvent,
  { type: 'ApiKeyIssued' | 'ApiKeyAdded' | 'ApiKeyAddedByMember' | 'ApiKeyUpdated' | 'ApiKeyDeleted' }
>

/** Returns the keys of an account after an event. */
export const evolveKeys = ({ keys, lastKey }: Keys, { type, data }: KeyEvent): Keys => {
  switch (type) {
    case 'ApiKeyIssued': {
      const { key, hash, expires } = data
      const main = { ...mainKey, key, hash, scopes: allScopes, expires, addresses: null }
      return { keys: [main], lastKey: Math.max(lastKey, mainKey.number) }
    }
    case 'ApiKeyAdded':
    case 'ApiKeyAddedByMember': {
      const { id: _, replaces: _r, ...key } = data
      return { keys: [...keys, key], lastKey: key.number }
    }
    case 'ApiKeyUpdated': {
      const { id: _, number, to: _t, ...changes } = data
      const changed = defined(changes)
      return { keys: keys.map((key) => (key.number === number ? { ...key, ...changed } : key)), lastKey }
    }
    case 'ApiKeyDeleted':
      return { keys: keys.filter(({ number }) => number !== data.number), lastKey }
  }
}

/** Returns the keys of an account after some of them pass to another member. */
export const handOver = ({ keys, lastKey }: Keys, numbers: readonly number[], member: number): Keys => ({
  keys: keys.map((key) => (numbers.includes(key.number) ? { ...key, member } : key)),
  lastKey,
})
