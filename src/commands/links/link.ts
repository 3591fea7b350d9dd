import type { Event } from '../../events/index.ts'
import {
  addedFields,
  completed,
  type ImportedClicks,
  type LinkEvent,
  type LinkFields,
  type StoredLinkFields,
  type Unframed,
} from '../../events/links/link.ts'
import { isWeb, schemeOf } from '../../lib/schemes.ts'
import {
  type AddAddress,
  claimsOf,
  decideAddAddress,
  decideDeleteAddress,
  moveTo,
  type DeleteAddress,
} from './addresses.ts'
import { isExact, shownAlias } from '../../lib/short/alias.ts'
import { refuseReserved, spelledOn } from './alias.ts'
import { type CommandOf, decideBy, type Decider, refuse } from '../decider.ts'
import { decideRestore, type RestoreLink } from './restore.ts'
import { evolveLink, type Link, noLink } from './state.ts'
import { differing, requireOwned } from '../owned/owned.ts'
import { type GivenVariant, numbered } from './variants.ts'

/** Fields of a link as its owner sends them: only those to change. */
export type FieldChanges = Partial<Omit<LinkFields, 'variants' | 'last_variant'>> & {
  readonly variants?: readonly GivenVariant[] | undefined
}
type NewFields = Omit<StoredLinkFields, 'variants' | 'last_variant'> & Pick<FieldChanges, 'variants'>
export type LinkCommand =
  | {
      readonly type: 'CreateLink'
      readonly id: number
      readonly account: number
      readonly fields: NewFields
      readonly password: string | null
      readonly token: string
      readonly now: string
      /** when it was made at the service that it comes from */
      readonly created?: string | undefined
      /** the import that brings it */
      readonly import?: string | undefined
      /** what that has counted */
      readonly imported?: (ImportedClicks & { readonly source: string }) | undefined
    }
  | {
      readonly type: 'UpdateLink'
      readonly id: number
      readonly account: number
      /** only the fields to change */
      readonly changes: FieldChanges
      /** whether the domain in the changes has exact aliases */
      readonly exact?: boolean
      readonly password?: string | null
      /** of the claim, in case the address changes */
      readonly token: string
      /** whether the link can still be found at its former address then */
      readonly keepsOld?: boolean
      readonly now: string
    }
  | { readonly type: 'DeleteLink'; readonly id: number; readonly account: number }
  | (ImportedClicks & {
      readonly type: 'ImportClicks'
      readonly id: number
      readonly account: number
      readonly source: string
    })
  | AddAddress
  | DeleteAddress
  | RestoreLink
  | CheckFraming
/**
 * What destinations answered; one that is missing gave no answer. Sent by the service itself, so there is no owner to
 * check.
 */
interface CheckFraming {
  readonly type: 'CheckFraming'
  readonly id: number
  /** `reason` is null for a destination that can be framed */
  readonly answers: readonly { readonly url: string; readonly reason: Unframed['reason'] | null }[]
  readonly now: string
}

type Decision<T> = (command: CommandOf<LinkCommand, T>, state: Link) => readonly LinkEvent[]

const notPast = (expiry: string | null | undefined, now: string) =>
  expiry && expiry <= now ? refuse('in_past', { field: 'expiry' }) : undefined

const startsFirst = ({ starts, expiry }: Pick<StoredLinkFields, 'starts' | 'expiry'>) =>
  starts && expiry && starts >= expiry ? refuse('wrong_order', { what: 'expiry', field: 'starts' }) : undefined

/** Gives the variants their ids. */
const withIds = <F extends Pick<FieldChanges, 'variants'>>({ variants, ...others }: F, before: LinkFields) => ({
  ...others,
  ...(variants && numbered(variants, before)),
})

/** Whether links of this type show their destination in a frame. */
export const isFramed = (type: string): boolean => type === 'frame' || type.startsWith('overlay-')

/** Returns every address that a link may lead to, each once. */
export const destinationsOf = ({
  url,
  location,
  device,
  language,
  browser = [],
  variants = [],
}: Pick<StoredLinkFields, 'url' | 'location' | 'device' | 'language' | 'browser' | 'variants'>): readonly string[] => [
  ...new Set([url, ...[location, device, browser, language, variants].flat().map((target) => target.url)]),
]

/** Returns the destinations that refuse now: as they answered, and as before where they did not. */
const unframedAfter = ({ fields, unframed = [] }: Link, { answers, now }: CheckFraming): readonly Unframed[] => {
  const before = new Map(unframed.map((one) => [one.url, one]))
  const reasons = new Map(answers.map(({ url, reason }) => [url, reason]))
  return destinationsOf(fields).flatMap((url) => {
    const known = before.get(url)
    const reason = reasons.has(url) ? reasons.get(url) : known?.reason
    return reason ? [{ url, reason, since: known?.since ?? now }] : []
  })
}

/** Returns the schemes of destinations that another program than a browser opens, as `mailto:`. */
export const otherSchemesOf = (link: Parameters<typeof destinationsOf>[0]): readonly string[] => [
  ...new Set(destinationsOf(link).flatMap((url) => (isWeb(url) ? [] : [`${schemeOf(url)}:`]))),
]

