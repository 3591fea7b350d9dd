import { z } from 'zod'
import type { Auth } from '../../cache/auth.ts'
import { account } from '../../commands/accounts/account.ts'
import type { Account } from '../../commands/accounts/state.ts'
import type { Caller } from '../../commands/caller.ts'
import { isRefused, refuse } from '../../commands/decider.ts'
import { countRevision } from '../../commands/load.ts'
import { heirOf } from '../../commands/accounts/roster.ts'
import { team } from '../../commands/accounts/team.ts'
import { ownMember } from '../../events/accounts/team.ts'
import { widens } from '../../commands/accounts/key.ts'
import type { Recorded } from '../../events/event.ts'
import { defined } from '../../lib/defined.ts'
import { must, says, text, timestamp } from '../../lib/fields.ts'
import { networksIn } from '../../lib/networks.ts'
import { listKeys, type ListedKey } from '../../queries/accounts/key.ts'
import { keyIdOf, newKey, publicPart } from '../../security/apikeys.ts'
import { byId } from '../api/fields.ts'
import { list, listQuery } from '../api/list/list.ts'
import { endpoint, type Call, type Route } from '../api/route.ts'
import { deletedForGood } from '../api/owned.ts'
import { keyFields } from './fields.ts'
import { apiKeys, keyContract } from './contract/key.ts'
import { leadsOn, type StepUps } from './credentials.ts'
import type { Mails } from './mails.ts'

/** What the routes of API keys need. */
export interface KeyServices {
  /** undefined without SMTP_URL */
  readonly mails: Mails | undefined
  readonly stepUps: Pick<StepUps, 'require'>
  readonly auth: Pick<Auth, 'holderOf'>
  /** 32 bytes for keyed hashes */
  readonly pepper: Buffer
}

const day = 86_400
const [defaultOverlap, longestOverlap] = [day, 30 * day]

const overlap = z
  .int(must('wrong_type', { what: 'seconds' }))
  .min(0, says('too_small', { what: 'seconds', min: 0 }))
  .max(longestOverlap, says('too_large', { what: 'seconds', max: longestOverlap, days: 30 }))
  .default(defaultOverlap)

const present = (
  { number, key, name, scopes, expires, addresses, issued, used, member, role, maker }: ListedKey,
  current?: string,
) => ({
  id: number,
  name,
  key: `${publicPart(key)}…`,
  scopes,
  expires: expires ? timestamp(expires) : '',
  addresses: addresses === null ? [] : networksIn(addresses),
  date: timestamp(issued),
  lastused: used ? timestamp(used) : '',
  current: key === current,
  // keys of the account's own sign-in are as they were
  ...(member !== null && { member: { id: member, name: maker ?? '', role: role ?? '' } }),
})

/** Returns the id of a key that a command has made. */
const numberOf = ({ keys: { keys } }: Account, keyId: string) => keys.find(({ key }) => key === keyId)?.number ?? 0

/** The `owner` check of a route whose path contains the id of a key. */
const ownKey = async (call: Pick<Caller, 'account' | 'load'> & { readonly params: { id: number } }) => {
  if ((await keyOf(call, call.params.id)).key === undefined) refuse('not_found', { what: 'key' })
}

/** Returns a key of the account, if it has it, and the revision of the account. */
const keyOf = async ({ account: id, load }: Pick<Caller, 'account' | 'load'>, wanted?: number) => {
  const { state, revision } = await load(account, id)
  return { key: state.keys.keys.find(({ number }) => number === wanted), after: countRevision(revision) }
}

/**
 * Before a key is changed: where that widens it, asks for the confirmation that it needs, and tells the owner once it
 * has happened.
 */
export const beforeChange = async (
  call: Call,
  number: number,
  changes: Parameters<typeof widens>[1],
  { mails, stepUps }: Pick<KeyServices, 'mails' | 'stepUps'>,
) => {
  const { key, after } = await keyOf(call, number)
  if (key === undefined || !widens(key, changes)) return
  const { scopes, expires, addresses: networks } = { ...key, ...defined(changes) }
  if (leadsOn(scopes)) await stepUps.require('keys', call)
  const rights = { scopes: [...scopes], expires, addresses: networks }
  await mails?.order({ kind: 'keyWidened', lang: call.lang, after, key: key.key, rights }, call.account)
}

/** Returns who sends a command about keys, and when. */
const sender = ({ account: id, key, member, session }: Pick<Call, 'account' | 'key' | 'member' | 'session'>) => ({
  id,
  member: member?.number,
  // who is signed in has all rights; keys of a member have theirs at most
  by: session === undefined ? (key?.key ?? '') : undefined,
  now: new Date().toISOString(),
})

