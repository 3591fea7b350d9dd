import { z } from 'zod'
import { Scope } from '../../../events/accounts/scope.ts'
import {
  type Answer,
  type AnswerOf,
  type Whole,
  deletedForGood,
  done,
  id,
  listOf,
  pageFields,
  type Contract,
  success,
  text,
  time,
} from '../../api/contract.ts'

const key = text.describe('the whole key, shown only once').meta({ examples: ['ll_4f7c…'] })
/** A time, or `` for none. */
export const timeOrNever = z.union([time, z.literal('')])
const fields = {
  name: 'what the key is for',
  scopes: 'what the key may do: `read`, `write`, `links:write`, `stats:read`, `account`, `webhooks`',
  expires: 'a time, or a day for its end; `""` or `null` for never; as the key of the request if not sent',
  addresses:
    'addresses and networks that the key may be used from; an empty list or `null` for any; as the key of the request if not sent',
}
const row = z.object({
  id,
  name: text,
  key: text.describe('the part of the key that is no secret').meta({ examples: ['ll_A1b2C3d4E5f6_…'] }),
  scopes: z.array(text).meta({ examples: [Scope.options] }),
  expires: timeOrNever.describe('empty: never'),
  addresses: z.array(text).describe('empty: any'),
  date: time,
  lastused: timeOrNever.describe('to about a minute; empty: not used yet'),
  current: z.boolean().describe('whether it is the key of this request'),
  member: z
    .object({
      id: z.int(),
      name: text,
      role: text.describe('empty: they are no member any more, and the key does not work'),
    })
    .optional()
    .describe('who has made it: it may do what their role allows at most; missing for the sign-in of the account'),
})
export type ApiKey = Answer<typeof row>
const message = text

export const apiKeys = listOf('ApiKey', 'keys', row)
export type ApiKeyList = Whole<typeof apiKeys>

export const keyContract = {
  'GET /api/keys': { summary: 'List API keys', fields: pageFields, ...apiKeys },
  'POST /api/key/add': {
    summary: 'Create an API key',
    description: 'It cannot do more than the key that creates it. An account has at most 100 keys.',
    fields,
    example: { name: 'Nightly import', scopes: ['links:write'], addresses: ['192.0.2.0/24'], expires: '2040-01-31' },
    answer: success({ id, key, message }),
  },
  'PUT /api/key/:id/update': {
    summary: 'Change an API key',
    description:
      'Fields that are not sent stay. What is sent cannot exceed the key of the request. A key with rights that it lacks can be limited further, but not extended.',
    fields: { ...fields, expires: 'a time, or a day for its end; `""` or `null` for never' },
    example: { name: 'Import from the shop' },
    answer: done,
  },
  'POST /api/key/:id/rotate': {
    summary: 'Replace an API key by a new one',
    description: 'The new key has the name and the rights of the old one, which works a while longer.',
    fields: { overlap: 'seconds until the old key ends: 86,400 (a day) if not sent, at most 2,592,000 (30 days)' },
    example: { overlap: 3600 },
    answer: success({ id, key, old: z.object({ id, expires: time }), message }),
  },
  'DELETE /api/key/:id/delete': { summary: 'End an API key', answer: deletedForGood },
  'POST /api/key/revoke': {
    summary: 'End an API key by showing it',
    description:
      'For a key that was found in public. Needs no other key. The answer is the same for a key that does not exist.',
    fields: { key: 'the whole key' },
    example: { key: 'll_AAAAAAAAAAAA_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAb06b3f' },
    answer: done,
  },
} satisfies Contract

export type KeyCreated = AnswerOf<typeof keyContract, 'POST /api/key/add'>
export type KeyRotated = AnswerOf<typeof keyContract, 'POST /api/key/:id/rotate'>
