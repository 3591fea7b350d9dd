import { z } from 'zod'
import {
  type Answer,
  type AnswerOf,
  type Whole,
  address,
  count,
  deleted,
  id,
  listOf,
  ownedFields,
  type Contract,
  revision,
  success,
  text,
  time,
  updated,
} from '../api/contract.ts'

const found = { found: z.array(text).nullable(), ok: z.boolean().nullable() }
/** What the account has to do, and what was found in DNS. Absent where domains are not checked. */
const verification = z
  .object({
    record: z.object({ type: z.literal('TXT'), name: text, value: text, ...found }),
    dns: z.object({ targets: z.array(text), ...found }).optional(),
    checked: time.nullable(),
    failures: count,
    problem: text.nullable(),
  })
  .meta({ id: 'Verification' })
export type Verification = Answer<typeof verification>
const state = { revision, status: z.enum(['pending', 'active', 'unverified']), verification: verification.optional() }
/** Names such as `/` and `?` are no names in any language, so that clients of the API get objects without a type. */
const components = z
  .array(z.record(z.string(), z.unknown()))
  .describe('which addresses open the app, by `/`, `?` and `#`; the first that matches decides')
const apps = {
  apple: z
    .object({ details: z.array(z.object({ appIDs: z.array(text), components })) })
    .describe('apps of Apple’s systems that open addresses of the domain'),
  android: z
    .array(z.object({ package_name: text, sha256_cert_fingerprints: z.array(text), components: components.optional() }))
    .describe('Android apps that open addresses of the domain'),
}
const aliases = z
  .enum(['folded', 'exact'])
  .describe('`folded`: letter case does not matter; `exact`: an alias is a whole path, compared as it is')
const listed = z.object({ id, domain: address, redirectroot: text, redirect404: text, aliases, ...state })
const domain = listed.extend(apps).meta({ id: 'DomainDetails' })
export type DomainDetails = Answer<typeof domain>

const places =
  '`{path}`, `{host}` and `{query}` behind its first slash stand for what the visitor has asked for, escaped in a query; the first four are filled'
const redirects = {
  redirectroot: `where the bare domain leads; ${places}`,
  redirect404: `where unknown aliases lead; ${places}`,
}

export const domainList = listOf('Domain', 'domains', listed)
export type DomainList = Whole<typeof domainList>

export const domainContract = {
  'GET /api/domains': {
    summary: 'List branded domains',
    fields: { ...ownedFields, q: 'part of the address' },
    ...domainList,
  },
  'GET /api/domain/:id': {
    summary: 'Get a branded domain',
    description: '`verification` says which DNS record to create, and what was found.',
    answer: success({ details: domain }),
  },
  'POST /api/domain/add': {
    summary: 'Add a branded domain',
    description:
      'While `status` is `pending`, links on it answer 404. Create the TXT record in `verification.record`, have the host lead to the service (`verification.dns`), and send `POST /api/domain/{id}/verify`. A link is on it with its address as `domain`.',
    fields: {
      domain: 'scheme and host, for example `https://go.example.com`',
      ...redirects,
      aliases:
        '`folded` or `exact`; it cannot change later. With `exact`, an alias is a whole path of 1 to 255 bytes, as `Sale/2026.html`: letter case counts, dots, slashes and letters of all languages are allowed. A domain that comes back keeps what it had.',
    },
    example: { domain: 'https://go.example.com', redirectroot: 'https://example.com/' },
    answer: success({ id, ...state }),
  },
  'POST /api/domain/:id/verify': {
    summary: 'Look at the DNS records of a branded domain again',
    answer: success({ message: text, id, ...state }),
  },
  'PUT /api/domain/:id/update': {
    summary: 'Change where a branded domain redirects, and which apps open its addresses',
    description:
      'The domain serves `apple` at `/.well-known/apple-app-site-association` and `android` at `/.well-known/assetlinks.json`; without apps they are 404.',
    fields: {
      ...redirects,
      apple:
        '`{"details": [{"appIDs": ["9JA89QQLNQ.com.example.app"], "components": [{"/": "/buy/*"}]}]}`; `""` or null: no apps',
      android:
        '`[{"package_name": "com.example.app", "sha256_cert_fingerprints": ["14:6D:…"]}]`, with `components` to open some addresses only (Android 15); `""` or null: no apps',
    },
    example: { redirect404: 'https://example.com/not-found' },
    answer: updated,
  },
  'DELETE /api/domain/:id/delete': {
    summary: 'Delete a branded domain',
    description: 'Its links return 404 until the account adds it again.',
    answer: deleted,
  },
} satisfies Contract

export type FoundDomain = AnswerOf<typeof domainContract, 'GET /api/domain/:id'>
export type DomainVerified = AnswerOf<typeof domainContract, 'POST /api/domain/:id/verify'>
