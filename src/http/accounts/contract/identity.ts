import { z } from 'zod'
import { address, type Answer, type AnswerOf, type Contract, done, id, success, text } from '../../api/contract.ts'
import { passkeyForCode } from './passkey.ts'

const row = z
  .object({
    id,
    issuer: text.meta({ examples: ['https://id.example.com/realms/main'] }),
    subject: text.describe('what the issuer calls the person, for ever').meta({ examples: ['248289761001'] }),
    name: text.describe('what it calls the person for people; may be empty').meta({ examples: ['Ann Smith'] }),
    current: z.boolean().describe('whether it has opened the session that asks'),
  })
  .meta({ id: 'Identity' })
export type Identity = Answer<typeof row>

const begun = success({ address: address.describe('where the browser has to go now') })

const noIssuer = {
  404: { description: 'The service has no issuer to sign in with (`OIDC_ISSUER`, `AUTH_PROXY_HEADER`).' },
}

export const identityContract = {
  'GET /api/identities': {
    summary: 'List the identities that sign in to the account',
    description: 'An identity is what the issuer of `OIDC_ISSUER` calls a person. An account has at most ten.',
    answer: success({
      data: z.object({
        identities: z.array(row),
        password: z.boolean().describe('whether the account has a password, too'),
      }),
    }),
  },
  'POST /api/identity/add': {
    summary: 'Begin to link an identity',
    description:
      'For sessions of the dashboard. The browser goes to `address`, where the person signs in, and comes back to `/oidc/callback`, which links the identity. With `AUTH_PROXY_HEADER`, whom the proxy names in this request is linked at once. 404 without both, 503 while the issuer does not answer.',
    fields: {
      to: 'the path of the dashboard at which the browser goes on',
      current_password:
        'required of a session that the password has opened; another one signs in again with the issuer',
      code: 'of the second factor, where there is one, or a recovery code; with `current_password`',
      passkey: passkeyForCode,
    },
    failures: {
      ...noIssuer,
      400: {
        description: 'The password or the code is wrong, or one of them is required.',
        shape: { second_factor: z.literal(true).optional().describe('whether `code` is what is missing or wrong') },
      },
    },
    example: { to: '/dashboard/account', current_password: 'correct horse battery' },
    answer: begun,
  },
  'DELETE /api/identity/:id/delete': {
    summary: 'Remove an identity',
    description:
      'For sessions of the dashboard. The sessions that it has opened end. The last one of an account without a password cannot be removed: it is the only way to sign in.',
    answer: done,
  },
  'POST /api/session/confirm/identity': {
    summary: 'Begin to sign in again with the issuer',
    description:
      'For sessions of the dashboard, instead of `POST /api/session/confirm`. The browser goes to `address`, where the person has to sign in even if they are signed in there. Once it is back, the session is confirmed for ten minutes. With `AUTH_PROXY_HEADER`, it goes through the proxy again, and has a new session.',
    fields: { to: 'the path of the dashboard at which the browser goes on' },
    failures: noIssuer,
    example: { to: '/dashboard/keys' },
    answer: begun,
  },
} satisfies Contract

export type IdentityList = AnswerOf<typeof identityContract, 'GET /api/identities'>
export type Begun = AnswerOf<typeof identityContract, 'POST /api/identity/add'>
