import { expect } from 'chai'
import { TOTP } from 'otpauth'
import { account as accounts } from '../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../src/events/event.ts'
import { allScopes, Scope } from '../../src/events/accounts/scope.ts'
import { passkeyKey } from '../../src/commands/accounts/register.ts'
import { openOneTimeLinks } from '../../src/security/onetimelinks.ts'
import { handleOf } from '../../src/security/passkeys.ts'
import { newTotpSecret } from '../../src/security/secondfactor.ts'
import type { TestApp } from './app.ts'
import { type Answer, until } from './client.ts'
import { newAuthenticator } from './authenticator.ts'
import { inSeconds } from './clock.ts'
import { query } from './faults.ts'
import { postForm } from './forms.ts'
import { samePage, signIn } from './session.ts'

/** The credentials of an account. */
export type Credential =
  | 'password'
  | 'passkey'
  | 'session'
  | 'confirmed session'
  | 'second factor'
  | 'recovery code'
  | 'e-mail address'
  | 'one-time link'
  | 'first key'
  | `key ${Scope}`
  | `endless key ${Scope}`
  | 'webhook'
  | 'account webhook'
  | 'export'
  | 'membership'
  | "operator's view"

/** The accounts that differ in what a credential of theirs leads to. */
export const flavours = ['without a second factor', 'with a second factor', 'of an operator'] as const
type Flavour = (typeof flavours)[number]

const bothFactors = 'password and second factor'
/** What an attacker may have stolen: a credential, or two of them. */
type Start = Credential | typeof bothFactors

/** What is tried first. */
export const starts: readonly Start[] = [
  'password',
  bothFactors,
  'passkey',
  'session',
  'confirmed session',
  'second factor',
  'recovery code',
  'e-mail address',
  'one-time link',
  'first key',
  'membership',
  ...Scope.options.map((scope) => `key ${scope}` as const),
]

const [leaked, owners, thiefs] = ['leaked horse 1', 'correct horse 1', 'stolen horse 1']

/** Gives an account a passkey, and returns it. */
const addPasskey = async (app: TestApp, id: number) => {
  const { handler, keys } = app.app.ledger
  const passkey = newAuthenticator(new URL(app.app.baseUrl).origin)
  const added = {
    name: '',
    credential: passkey.id,
    publicKey: passkey.belongTo(handleOf(keys.service, id)),
    added: new Date().toISOString(),
    passkeyKey: passkeyKey(keys.service, passkey.id),
    passkeyToken: passkey.id,
  }
  await handler.handle(accounts, { type: 'AddPasskey', id, passkey: added }, systemMetadata(id))
  return passkey
}

/** An account with what may be stolen: of the limited keys, only the one that is. */
const prepare = async (app: TestApp, flavour: Flavour, start: Start) => {
  const { handler } = app.app.ledger
  const name = `ann-${Math.random().toString(36).slice(2, 10)}`
  const email = `${name}@example.com`
  const { json } = await app.post('/register', { body: { email, password: leaked } })
  const [id, key] = [Number(json['id']), String(json['api_key'])]
  const done = (answer: Answer) => {
    expect(answer.status, answer.text).to.equal(200)
    return answer
  }
  done(await app.put('/api/account/update', { key, body: { password: owners } }))
  const revision = Number((await app.get('/api/account', { key })).json['data'].revision)
  const scope = Scope.options.find((one) => start === `key ${one}`)
  let stolen: { readonly key: string; readonly id: number } | undefined
  if (scope) {
    // it was wider once
    const { json: made } = await app.post('/api/key/add', { key, body: { name: scope, scopes: [...allScopes] } })
    stolen = { key: String(made['key']), id: Number(made['id']) }
    const body = { scopes: [scope], expires: inSeconds(3600), addresses: ['127.0.0.0/8', '::1'] }
    await app.put(`/api/key/${stolen.id}/update`, { key, body })
  }
  const hook = (events: readonly string[]) =>
    app.post('/api/webhook/add', { key, body: { url: 'https://hooks.example.com/', events } })
  const hooks = [await hook(['ApiKeyAdded']), await hook(['ApiKeyAdded']), await hook(['LinkCreated'])]
  const [ofAccount, wasOfAccount, plain] = hooks.map((one) => Number(one.json['id']))
  await app.put(`/api/webhook/${wasOfAccount}/update`, { key, body: { events: ['LinkCreated'] } })
  const secret = newTotpSecret()
  const codeOf = (of: string) => new TOTP({ secret: of }).generate()
  let recovery: string[] = []
  if (flavour !== 'without a second factor') {
    const body = { secret, code: codeOf(secret), current_password: owners }
    recovery = done(await app.post('/api/account/totp', { key, body })).json['recovery_codes'] as string[]
  }
  if (flavour === 'of an operator') await handler.handle(accounts, { type: 'MarkOperator', id }, systemMetadata(id))
  const passkey = start === 'passkey' ? await addPasskey(app, id) : undefined
  return { id, key, email, passkey, stolen, hooks: { ofAccount, wasOfAccount, plain }, secret, recovery, revision }
}
type Victim = Awaited<ReturnType<typeof prepare>>

