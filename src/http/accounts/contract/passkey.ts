import { z } from 'zod'
import { type Answer, type AnswerOf, type Contract, count, done, id, success, text, time } from '../../api/contract.ts'
import { timeOrNever } from './key.ts'

const row = z
  .object({
    id,
    name: text.meta({ examples: ['Ann’s phone'] }),
    date: time.describe('when it was added'),
    lastused: timeOrNever.describe('empty: not used yet'),
    current: z.boolean().describe('whether it has opened the session that asks'),
  })
  .meta({ id: 'Passkey' })
export type Passkey = Answer<typeof row>

const challenge = text.meta({ examples: ['Yv0m0qGmWmUqKjC0oTt3T1x4s3mC4rT6l2o6Zl2cJkA'] })
const host = text.describe('the host of `BASE_URL`').meta({ examples: ['go.example.com'] })
const credentials = z.array(z.object({ id: text, type: z.literal('public-key') }))
const timeout = count.describe('ms').meta({ examples: [300_000] })
const required = z.literal('required')

const begun = success({
  options: z
    .object({ challenge, rpId: host, timeout, userVerification: required, allowCredentials: credentials })
    .describe('for `PublicKeyCredential.parseRequestOptionsFromJSON` and `navigator.credentials.get`'),
})

const adding = z
  .object({
    challenge,
    rp: z.object({ id: host, name: text.meta({ examples: ['Linkledger go.example.com'] }) }),
    user: z.object({
      id: text.describe('by which an authenticator knows the account'),
      name: text.meta({ examples: ['ann@example.com'] }),
      displayName: text.meta({ examples: ['ann'] }),
    }),
    pubKeyCredParams: z.array(z.object({ alg: z.int(), type: z.literal('public-key') })),
    timeout,
    attestation: z.literal('none'),
    authenticatorSelection: z.object({
      residentKey: required,
      requireResidentKey: z.literal(true),
      userVerification: required,
    }),
    excludeCredentials: credentials,
  })
  .describe('for `PublicKeyCredential.parseCreationOptionsFromJSON` and `navigator.credentials.create`')

/** What a body may have in place of a code. */
export const passkeyForCode = 'in place of `code`: the answer of a passkey to `POST /api/session/confirm/passkey/begin`'
const used = {
  id: 'q1Xo4YyT6hJpB0dVn2mUew',
  rawId: 'q1Xo4YyT6hJpB0dVn2mUew',
  type: 'public-key',
  response: {
    clientDataJSON: 'eyJ0eXBlIjoi…',
    authenticatorData: 'SZYN5YgOjGh0…',
    signature: 'MEUCIQDm…',
    userHandle: 'Zk1…',
  },
}
const made = { ...used, response: { clientDataJSON: 'eyJ0eXBlIjoi…', attestationObject: 'o2NmbXRk…' } }

const answerText = 'what the browser has returned, as its `toJSON` writes it'
const challengeText =
  'The answer counts for five minutes, once, and in the browser that has asked: it sets a cookie (`HttpOnly`, `SameSite=Strict`).'
const notOurs = 'The request does not come from a page of this service.'
const wrong = { 400: { description: 'The passkey is not accepted (`wrong_passkey`); the sentence says why.' } }

export const passkeyContract = {
  'POST /api/session/passkey/begin': {
    summary: 'Begin to sign in with a passkey',
    description: `For pages of this service only. The person enters no name: the browser offers its passkeys for this service. ${challengeText}`,
    failures: { 403: { description: notOurs } },
    answer: begun,
  },
  'POST /api/session/passkey': {
    summary: 'Sign in on the dashboard with a passkey',
    description:
      'For pages of this service only, as `POST /api/session`, without a password and without a code: a passkey asks for a finger, a face or a PIN itself. The session ends with the passkey.',
    fields: { passkey: answerText },
    example: { passkey: used },
    failures: {
      ...wrong,
      403: { description: 'The account is disabled, or the request does not come from a page of this service.' },
    },
    answer: success({ id, username: text.meta({ examples: ['ann'] }), session: id }),
  },
  'POST /api/session/confirm/passkey/begin': {
    summary: 'Begin to use a passkey in a session',
    description: `For sessions of the dashboard: to confirm the session, or in place of a \`code\`. ${challengeText}`,
    answer: begun,
  },
  'POST /api/session/confirm/passkey': {
    summary: 'Use a passkey of the account in a session',
    description:
      'For sessions of the dashboard, instead of `POST /api/session/confirm`. It counts for ten minutes, as signing in does.',
    fields: { passkey: answerText },
    example: { passkey: used },
    failures: wrong,
    answer: done,
  },
  'GET /api/passkeys': {
    summary: 'List the passkeys that sign in to the account',
    description: 'An account has at most 20.',
    answer: success({
      data: z.object({
        passkeys: z.array(row),
        password: z.boolean().describe('whether the account has a password, too'),
      }),
    }),
  },
  'POST /api/passkey/begin': {
    summary: 'Begin to add a passkey',
    description: `For sessions of the dashboard. ${challengeText}`,
    fields: {
      current_password:
        'required of a session that the password has opened; another one uses its passkey or signs in again with the issuer',
      code: 'of the second factor, where there is one, or a recovery code; with `current_password`',
      passkey: passkeyForCode,
    },
    failures: {
      400: {
        description: 'The password or the code is wrong, or one of them is required.',
        shape: { second_factor: z.literal(true).optional().describe('whether `code` is what is missing or wrong') },
      },
    },
    example: { current_password: 'correct horse battery' },
    answer: success({ options: adding }),
  },
  'POST /api/passkey/add': {
    summary: 'Add a passkey',
    description: 'For the session that has begun it.',
    fields: { passkey: answerText, name: 'by default the browser and its system' },
    example: { passkey: made, name: 'Ann’s phone' },
    failures: wrong,
    answer: success({ id, message: text }),
  },
  'PUT /api/passkey/:id/update': {
    summary: 'Rename a passkey',
    fields: { name: 'for people' },
    example: { name: 'Ann’s phone' },
    answer: done,
  },
  'DELETE /api/passkey/:id/delete': {
    summary: 'Remove a passkey',
    description:
      'For sessions of the dashboard. The sessions that it has opened end. The last one cannot be removed when it is the only way to sign in.',
    answer: done,
  },
} satisfies Contract

export type PasskeyList = AnswerOf<typeof passkeyContract, 'GET /api/passkeys'>
export type PasskeyBegun = AnswerOf<typeof passkeyContract, 'POST /api/session/passkey/begin'>
export type PasskeyAdding = AnswerOf<typeof passkeyContract, 'POST /api/passkey/begin'>
