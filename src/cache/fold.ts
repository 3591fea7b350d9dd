import { account as accounts } from '../commands/accounts/account.ts'
import { addressesOf } from '../commands/links/places.ts'
import { aliasKey } from '../lib/short/alias.ts'
import { bio } from '../commands/pages/bio.ts'
import { block } from '../commands/operator/block.ts'
import type { Decider } from '../commands/decider.ts'
import type { Handler } from '../commands/handle.ts'
import { link } from '../commands/links/link.ts'
import { overlay } from '../commands/pages/overlay.ts'
import type { Owned } from '../commands/owned/owned.ts'
import { pixel } from '../commands/pages/pixel.ts'
import { heirOf, memberOf } from '../commands/accounts/roster.ts'
import { team } from '../commands/accounts/team.ts'
import { splash } from '../commands/pages/splash.ts'
import { qr } from '../commands/qr/qr.ts'
import { ownMember } from '../events/accounts/team.ts'
import { entriesOf } from '../events/pages/bio.ts'
import { completed } from '../events/links/link.ts'
import type { DomainEvent } from '../events/index.ts'
import { parseStreamId } from '../events/streams.ts'
import type { KnownBlock } from '../queries/operator/block.ts'
import type { Membership } from '../queries/accounts/member.ts'
import type { KeyRow } from '../queries/accounts/key.ts'
import { qrPrefix } from '../queries/qr/qr.ts'
import { interstitialOf, type Parts, type PublicTarget, type Target } from '../queries/links/target.ts'

/** Returns a function that folds what a link shows from the streams of its splash page, overlay and pixels. */
export const foldParts =
  ({ load }: Handler) =>
  async ({ type, pixels, account }: Pick<Target, 'type' | 'pixels' | 'account'>): Promise<Parts> => {
    const open = async <C, F, E extends DomainEvent>(decider: Decider<C, Owned<F>, E>, id: number) => {
      const { state } = await load(decider, id)
      return state.status === 'open' && state.account === account ? { ...state.fields, id } : undefined
    }
    const { number } = parseStreamId(type)
    const openPixels = await Promise.all(pixels.map((id) => open(pixel, id)))
    return {
      splash: type.startsWith('splash-') ? await open(splash, number) : undefined,
      overlay: type.startsWith('overlay-') ? await open(overlay, number) : undefined,
      pixels: openPixels.flatMap((found) => found ?? []),
    }
  }

/** A link or page of an account that is disabled or erased is not served. */
const isActive = async ({ load }: Handler, account: number) => (await load(accounts, account)).state.status === 'active'

const dateOrNone = (time: string | null) => (time === null ? null : new Date(time))

const foldLink =
  (handler: Handler) =>
  async (id: number): Promise<readonly Target[]> => {
    const { state, revision, position } = await handler.load(link, id)
    const { status, account, password, unframed = [] } = state
    if (status !== 'open' || !(await isActive(handler, account))) return []
    const { notes: _, ...fields } = completed(state.fields)
    const folded = {
      ...fields,
      unframed,
      link: id,
      account,
      revision: Number(revision),
      position,
      password,
      expiry: dateOrNone(fields.expiry),
      starts: dateOrNone(fields.starts),
      interstitial: interstitialOf(fields, await foldParts(handler)({ ...fields, account })),
    }
    return addressesOf(state).map(({ address, domain, alias }) => ({
      ...folded,
      address,
      domain,
      aliasKey: aliasKey(alias),
    }))
  }

const foldBio =
  (handler: Handler) =>
  async (id: number): Promise<readonly PublicTarget[]> => {
    const { state, revision, position } = await handler.load(bio, id)
    const { status, account, fields } = state
    if (status !== 'open' || !(await isActive(handler, account))) return []
    const page = {
      ...fields,
      links: entriesOf(fields.links),
      bio: id,
      account,
      revision: Number(revision),
      position,
      domain: null,
      aliasKey: aliasKey(fields.alias),
    }
    return [page]
  }

const foldQr =
  (handler: Handler) =>
  async (id: number): Promise<readonly PublicTarget[]> => {
    const { state, revision, position } = await handler.load(qr, id)
    const { status, account, fields } = state
    if (status !== 'open' || !(await isActive(handler, account))) return []
    const { logo, ...shown } = fields
    const code = {
      ...shown,
      hasInlineLogo: logo !== null,
      qr: id,
      account,
      revision: Number(revision),
      position,
      domain: null,
      aliasKey: qrPrefix + fields.alias,
    }
    return [code]
  }

/** Folds what a person is in an account from the streams of both. */
export const foldMembership = async (
  { load }: Handler,
  account: number,
  person: number,
): Promise<Membership | undefined> => {
  const [{ state }, { state: owner }] = await Promise.all([load(team, account), load(accounts, account)])
  const found = memberOf(state, account, person)
  return found && owner.status !== 'none' ? { ...found, status: owner.status } : undefined
}

/** Folds who has made a key, and what they may do now. */
const foldMaker = async ({ load }: Handler, account: number, member: number | undefined) => {
  const own = { member: null, person: null, role: null, domains: null }
  if (member === undefined) return own
  const { state } = await load(team, account)
  const heir = heirOf(state, member)
  // of the account's own sign-in now, and no key that was made for it
  if (heir === ownMember) return { member: heir, person: account, role: 'owner' as const, domains: null }
  const { role = null, person = null, domains = null } = state.members[heir] ?? {}
  const maker = person === null ? undefined : (await load(accounts, person)).state
  const works = maker?.status === 'active' && !maker.deactivated
  return { member: heir, person, role: works ? role : null, domains }
}

/** Folds an API key from the stream of its account; undefined when it has ended. */
export const foldKey = async (handler: Handler, account: number, key: string): Promise<KeyRow | undefined> => {
  const { state } = await handler.load(accounts, account)
  const found = state.keys.keys.find((one) => one.key === key)
  if (!found || state.status === 'none') return undefined
  const { number, hash, scopes, expires, addresses } = found
  const { rateLimit } = state
  const maker = await foldMaker(handler, account, found.member)
  return {
    account,
    number,
    hash,
    scopes,
    addresses,
    status:
      (maker.member ?? ownMember) === ownMember && state.status === 'active' && state.deactivated
        ? 'disabled'
        : state.status,
    rateLimit,
    expires: expires === null ? null : new Date(expires),
    ...maker,
  }
}

/**
 * Folds the target of an id from its stream, once for each of its addresses, for each kind of stream that has public
 * ones. None: it was deleted.
 */
export const foldTargets = (
  handler: Handler,
): Readonly<Record<string, (id: number) => Promise<readonly PublicTarget[]>>> => ({
  link: foldLink(handler),
  bio: foldBio(handler),
  qr: foldQr(handler),
})

/** Folds what is blocked from its stream, by the id of the stream. */
export const foldBlock = async ({ load }: Handler, id: string): Promise<KnownBlock> => {
  const { state, position } = await load(block, id)
  return { ...state, position }
}