/** Sends a request with one credential. */
type Send = (method: string, path: string, body?: object) => Promise<Answer>

/** What a thief knows besides what has a place in a request. */
interface Known {
  password: string | undefined
  /** the secret of the second factor */
  secret: string | undefined
  recovery: string[]
}

/** Asks again when the service is too busy: what it refuses for that says nothing about rights. */
const patient = (app: TestApp): TestApp => {
  const ask: TestApp['ask'] = (...request) =>
    until(
      () => app.ask(...request),
      ({ status }) => status !== 503,
      120_000,
    )
  return {
    ...app,
    ask,
    get: (path, options) => ask('GET', path, options),
    post: (path, options) => ask('POST', path, options),
    put: (path, options) => ask('PUT', path, options),
    del: (path, options) => ask('DELETE', path, options),
  }
}

/** Returns what a thief gets who has one credential of an account, and tries everything with all that it leads to. */
export const walk = async (busy: TestApp, flavour: Flavour, start: Start): Promise<readonly Credential[]> => {
  const app = patient(busy)
  const victim = await prepare(app, flavour, start)
  const thief = thiefOf(app, victim)
  await thief.begin(start, flavour)
  for (;;) {
    const before = thief.held.size
    await thief.tryAll()
    if (thief.held.size === before) return [...thief.held].filter((one) => one !== start)
  }
}

