import { account } from '../../../commands/accounts/account.ts'
import { refuse } from '../../../commands/decider.ts'
import { claimedEmail } from '../../../commands/accounts/register.ts'
import { utc } from '../../../lib/zone.ts'
import { unreadable } from '../../../security/seal.ts'
import { fail, requirePasswords } from '../../api/errors.ts'
import { byId } from '../../api/fields.ts'
import { endpoint, type Route } from '../../api/route.ts'
import { accountFieldsOf, keyFieldsOf } from '../fields.ts'
import { ownKeyOrEnded } from '../routes.ts'
import { type AccountServices, given } from '../../accounts/account.ts'
import { beforeChange } from '../../accounts/key.ts'
import { formerState, notRestored, restore, RestoreBody, type RestoreServices } from './restore.ts'
import { restoreContract } from '../contract/history.ts'

/** What the restore of an account needs. */
export interface AccountRestoreServices
  extends
    RestoreServices,
    Pick<AccountServices, 'links' | 'mails' | 'passwordSignIn' | 'pepper' | 'sessions' | 'stepUps'> {}

const accountRoute = (services: AccountRestoreServices) =>
  endpoint(restoreContract, 'POST /api/account/restore', {
    single: true,
    scope: 'account',
    person: true,
    body: RestoreBody.safeExtend(given),
    run: async (call) => {
      const { account: id, body, lang, load, session } = call
      const { links, mails, pepper, sessions, stepUps } = services
      const { state: before } = await load(account, id)
      const former = await formerState(account, id, call, services, ({ status }) => status !== 'none')
      const { email, password, timezone, exclusions, secondFactor } = former?.state ?? before
      const moved = email !== null && email !== before.email
      const hash = password === unreadable || password === before.password ? null : password
      const dryRun = body.dryRun ?? false
      if (hash !== null) requirePasswords(services)
      // a former password may be one that has leaked
      if ((moved || hash !== null) && !dryRun) await stepUps.require('account', call, body)
      // before the change: it is sent once the change has happened, and lost by no crash
      if (mails && hash !== null && !dryRun) await mails.order({ kind: 'passwordChanged', lang, password: hash }, id)
      const answer = await restore(call, services, {
        kind: 'account',
        before,
        // the rest belongs to the operator, or has its own routes
        fields: (state) => {
          const { email: address, password: secret, timezone: zone, exclusions: excluded } = accountFieldsOf(state)
          return { email: address, password: secret, timezone: zone, exclusions: excluded }
        },
        isDeleted: () => false,
        dryRun,
        write: ({ write }) =>
          write(account, {
            type: 'UpdateAccount',
            id,
            ...(former && { to: former.revision }),
            ...(moved && !mails ? { email: claimedEmail(pepper, email) } : {}),
            ...(hash === null ? {} : { password: hash }),
            ...(timezone === unreadable ? {} : { timezone: timezone ?? utc }),
            exclusions,
          }),
        lost: () => [
          ...(moved && mails ? [notRestored('email', { what: 'email' })] : []),
          ...(password === unreadable ? [notRestored('password', { what: 'erased' })] : []),
          // a key alone does not change how its owner signs in
          ...((secondFactor === null) === (before.secondFactor === null)
            ? []
            : [notRestored('totp', { what: 'totp' })]),
        ],
      })
      // a link to reset the password before must not replace this one
      if (hash !== null && !dryRun) {
        await links.end(id)
        await sessions.keepWith(id, before, hash, session)
      }
      return answer
    },
  })

const keyRoute = (services: AccountRestoreServices) =>
  endpoint(restoreContract, 'POST /api/key/:id/restore', {
    scope: 'account',
    params: byId,
    owner: ownKeyOrEnded,
    body: RestoreBody,
    run: async (call) => {
      const { account: id, body, load, params, key, session } = call
      const { state: before } = await load(account, id)
      const find = ({ keys: { keys } }: typeof before) => keys.find(({ number }) => number === params.id)
      if (!find(before)) fail(409, 'not_restorable', { what: 'key' })
      const former = await formerState(account, id, call, services, (state) => find(state) !== undefined)
      const was = find(former?.state ?? before) ?? refuse('not_found', { what: 'key' })
      const now = new Date().toISOString()
      const expired = was.expires !== null && was.expires <= now && was.expires !== find(before)?.expires
      const { name, scopes, expires, addresses } = was
      const changes = {
        name,
        scopes,
        ...(expired ? {} : { expires }),
        ...(addresses === unreadable ? {} : { addresses }),
      }
      if (!body.dryRun) await beforeChange(call, params.id, changes, services)
      return restore(call, services, {
        kind: 'account',
        label: 'API key',
        before,
        fields: (state) => keyFieldsOf(state, params.id),
        isDeleted: () => false,
        dryRun: body.dryRun ?? false,
        write: ({ write }) =>
          write(account, {
            type: 'UpdateKey',
            id,
            // the owner, who is signed in, has all rights
            by: session === undefined ? (key?.key ?? '') : undefined,
            now,
            number: params.id,
            changes,
            ...(former && { to: former.revision }),
          }),
        lost: () => (expired ? [notRestored('expires', { what: 'expires' })] : []),
      })
    },
  })

export const accountRestoreRoutes = (services: AccountRestoreServices): readonly Route[] => [
  accountRoute(services),
  keyRoute(services),
]