/** Another request was faster. The answer must not show that the key existed. */
const ignoreGone = (error: unknown) => {
  if (!isRefused(error, 'not_found')) throw error
}

/** Returns when an earlier execution has stored the events of a command. */
const storedAt = (events: readonly object[]) =>
  (events as readonly Partial<Pick<Recorded<object>, 'metadata'>>[])[0]?.metadata?.at

const message = 'This is the only time that the key is shown.'

const ownList = endpoint(keyContract, 'GET /api/keys', {
  scope: ['account', 'audit'],
  query: listQuery(apiKeys),
  run: (call) =>
    list(
      apiKeys,
      call,
      (request) => listKeys(call.reader, call.account, request),
      (row) => present(row, call.key?.key),
    ),
})

const add = ({ mails, pepper, stepUps }: KeyServices) =>
  endpoint(keyContract, 'POST /api/key/add', {
    scope: 'account',
    secret: true,
    body: z.object(keyFields),
    run: async (call) => {
      if (leadsOn(call.body.scopes)) await stepUps.require('keys', call)
      const { key, hash, id: keyId } = newKey(pepper, await call.seed())
      const { after } = await keyOf(call)
      // before the change: it is sent once the change has happened, and lost by no crash
      await mails?.order({ kind: 'keyAdded', lang: call.lang, after, key: keyId }, call.account)
      const { state } = await call.write(account, {
        type: 'AddKey',
        ...sender(call),
        ...call.body,
        apiKey: { key: keyId, hash },
      })
      return { id: numberOf(state, keyId), key, message }
    },
  })

const update = (services: KeyServices) =>
  endpoint(keyContract, 'PUT /api/key/:id/update', {
    scope: 'account',
    params: byId,
    owner: ownKey,
    body: z.object(keyFields).partial(),
    run: async (call) => {
      const { params, body } = call
      await beforeChange(call, params.id, body, services)
      await call.write(account, { type: 'UpdateKey', ...sender(call), number: params.id, changes: body })
      return { message: 'API key has been updated.' }
    },
  })

const rotate = ({ mails, pepper, stepUps }: KeyServices) =>
  endpoint(keyContract, 'POST /api/key/:id/rotate', {
    scope: 'account',
    secret: true,
    params: byId,
    // an earlier execution of the request may have ended the key
    owner: async (call) => (call.resumed ? undefined : ownKey(call)),
    body: z.object({ overlap }),
    run: async (call) => {
      const { params, body } = call
      const { key: before, after } = await keyOf(call, params.id)
      const heir = before?.member && heirOf((await call.load(team, call.account)).state, before.member)
      const holder = heir === ownMember ? undefined : heir
      if (before && leadsOn(before.scopes)) await stepUps.require('keys', call)
      const { key, hash, id: keyId } = newKey(pepper, await call.seed())
      // before the change: it is sent once the change has happened, and lost by no crash
      if (before) await mails?.order({ kind: 'keyAdded', lang: call.lang, after, key: keyId }, call.account)
      const sent = sender(call)
      const until = new Date(Date.parse(sent.now) + body.overlap * 1000).toISOString()
      const { state, events } = await call.write(account, {
        type: 'RotateKey',
        ...sent,
        number: params.id,
        holder: holder === ownMember ? undefined : holder,
        apiKey: { key: keyId, hash },
        until,
      })
      const old = state.keys.keys.find(({ number }) => number === params.id)
      const expires = timestamp(old?.expires ?? storedAt(events) ?? until)
      return { id: numberOf(state, keyId), key, old: { id: params.id, expires }, message }
    },
  })

const remove = endpoint(keyContract, 'DELETE /api/key/:id/delete', {
  scope: 'account',
  params: byId,
  run: async ({ account: id, params, write }) => {
    await write(account, { type: 'DeleteKey', id, number: params.id })
    return deletedForGood('API key', 'create a new one')
  },
})

// public: it needs no other key, it works from any address, and requests with a leaked key cannot use up its limit
const revoke = ({ auth }: KeyServices) =>
  endpoint(keyContract, 'POST /api/key/revoke', {
    public: true,
    body: z.object({
      key: text(255)
        .trim()
        .refine((key) => keyIdOf(key) !== undefined, says('wrong_form', { what: 'key' })),
    }),
    run: async ({ body, onBehalfOf }) => {
      const holder = await auth.holderOf(body.key)
      if (holder)
        await onBehalfOf(holder)
          .write(account, { type: 'DeleteKey', id: holder.account, number: holder.number })
          .catch(ignoreGone)
      return { message: 'The key does not work any more.' }
    },
  })

export const keyRoutes = (services: KeyServices): readonly Route[] => [
  ownList,
  add(services),
  update(services),
  rotate(services),
  remove,
  revoke(services),
]