const thiefOf = (app: TestApp, victim: Victim) => {
  const { id, email, hooks } = victim
  const held = new Set<Credential>()
  const senders: { readonly send: Send; readonly limited: boolean; readonly number?: number; readonly own?: false }[] =
    []
  const known: Known = { password: undefined, secret: undefined, recovery: [] }

  const byKey = (key: string, limited: boolean, number?: number) =>
    senders.push({
      send: (method, path, body) => app.ask(method, path, { key, ...(body && { body }) }),
      limited,
      ...(number !== undefined && { number }),
    })
  const enter = async (password: string, code?: string) => {
    const session = await signIn(app, email, password, code)
    senders.push({ send: session.ask, limited: false })
    return session
  }
  /** Signs in with a recovery code: one that a busy service has refused may be spent. */
  const enterByCode = async (password: string): ReturnType<typeof enter> =>
    enter(password, victim.recovery.pop()).catch((error: unknown) => {
      if (victim.recovery.length === 0) throw error
      return enterByCode(password)
    })
  /** Signs in with the passkey of the account. */
  const usePasskey = async () => {
    const cookieNamed = ({ headers }: Answer, name: string) =>
      headers
        .getSetCookie()
        .find((one) => one.startsWith(name))
        ?.split(';')[0] ?? ''
    const begun = await app.post('/api/session/passkey/begin', { headers: samePage(app.address) })
    const passkey = victim.passkey?.get(begun.json['options'] as never)
    const headers = samePage(app.address, cookieNamed(begun, 'linkledger_passkey'))
    const entered = await app.post('/api/session/passkey', { body: { passkey }, headers })
    expect(entered.status, entered.text).to.equal(200)
    const own = samePage(app.address, cookieNamed(entered, 'linkledger_session'))
    senders.push({
      send: (method, path, body) => app.ask(method, path, { headers: own, ...(body && { body }) }),
      limited: false,
    })
    held.add('confirmed session')
  }
  const holdKey = (answer: Answer, scopes: readonly Scope[], kind: 'key' | 'endless key') => {
    if (answer.status !== 200) return
    byKey(String(answer.json['key']), kind === 'key')
    for (const scope of scopes) held.add(`${kind} ${scope}`)
  }
  /** Returns a code that works now, if the thief can make one. */
  const code = async () => {
    await query(app.connection, `delete from state.second_factor_steps where account = ${id}`)
    return known.secret === undefined ? known.recovery[0] : new TOTP({ secret: known.secret }).generate()
  }
  const spend = () => {
    if (known.secret === undefined) known.recovery.shift()
  }
  const proof = async (codeField = 'code') => {
    const found = await code()
    return {
      ...(known.password !== undefined && { current_password: known.password }),
      ...(known.password !== undefined && found !== undefined && { [codeField]: found }),
    }
  }
  const learn = (password: string) => {
    known.password = password
    held.add('password')
  }

  const tryAccount = async (send: Send) => {
    if (!held.has('e-mail address')) {
      const moved = await send('PUT', '/api/account/update', { email: `x${email}`, ...(await proof()) })
      if (moved.status === 200) {
        spend()
        held.add('e-mail address')
        await send('PUT', '/api/account/update', { email, ...(await proof()) })
      }
    }
    for (const [method, path, body, then] of [
      ['PUT', '/api/account/update', { password: thiefs }, thiefs],
      ['POST', '/api/account/restore', { revision: 1 }, leaked],
    ] as const) {
      if (held.has('password')) return
      if ((await send(method, path, { ...body, ...(await proof()) })).status === 200) learn(then)
    }
  }
  const tryKeys = async (send: Send, number: number | undefined) => {
    for (const scope of Scope.options) {
      const endless = { name: 'x', scopes: [scope], expires: null, addresses: null }
      if (!held.has(`endless key ${scope}`))
        holdKey(await send('POST', '/api/key/add', endless), [scope], 'endless key')
      if (!held.has(`key ${scope}`) && !held.has(`endless key ${scope}`))
        holdKey(await send('POST', '/api/key/add', { name: 'x', scopes: [scope] }), [scope], 'key')
    }
    const all = allScopes.every((scope) => held.has(`endless key ${scope}`))
    if (all) return
    const rotated = await send('POST', '/api/key/1/rotate', {})
    holdKey(rotated, allScopes, 'endless key')
    const wide = { scopes: [...allScopes], expires: null, addresses: null }
    for (const one of number === undefined ? [] : [number])
      for (const [method, path, body] of [
        ['PUT', `/api/key/${one}/update`, wide],
        ['POST', `/api/key/${one}/restore`, { revision: victim.revision + 1 }],
      ] as const)
        if ((await send(method, path, body)).status === 200)
          allScopes.forEach((scope) => held.add(`endless key ${scope}`))
  }
  const tryWebhooks = async (send: Send) => {
    const url = 'https://thief.example.com/'
    const attempts: readonly (readonly [Credential, string, string, object])[] = [
      ['webhook', 'POST', '/api/webhook/add', { url }],
      ['account webhook', 'POST', '/api/webhook/add', { url, events: ['ApiKeyAdded'] }],
      ['account webhook', 'PUT', `/api/webhook/${hooks.plain}/update`, { events: ['ApiKeyAdded'] }],
      ['account webhook', 'PUT', `/api/webhook/${hooks.ofAccount}/update`, { url }],
      ['account webhook', 'POST', `/api/webhook/${hooks.ofAccount}/rotate`, {}],
      ['account webhook', 'POST', `/api/webhook/${hooks.wasOfAccount}/restore`, { revision: 0 }],
    ]
    for (const [gets, method, path, body] of attempts)
      if (!held.has(gets) && (await send(method, path, body)).status === 200) held.add(gets)
  }
  const tryExport = async (send: Send) => {
    if (!held.has('export') && (await send('GET', '/api/account/export')).status === 200) held.add('export')
  }
  /** Invites an admin, who stays a member after the credential has ended. */
  const tryInviting = async (send: Send) => {
    if (held.has('membership')) return
    const invited = await send('POST', '/api/member/invite', { role: 'admin' })
    if (invited.status !== 200) return
    const own = `x-${email}`
    await app.post('/register', { body: { email: own, password: thiefs } })
    const session = await signIn(app, own, thiefs)
    const token = new URL(String(invited.json['link'])).searchParams.get('t')
    const joined = await session.ask('POST', '/api/invitation/accept', { token })
    expect(joined.status, joined.text).to.equal(200)
    const inAccount = { 'Linkledger-Account': String(id) }
    senders.push({
      send: (method, path, body) => session.ask(method, path, body, inAccount),
      limited: false,
      own: false,
    })
    held.add('membership')
  }
  const tryOthers = async (send: Send) => {
    if ((await send('GET', '/api/operator/accounts')).status === 200) held.add("operator's view")
    if (!held.has('second factor')) {
      const secret = newTotpSecret()
      const own = new TOTP({ secret }).generate()
      const given = { current_password: 'unknown', ...(await proof('current_code')) }
      const answer = await send('POST', '/api/account/totp', { secret, code: own, ...given })
      if (answer.status === 200) {
        known.secret = secret
        known.recovery = answer.json['recovery_codes'] as string[]
        held.add('second factor').add('recovery code')
      }
    }
    if (!held.has('passkey') && (await send('POST', '/api/passkey/begin', await proof())).status === 200) {
      spend()
      held.add('passkey')
    }
    if (!held.has('confirmed session') && known.password !== undefined) {
      const found = await code()
      const body = { password: known.password, ...(found !== undefined && { code: found }) }
      if ((await send('POST', '/api/session/confirm', body)).status === 200) {
        spend()
        held.add('confirmed session')
      }
    }
  }
  const trySignIn = async () => {
    if (held.has('confirmed session') || known.password === undefined) return
    const found = await code()
    const body = { email, password: known.password, ...(found !== undefined && { code: found }) }
    const answer = await app.post('/api/session', { body, headers: samePage(app.address) })
    if (answer.status !== 200) return
    await enter(known.password, await code())
    held.add('confirmed session')
  }
  /** Who reads the mails of an account asks for a link. */
  const tryLink = async () => {
    if (held.has('e-mail address')) held.add('one-time link')
    if (!held.has('one-time link') || known.password !== undefined) return
    const { db, keys } = app.app.ledger
    const token = await openOneTimeLinks(db, keys.service).issue('password', { account: id, content: {} }, 3600)
    const answer = await postForm(`${app.address}/account/password`, { t: token, password: thiefs })
    if (answer.status === 200) learn(thiefs)
  }

  return {
    held,
    begin: async (start: Start, flavour: Flavour) => {
      if (start !== bothFactors) held.add(start)
      const hasFactor = flavour !== 'without a second factor'
      switch (start) {
        case 'password':
          known.password = owners
          break
        case bothFactors:
          learn(owners)
          held.add('second factor')
          known.secret = hasFactor ? victim.secret : undefined
          break
        case 'session':
        case 'confirmed session': {
          const session = await (hasFactor ? enterByCode(owners) : enter(owners))
          if (start === 'session')
            await query(
              app.connection,
              `update state.sessions set confirmed_at = now() - interval '11 minutes' where id = ${session.id}`,
            )
          break
        }
        case 'second factor':
          known.secret = victim.secret
          break
        case 'recovery code':
          known.recovery = victim.recovery
          break
        case 'passkey':
          await usePasskey()
          break
        case 'membership':
          held.delete('membership')
          await tryInviting((method, path, body) => app.ask(method, path, { key: victim.key, ...(body && { body }) }))
          break
        case 'first key':
          byKey(victim.key, false, 1)
          break
        default:
          if (victim.stolen) byKey(victim.stolen.key, true, victim.stolen.id)
      }
    },
    tryAll: async () => {
      await tryLink()
      await trySignIn()
      for (const { send, number, own } of [...senders]) {
        await tryKeys(send, number)
        await tryWebhooks(send)
        await tryExport(send)
        // what a member changes of a sign-in is their own
        if (own === false) continue
        await tryOthers(send)
        await tryAccount(send)
        await tryInviting(send)
      }
    },
  }
}
