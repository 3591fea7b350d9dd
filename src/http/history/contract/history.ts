import { z } from 'zod'
import { kinds, type Kinds, type OwnedKind, ownedKinds } from '../../../events/kinds.ts'
import {
  type Answer,
  type Whole,
  count,
  listOf,
  pageFields,
  type Contract,
  problemFields,
  revision,
  success,
  text,
  time,
} from '../../api/contract.ts'
import { passkeyForCode } from '../../accounts/contract/passkey.ts'

const value = z.unknown()

/** The former and the present value of a field. */
export const fieldChange = z
  .object({
    field: text.meta({ examples: ['longurl'] }),
    old: value.describe('null for what there was not; of a password, only whether there was one'),
    new: value,
  })
  .meta({ id: 'FieldChange' })
export type FieldChange = Answer<typeof fieldChange>

const member = z.object({
  id: z.int().meta({ examples: [2] }),
  name: text.describe('empty: a former member who is erased').meta({ examples: ['ann'] }),
  role: text.describe('the role of then').meta({ examples: ['editor'] }),
})
/** The member who acted, if it was not the account's own sign-in, and the member who approved it. */
export const actingMembers = {
  member: member
    .optional()
    .describe('the member who did it, or whose key it was; missing for the sign-in of the account'),
  approved_by: member
    .extend({ proposal: z.int().meta({ examples: [7] }) })
    .optional()
    .describe('who has approved it, where it was proposed; the sign-in of the account is 1, without a name'),
}

const row = z.object({
  event: count
    .nullable()
    .describe('the number of the event in the log, as in `at=event:123456`; null for a moment, while it has none')
    .meta({ examples: [123456] }),
  revision: count.describe('of the resource, or of the account for its keys').meta({ examples: [7] }),
  time,
  actor: z
    .object({
      kind: z
        .string()
        .meta({ examples: ['key'] })
        .describe('`key`, `session` (a user of the dashboard), `operator`, `service` or `visitor`'),
      key: z.int().optional().describe('id of the API key'),
      name: text
        .optional()
        .describe('name of the API key')
        .meta({ examples: ['Nightly import'] }),
      ...actingMembers,
    })
    .describe('who did it'),
  request: text.describe('`X-Request-Id` of the request'),
  type: text.describe('what happened, as a name that never changes').meta({ examples: ['LinkUpdated'] }),
  message: text.describe('what happened, as a sentence').meta({ examples: ['Link changed.'] }),
  resource: z.object({
    type: text.describe('as in the paths of the API').meta({ examples: ['url'] }),
    id: z.int().meta({ examples: [42] }),
  }),
  changes: z.array(fieldChange).describe('only fields whose value changed'),
  group: text
    .nullable()
    .optional()
    .describe('with `group=request`: finds the events behind this one; null where no other can be')
    .meta({ examples: ['0b0e3c9e-5d2f-4a53-9a3c-0f1d2b7f6a11'] }),
  events: count
    .optional()
    .describe('with `group=request`: how many events this one stands for; 10,000 means 10,000 or more')
    .meta({ examples: [520] }),
})
export type HistoryEntry = Answer<typeof row>

const fields = {
  ...pageFields,
  q: 'part of what happened, of a name or title of the resource, of a field, of an old or new value, of who did it, or of the request, in any letter case. One request looks at 10,000 events, for three seconds at most: a page after them needs a `cursor`',
  from: 'happened since this time or day',
  to: 'happened before this time, or until the end of this day',
  order: '`date` (newest first, default) or `oldest`',
  member: 'by this member of the account, or a key of theirs',
}

const accountFields = {
  ...fields,
  resource: 'only of resources of this kind, as in the paths of the API; `account` has keys, too',
  deleted: '`true`: only the deletions of what is deleted now, and can be restored',
  group:
    '`request`: one entry for the links of an import, and for events of one type that one member or key caused by one request within ten minutes; only with `from`, `to` and `order`. The `group` of such an entry: the events behind it',
}