/** Refuses what only a web address can have, when a link may lead to an address that another program opens. */
const requireWeb = (link: Omit<LinkFields, 'alias' | 'domain'>) => {
  const [scheme] = otherSchemesOf(link)
  if (scheme === undefined) return
  const { type, pixels, parameters, forward, variants } = link
  const has = {
    type: type !== 'direct',
    pixels: pixels.length > 0,
    parameters: parameters.length > 0,
    forward,
    variants: variants.length > 0,
  }
  const field = Object.entries(has).find(([, isSet]) => isSet)?.[0]
  if (field !== undefined) refuse('not_supported', { what: 'scheme', field, scheme })
}

const createLink: Decision<'CreateLink'> = (command, state) => {
  const { id, account, password, token, now, created, import: by, imported, fields: sent } = command
  const fields: Omit<NewFields, 'variants'> = sent
  // a copy of another link has that link's ids
  const variants = sent.variants?.map(({ url, weight }) => ({ url, weight }))
  const given = variants && numbered(variants, addedFields)
  notPast(fields.expiry, now)
  startsFirst(fields)
  requireWeb(completed({ ...fields, ...given }))
  refuseReserved('custom', fields.alias)
  const brought = by && { import: by }
  const origin = { ...(created && { created }), ...brought }
  if (state.status === 'none' && state.tokens.fenced.length === 0)
    return [
      { type: 'LinkCreated', data: { id, account, ...fields, ...given, password, token, ...origin } },
      ...(imported ? [{ type: 'ClicksImported', data: { id, account, ...imported, ...brought } } as const] : []),
    ]
  return state.tokens.held.alias === token ? [] : refuse('id_in_use', { what: 'link' })
}

/** Returns changes with the alias that the link has after them, in the spelling of its domain. Throws `Refused`. */
const withSpelling = (
  { changes, exact }: CommandOf<LinkCommand, 'UpdateLink'>,
  { alias: before }: LinkFields,
): FieldChanges => {
  const becomesExact = exact ?? isExact(before)
  const { alias = becomesExact === isExact(before) ? undefined : shownAlias(before) } = changes
  return alias === undefined ? changes : { ...changes, alias: spelledOn(becomesExact, alias) }
}

const updateLink: Decision<'UpdateLink'> = (command, state) => {
  const { id } = command
  const { password, ...before } = requireOwned(state, command.account, 'link')
  const fields = completed(before.fields)
  const wanted = withIds(withSpelling(command, fields), fields)
  const { notes, ...changes } = differing<LinkFields>(wanted, fields)
  const protects = command.password !== undefined && command.password !== password
  if (Object.keys(changes).length === 0 && notes === undefined && !protects) return []
  notPast(changes.expiry, command.now)
  if (changes.starts || changes.expiry) startsFirst({ ...fields, ...changes })
  requireWeb({ ...fields, ...changes })
  const { domain, alias } = { ...fields, ...changes }
  refuseReserved('custom', alias, fields.alias)
  const { move, events } = moveTo(command, state, { domain, alias })
  const sealed = {
    ...(notes === undefined ? {} : { notes }),
    ...(protects ? { password: command.password ?? null } : {}),
  }
  const all = move.token === undefined ? changes : { ...changes, domain, alias }
  return [{ type: 'LinkUpdated', data: { id, ...move, changes: all, ...sealed } }, ...events]
}

const deleteLink: Decision<'DeleteLink'> = ({ id, account }, state) => {
  const { archived } = requireOwned(state, account, 'link').fields
  return [{ type: 'LinkDeleted', data: archived ? { id, archived } : { id } }]
}

const importClicks: Decision<'ImportClicks'> = ({ id, account, source, clicks, uniques }, state) => {
  const { imported } = requireOwned(state, account, 'link')
  const before = imported?.[source] ?? { clicks: 0, uniques: null }
  if (before.clicks === clicks && before.uniques === uniques) return []
  return [{ type: 'ClicksImported', data: { id, account, source, clicks, uniques } }]
}

const checkFraming: Decision<'CheckFraming'> = (command, state) => {
  if (state.status !== 'open') return []
  const unframed = [...unframedAfter(state, command)]
  const changed = Object.keys(differing({ unframed }, { unframed: state.unframed ?? [] })).length > 0
  return changed ? [{ type: 'LinkFramingChecked', data: { id: command.id, unframed } }] : []
}

export const link: Decider<LinkCommand, Link, LinkEvent | Event<'ClaimFenced'>> = {
  kind: 'link',
  version: 11,
  id: ({ id }) => id,
  initialState: noLink,
  decide: decideBy<LinkCommand, Link, LinkEvent>({
    CreateLink: createLink,
    UpdateLink: updateLink,
    DeleteLink: deleteLink,
    ImportClicks: importClicks,
    AddAddress: decideAddAddress,
    DeleteAddress: decideDeleteAddress,
    RestoreLink: decideRestore,
    CheckFraming: checkFraming,
  }),
  evolve: evolveLink,
  claims: (_, events, state) => claimsOf(events as readonly LinkEvent[], state),
}
