import { z } from 'zod'
import type { EventOf } from '../event.ts'
import { Personal, Secret } from '../../security/seal.ts'
import { openEnum } from '../openenum.ts'
import type { SealedGroup } from '../owned.ts'
import { Exclusions } from '../statistics/exclusions.ts'
import { Scope } from './scope.ts'

const id = z.int()

/** The number and the name of the key of `ApiKeyIssued`. */
export const mainKey = { number: 1, name: 'Main key' } as const

/** `key` is a key's public id, `hash` the keyed hash of its secret. */
const secret = { key: z.string(), hash: z.string() }
/** null: never */
const expires = z.iso.datetime().nullable()
const keyFields = {
  name: z.string(),
  scopes: z.array(openEnum(Scope)),
  expires,
  /**
   * the networks that the key may be used from, separated by spaces; null: any. Sealed: it may be the address of a
   * person.
   */
  addresses: Secret,
}

export const accountEvents = {
  /** `password` is an scrypt hash. The tokens belong to the claims of the e-mail address and the username. */
  AccountRegistered: z.object({
    id,
    email: Personal,
    username: Personal,
    password: Personal,
    emailToken: z.string(),
    usernameToken: z.string(),
  }),
  /**
   * A person has signed in with an issuer for the first time. The account has neither a password nor a first API key,
   * and no e-mail address when `email` is null. `IdentityAdded` follows.
   */
  AccountRegisteredByIdentity: z.object({
    id,
    email: Personal,
    username: Personal,
    emailToken: z.string().nullable(),
    usernameToken: z.string(),
  }),
  /** A team account, which has no sign-in of its own: its members act in it. `TeamStarted` names the first one. */
  AccountAdded: z.object({ id, username: Personal, usernameToken: z.string() }),
  /**
   * The account becomes a team account: its address, password, second factor, identities and passkeys sign in to it no
   * more; it keeps its username. The keys with these numbers, which its own sign-in had created, belong to `member`
   * from then on.
   */
  AccountSignInEnded: z.object({ id, member: id, keys: z.array(id), usernameToken: z.string() }),
  /** `to`, here and below: the revision whose value it has again. */
  AccountEmailChanged: z.object({ id, email: Personal, emailToken: z.string(), to: id.optional() }),
  AccountPasswordChanged: z.object({ id, password: Personal, to: id.optional() }),
  /** `timezone` is a name in the tz database. */
  AccountTimezoneSet: z.object({ id, timezone: Personal, to: id.optional() }),
  /** Replaces all API keys of the account by one, number 1, with all scopes. */
  ApiKeyIssued: z.object({ id, ...secret, expires }),
  /** `number` is the key's id within the account; it replaces another key when that one is rotated. */
  ApiKeyAdded: z.object({ id, number: id, ...secret, ...keyFields, replaces: id.optional() }),
  /**
   * Like `ApiKeyAdded`, for a key that a member creates: it has at most the rights of the member's role, also later. A
   * type of its own, because an older release would give it all of its scopes.
   */
  ApiKeyAddedByMember: z.object({ id, number: id, member: id, ...secret, ...keyFields, replaces: id.optional() }),
  /** Only fields whose value changes. */
  ApiKeyUpdated: z.object({
    id,
    number: id,
    to: id.optional(),
    name: keyFields.name.optional(),
    scopes: keyFields.scopes.optional(),
    expires: expires.optional(),
    addresses: keyFields.addresses.optional(),
  }),
  ApiKeyDeleted: z.object({ id, number: id }),
  /**
   * `secret` is that of an authenticator app, `recoveryHashes` the keyed hashes of the recovery codes, separated by
   * spaces.
   */
  SecondFactorAdded: z.object({ id, secret: Secret, recoveryHashes: Secret }),
  /** `hash` is that of the recovery code. */
  RecoveryCodeUsed: z.object({ id, hash: z.string() }),
  SecondFactorRemoved: z.object({ id }),
  /**
   * The person whom an issuer calls `subject` can sign in to the account. `number` is the id of the identity within the
   * account, `name` the issuer's name for the person. The token belongs to the claim on issuer and subject.
   */
  IdentityAdded: z.object({
    id,
    number: id,
    issuer: Personal,
    subject: Personal,
    name: Personal,
    identityToken: z.string(),
    /** a verified e-mail address led to the account, without a link from a signed-in session */
    byEmail: z.literal(true).optional(),
  }),
  IdentityRemoved: z.object({ id, number: id }),
  /**
   * The holder of this key pair in a browser or a phone (WebAuthn) can sign in to the account. `number` is the id of
   * the passkey within the account, `credential` its credential id, `publicKey` its public key in COSE; both are
   * base64url. The token belongs to the claim on `credential`.
   */
  PasskeyAdded: z.object({
    id,
    number: id,
    name: Personal,
    credential: Personal,
    publicKey: Personal,
    passkeyToken: z.string(),
    added: z.iso.datetime(),
  }),
  PasskeyRenamed: z.object({ id, number: id, name: Personal }),
  PasskeyRemoved: z.object({ id, number: id }),
  /** `limit`: requests per minute, 0 = unlimited, null = that of the service. */
  AccountRateLimitSet: z.object({ id, limit: z.int().nullable() }),
  /** Visits that the account does not count as clicks. Reclassifications use the value at their time. */
  AccountExclusionsSet: z.object({ id, exclusions: Exclusions, to: id.optional() }),
  /** The account may do on the dashboard what an operator does there, until it is unmarked. */
  AccountOperatorMarked: z.object({ id }),
  AccountOperatorUnmarked: z.object({ id }),
  /**
   * Whether the groups of the account's person make it an operator. A mark that was given by hand stays. A type of its
   * own, because an older release would take it for a mark by hand.
   */
  AccountOperatorManaged: z.object({ id, managed: z.boolean() }),
  AccountDisabled: z.object({ id }),
  AccountEnabled: z.object({ id }),
  /**
   * The directory of an organization (SCIM) has ended the access of the account's person: they can no longer sign in or
   * use the keys that they created. What they created stays.
   */
  AccountDeactivated: z.object({ id }),
  AccountReactivated: z.object({ id }),
  /** The owner wants the account erased at `due`, and may cancel it until then. */
  AccountErasureScheduled: z.object({ id, due: z.iso.datetime() }),
  AccountErasureCancelled: z.object({ id }),
  /** Irreversible: the account's data key is destroyed, so its sealed fields can never be read again. */
  AccountErased: z.object({ id }),
  /**
   * No file of the database contains the stored data of the account, nor its key. `wal`: neither does the write-ahead
   * log, which the service can renew on its embedded server only.
   */
  AccountErasedOnDisk: z.object({ id, wal: z.boolean() }),
}
const blankKey = { name: '' }
/** A changed name stays there as a blank one: release 0.1.0 halts at a change of a key that changes nothing. */
export const keyTexts = {
  ApiKeyAdded: { blank: blankKey },
  ApiKeyAddedByMember: { blank: blankKey },
  ApiKeyUpdated: { blank: blankKey },
} as const satisfies Readonly<Record<string, SealedGroup>>
export type AccountEvent = EventOf<typeof accountEvents>