export const historyEntries = listOf('HistoryEntry', 'events', row, ['event'])
export type HistoryEntryList = Whole<typeof historyEntries>

const historyOf = (what: string, description: string) => ({
  summary: `List what happened to ${what}, and who did it`,
  description,
  fields,
  ...historyEntries,
})
const deletedToo = 'Also of one that was deleted. Secrets and hashes are never shown.'

const oneOf = (kind: OwnedKind): string =>
  `a ${kinds[kind].label.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())}`
/** A route of each kind. */
type OfEach<M extends string, What extends string, T> = Readonly<
  Record<`${M} /api/${Kinds[OwnedKind]['path']}/:id/${What}`, T>
>

export const historyContract = {
  'GET /api/account/history': {
    ...historyOf(
      'the account and everything in it',
      'Changes of the account, its keys and all its resources, also of deleted ones. Secrets and hashes are never shown.',
    ),
    fields: accountFields,
  },
  'GET /api/key/:id/history': historyOf('an API key', 'Also of a key that has ended.'),
  ...(Object.fromEntries(
    ownedKinds.map((kind) => [`GET /api/${kinds[kind].path}/:id/history`, historyOf(oneOf(kind), deletedToo)]),
  ) as OfEach<'GET', 'history', ReturnType<typeof historyOf>>),
} satisfies Contract

const restoredChange = fieldChange
  .extend({ old: fieldChange.shape.old.optional(), new: value.optional() })
  .meta({ id: 'RestoredField' })

const restored = success({
  message: text,
  dryRun: z.literal(true).optional(),
  changes: z
    .array(restoredChange)
    .describe('what changed, or would change; only the names of fields for a key that may not read'),
  notRestored: z
    .array(z.object({ ...problemFields, field: text.meta({ examples: ['campaign'] }), reason: text }))
    .describe('what is not as it was, or has no effect now, and why'),
  revision,
}).meta({ id: 'Restored' })
export type Restored = Answer<typeof restored>
const restoreFields = {
  revision: 'the revision whose values it shall have again, as in its history',
  at: 'instead of `revision`: a moment, as a time, a day for its end, or `event:123456`',
  dryRun: '`true`: only say what would change',
}
const restoreOf = (what: string, description: string, example: object = { revision: 0, dryRun: true }) => ({
  summary: `Restore ${what}`,
  description,
  fields: restoreFields,
  example,
  failures: {
    409: {
      description:
        'Its name was taken meanwhile: the message says what to do. Or the first request with this `Idempotency-Key` is still running.',
    },
  },
  answer: restored,
})
const both = 'Brings a deleted one back under its id and its addresses, or sets it back to an earlier version.'

export const restoreContract = {
  ...(Object.fromEntries(
    ownedKinds.map((kind) => [`POST /api/${kinds[kind].path}/:id/restore`, restoreOf(oneOf(kind), both)]),
  ) as OfEach<'POST', 'restore', ReturnType<typeof restoreOf>>),
  'POST /api/webhook/:id/restore': restoreOf(
    'an earlier version of a webhook',
    'Its fields, its address and whether it is enabled. Its secret stays, and so does its place in the log. A deleted webhook cannot come back.',
  ),
  'POST /api/key/:id/restore': restoreOf(
    'an earlier version of an API key',
    'Its name, scopes, end and addresses. `revision` is that of the account. A key that has ended cannot come back.',
    { dryRun: true },
  ),
  'POST /api/account/restore': {
    ...restoreOf(
      'an earlier e-mail address or password',
      'What the operator has set stays, and so do keys. Where the service sends mail, an e-mail address is not restored: it has to be confirmed. It needs what `PUT /api/account/update` needs.',
    ),
    fields: {
      ...restoreFields,
      current_password: 'the password now',
      code: 'six digits of the authenticator app, or a recovery code; with `current_password`, where there is a second factor',
      passkey: passkeyForCode,
    },
  },
} satisfies Contract
