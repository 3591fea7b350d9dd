import { randomUUID } from 'node:crypto'
import type { Place } from '../../commands/links/places.ts'
import { isExact } from '../../lib/short/alias.ts'
import { spelledOn, withRandomAlias } from '../../commands/links/alias.ts'
import { claimToken } from '../../commands/links/brought.ts'
import { isFramed, link, type LinkCommand } from '../../commands/links/link.ts'
import type { Link } from '../../commands/links/state.ts'
import { defined } from '../../lib/defined.ts'
import type { Reading, Writer } from '../api/route.ts'
import { rejectBlockedAlias } from '../api/blockedaddress.ts'
import { Proposed } from '../approvals/guard.ts'
import { aliasOn, isExactOn, short, siteOf } from './address.ts'
import { type LinkChecks, rejectGainedPlaces } from './allowed.ts'
import { type LinkBody, type LinkChanges, sentFields } from './body.ts'
import { applyChannel } from './assigned.ts'
import { deletedAnswer } from '../api/owned.ts'
import { linkOwner, type Turn } from '../../security/passwords.ts'

export const label = 'Link'

/** What links are written with. */
export interface LinkWriting extends LinkChecks {
  /** Asks the destinations of framed links whether they can be framed. */
  readonly frameChecks: { readonly checkSoon: (link: { readonly id: number; readonly account: number }) => void }
  /** Hashes the new password of an account or a link. */
  readonly hashNewPassword: (password: string, turn: Turn) => Promise<string>
}

type Hash = (password: string) => Promise<string>
const passwordOf = async ({ password }: Pick<LinkBody, 'password'>, hash: Hash) =>
  password === undefined ? {} : { password: password === null ? null : await hash(password) }

/** Who writes links: what a link is in is read from the tables. */
export type LinkWriter = Writer & Reading

/** Called when a link was written: only one that frames its destination has anything to check. */
export const checkFraming = (
  id: number,
  { account, fields }: Link,
  { frameChecks }: Pick<LinkWriting, 'frameChecks'>,
) => {
  if (isFramed(fields.type)) frameChecks.checkSoon({ id, account })
}

/** Where a link comes from: when it was made there, what was counted there, and the import that brings it. */
export type Origin = Pick<Extract<LinkCommand, { type: 'CreateLink' }>, 'created' | 'import' | 'imported'>

/** Creates a link, under a random alias unless the body has one. Returns the answer. */
export const addLink = async (
  caller: LinkWriter,
  body: LinkBody,
  services: LinkWriting,
  hash: Hash = (password) => services.hashNewPassword(password, linkOwner(caller.account)),
  origin: Origin = {},
) => {
  const { account, create } = caller
  const given = { ...link.initialState.fields, ...(await sentFields(body, caller, services)) }
  const spelled = (alias: string) => aliasOn(given.domain, alias, services)
  if (given.alias)
    rejectBlockedAlias('custom', { site: siteOf(given, services), alias: spelled(given.alias) }, services)
  const { password = null } = await passwordOf(body, hash)
  const token = claimToken(origin.import)
  const make = (alias: string) =>
    create('link', link, (id) => ({
      type: 'CreateLink' as const,
      id,
      account,
      fields: { ...given, alias: spelled(alias) },
      password,
      token,
      now: new Date().toISOString(),
      ...origin,
    }))
  const { id, state, revision } = given.alias ? await make(given.alias) : await withRandomAlias(make)
  checkFraming(id, state, services)
  if (body.channel) await applyChannel(caller, id, body.channel)
  const address = short(state.fields, services)
  return { id, shorturl: address, short: address, revision }
}

/** Fails with 400 when a link may not get an address, as `rejectGainedPlaces` says. */
export const rejectBlockedPlace = async (
  { account, load }: LinkWriter,
  id: number,
  placeOf: (fields: Place) => Place,
  services: LinkWriting,
) => {
  const { state } = await load(link, id)
  // of another account's link, nothing must be said
  if (state.account !== account || state.status !== 'open') return
  rejectGainedPlaces(id, state, [placeOf(state.fields)], services)
}

/** Changes the fields of a link that the body has. Returns the answer. */
export const updateLink = async (
  caller: LinkWriter,
  id: number,
  body: LinkChanges,
  services: LinkWriting,
  hash: Hash = (password) => services.hashNewPassword(password, linkOwner(caller.account)),
) => {
  const { account, write } = caller
  const changes = await sentFields(body, caller, services)
  const { alias, domain } = changes
  const exact = domain === undefined ? undefined : isExactOn(domain, services)
  if (alias !== undefined || domain !== undefined)
    await rejectBlockedPlace(
      caller,
      id,
      (fields) => ({
        domain: domain === undefined ? fields.domain : domain,
        alias: spelledOn(exact ?? isExact(fields.alias), alias ?? fields.alias),
      }),
      services,
    )
  const password = await passwordOf(body, hash)
  const { state, revision } = await write(link, {
    type: 'UpdateLink',
    id,
    account,
    changes,
    ...defined({ exact }),
    ...password,
    token: randomUUID(),
    keepsOld: body.keep_old ?? true,
    now: new Date().toISOString(),
  }).catch(async (error: unknown) => {
    if (!(error instanceof Proposed)) throw error
    const address = short((await caller.load(link, id)).state.fields, services)
    throw new Proposed(error.proposal, { id, short: address, shorturl: address })
  })
  checkFraming(id, state, services)
  await applyChannel(caller, id, body.channel)
  const address = short(state.fields, services)
  return { id, short: address, shorturl: address, revision }
}

/** Deletes a link. Returns the answer. */
export const deleteLink = async ({ account, write }: Writer, id: number) => {
  await write(link, { type: 'DeleteLink', id, account })
  return deletedAnswer('link', id)
}
