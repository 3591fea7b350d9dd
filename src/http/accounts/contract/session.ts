import { z } from 'zod'
import {
  address,
  type Answer,
  type AnswerOf,
  count,
  done,
  id,
  type Contract,
  success,
  text,
  time,
} from '../../api/contract.ts'
import { passkeyForCode } from './passkey.ts'

const row = z
  .object({
    id,
    browser: text.meta({ examples: ['Firefox'] }),
    os: text.meta({ examples: ['Linux'] }),
    date: time.describe('of the sign-in'),
    lastused: time.describe('to about a minute'),
    expires: time,
    current: z.boolean().describe('whether it has sent this request'),
  })
  .meta({ id: 'Session' })
export type Session = Answer<typeof row>

export const sessionContract = {
  'POST /api/session': {
    summary: 'Sign in on the dashboard with a password',
    description:
      'For pages of this service only: the answer sets a cookie (`HttpOnly`, `SameSite=Lax`, and over https `Secure` with the prefix `__Host-`), with which pages of the same origin call the API instead of with a key. It ends after `SESSION_DAYS`, with a new password, and when the account is disabled or erased. Wrong passwords and codes are limited by account and by address.',
    fields: {
      code: 'six digits of the authenticator app, or a recovery code; required where the account has a second factor',
      passkey: 'in place of `code`: the answer of a passkey to `POST /api/session/passkey/begin`',
    },
    example: { email: 'ann@example.com', password: 'correct horse battery' },
    failures: {
      400: {
        description: 'The e-mail address, the password or the code is wrong, or a code is required.',
        shape: { second_factor: z.literal(true).optional().describe('whether `code` is what is missing or wrong') },
      },
      403: {
        description:
          'The account is disabled, passwords are turned off (`PASSWORD_SIGN_IN`), or the request does not come from a page of this service.',
      },
    },
    answer: success({ id, username: text.meta({ examples: ['ann'] }), session: id }),
  },
  'POST /api/session/confirm': {
    summary: 'Enter the password of a session again',
    description:
      'For sessions of the dashboard. It counts for ten minutes, as signing in does: in that time the session may make, widen, rotate and restore API keys with `account` or `webhooks` and webhooks with events of the account, and export everything. Otherwise such requests get 403 with the code `confirmation_needed`.',
    fields: {
      password: 'the password of the account',
      code: 'six digits of the authenticator app, or a recovery code; required where the account has a second factor',
      passkey: passkeyForCode,
    },
    example: { password: 'correct horse battery' },
    failures: {
      400: {
        description: 'The password or the code is wrong, or a code is required.',
        shape: { second_factor: z.literal(true).optional().describe('whether `code` is what is missing or wrong') },
      },
    },
    answer: done,
  },
  'GET /api/sessions': {
    summary: 'List the sessions of the dashboard, the newest first',
    description: 'An account has at most 50: one more ends the oldest.',
    answer: success({ data: z.object({ sessions: z.array(row) }) }),
  },
  'DELETE /api/session': {
    summary: 'Sign out',
    description: 'Ends the session that sends the request.',
    answer: success({
      message: text,
      address: address.optional().describe('where to sign out of the issuer that has signed in, with `OIDC_LOGOUT`'),
    }),
  },
  'DELETE /api/session/:id': { summary: 'End a session', answer: done },
  'DELETE /api/sessions': { summary: 'End all sessions but the one that sends the request', answer: done },
  'GET /api/account/totp': {
    summary: 'Tell whether signing in needs a second factor',
    answer: success({
      data: z.object({ enabled: z.boolean(), recovery_codes: count.describe('recovery codes that are left') }),
    }),
  },
  'POST /api/account/totp/secret': {
    summary: 'Make a secret for an authenticator app',
    description: 'Nothing is stored: `POST /api/account/totp` begins to use it.',
    answer: success({
      secret: text.meta({ examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'] }),
      address: text
        .describe('for a QR code that the app scans')
        .meta({ examples: ['otpauth://totp/Linkledger:ann%40example.com?…'] }),
    }),
  },
  'POST /api/account/totp': {
    summary: 'Begin to need a second factor',
    description:
      'Replaces the one there is. All other sessions end. Each recovery code of the answer works once instead of a code of the app.',
    fields: {
      secret: 'as `POST /api/account/totp/secret` has returned it',
      code: 'the six digits that the app shows now: they prove that it has the secret',
      current_password: 'the password of the account',
      current_code: 'a code of the second factor that is replaced, or a recovery code; required where there is one',
      passkey: passkeyForCode,
    },
    example: {
      secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
      code: '492039',
      current_password: 'correct horse battery',
    },
    answer: success({
      message: text,
      recovery_codes: z
        .array(text)
        .describe('shown only once')
        .meta({ examples: [['h7m2k-q9xw4']] }),
    }),
  },
  'POST /api/account/totp/delete': {
    summary: 'Need no second factor any more',
    fields: {
      current_password: 'the password of the account',
      code: 'six digits of the authenticator app, or a recovery code; required where there is a second factor',
      passkey: passkeyForCode,
    },
    example: { current_password: 'correct horse battery', code: '492039' },
    answer: done,
  },
} satisfies Contract

export type SessionList = AnswerOf<typeof sessionContract, 'GET /api/sessions'>
export type SecondFactorState = AnswerOf<typeof sessionContract, 'GET /api/account/totp'>
export type SecondFactorSecret = AnswerOf<typeof sessionContract, 'POST /api/account/totp/secret'>
export type SecondFactorBegun = AnswerOf<typeof sessionContract, 'POST /api/account/totp'>
