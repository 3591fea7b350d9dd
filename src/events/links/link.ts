import { z } from 'zod'
import type { EventOf } from '../event.ts'
import { Personal, Secret } from '../../security/seal.ts'
import { openEnum } from '../openenum.ts'
import { restoring, sealedTexts } from '../owned.ts'

const id = z.int()

/**
 * A rule for where visitors go. `name` is a device, browser, country or language as the client entered it; the first
 * match applies.
 */
export const Target = z.object({ name: z.string(), url: z.string() })
export const Parameter = z.object({ name: z.string(), value: z.string() })

/**
 * One of the destinations that visitors are split between, in proportion to the weights. `id` names it within its link
 * and stays when its URL changes.
 */
export const Variant = z.object({ id: z.int(), url: z.string(), weight: z.int() })
export type Variant = z.infer<typeof Variant>

/** Why a destination cannot be framed: one of its headers, or a redirect to another host. */
export const FramingReason = z.enum(['x-frame-options', 'frame-ancestors', 'redirect'])
/** A destination that cannot be shown in a frame on the link's host; `since`: when that was first found. */
export const Unframed = z.object({ url: z.string(), reason: openEnum(FramingReason), since: z.iso.datetime() })
export type Unframed = z.infer<typeof Unframed>

const fields = {
  /** id of the branded domain; null for the service's own host */
  domain: id.nullable(),
  /** as entered, on a domain with exact aliases with a slash before it; compared as `aliasKey` says */
  alias: z.string(),
  /** as browsers write it; visitors are redirected to it */
  url: z.string(),
  /** `url` as the client sent it, where that differs; a change of `url` without it clears it */
  entered: z.string().nullable().optional(),
  /** `direct`, `frame`, `splash`, `splash-<id>` or `overlay-<id>` */
  type: z.string(),
  title: z.string(),
  description: z.string(),
  /** ISO 8601 in UTC; null: never */
  expiry: z.iso.datetime().nullable(),
  location: z.array(Target),
  device: z.array(Target),
  language: z.array(Target),
  metatitle: z.string(),
  metadescription: z.string(),
  metaimage: z.string(),
  parameters: z.array(Parameter),
  pixels: z.array(id),
  campaign: id.nullable(),
}

/** Fields that events of older releases do not have. */
const added = {
  /** in lower case, without duplicates */
  tags: z.array(z.string()),
  /** hidden from the list of links; it still redirects */
  archived: z.boolean(),
  /** ISO 8601 in UTC: before it, the link does not exist for visitors; null: always */
  starts: z.iso.datetime().nullable(),
  /** where visitors are sent once the link has ended; empty: they get a page */
  expired_url: z.string(),
  /** the link ends with this number of clicks; null: never */
  max_clicks: z.int().nullable(),
  /** whether the query of the short address is passed on */
  forward: z.boolean(),
  /** whether the rest of the path is passed on, too; only with `forward` */
  forward_path: z.boolean(),
  browser: z.array(Target),
  variants: z.array(Variant),
  /** the highest id that a variant has had, so that a new one never gets the clicks of another */
  last_variant: z.int(),
}

const AllFields = z.object({ ...fields, ...added })
/** What a link's owner sets, except the password. `notes` is for the owner alone, and sealed; null: none. */
export type LinkFields = z.infer<typeof AllFields> & { readonly notes: string | null }

type Added = keyof typeof added | 'notes'
/** The values of the fields that events of older releases do not have. */
export const addedFields: Pick<LinkFields, Added> = {
  tags: [],
  archived: false,
  notes: null,
  starts: null,
  expired_url: '',
  max_clicks: null,
  forward: false,
  forward_path: false,
  browser: [],
  variants: [],
  last_variant: 0,
}
/** The fields of a link as its events have them. */
export type StoredLinkFields = Omit<LinkFields, Added> & { readonly [K in Added]?: LinkFields[K] | undefined }
/** Returns all fields of a link. A literal with two spreads takes twenty times as long, for each event of a history. */
// oxlint-disable-next-line prefer-object-spread
export const completed = (fields: StoredLinkFields): LinkFields => Object.assign({}, addedFields, fields) as LinkFields

/** Clicks that another service has counted; `uniques` null: it does not say how many people they were. */
export const ImportedClicks = z.object({ clicks: z.int().min(0), uniques: z.int().min(0).nullable() })
export type ImportedClicks = Readonly<z.infer<typeof ImportedClicks>>

/** Numbers an address within its link: 1 is the one that it was created with. */
const Address = z.int().min(1)

/** Returns the import that has made a claim: the token of another claim names none. */
export const importOfToken = (token: string | undefined): string | undefined =>
  token?.includes(':') ? token.split(':', 1)[0] : undefined

export const linkEvents = {
  /**
   * `password` is an scrypt hash, null, or `unreadable`. `token` belongs to the claim of the alias. `created`: when it
   * was made at the service that it comes from; `import`: the import that has brought it.
   */
  LinkCreated: z.object({
    id,
    account: z.int(),
    ...fields,
    ...z.object(added).partial().shape,
    notes: Personal.optional(),
    password: Secret,
    token: z.string(),
    created: z.iso.datetime().optional(),
    import: z.uuid().optional(),
  }),
  /**
   * Clicks that another service, `source`, has counted, as stated by the owner: they were not measured here. The newest
   * event of a source counts; without clicks, it takes the earlier ones back. `import`: the import that brought them
   * with the link.
   */
  ClicksImported: z.object({
    ...{ id, account: z.int(), source: z.string() },
    ...ImportedClicks.shape,
    import: z.uuid().optional(),
  }),
  /**
   * Only fields whose value changes. A new `domain` or `alias` comes with the token of its claim: it is the main
   * address from now on. `address`: the number of that, also of one that the link had already; without it, it takes the
   * place and the number of the former one. That is gone unless the next event adds it again.
   */
  LinkUpdated: z.object({
    id,
    changes: AllFields.partial(),
    notes: Personal.optional(),
    password: Secret.optional(),
    token: z.string().optional(),
    address: Address.optional(),
  }),
  /**
   * The link can be found at one more address, which is not its main one. `address` is its number within the link.
   */
  LinkAddressAdded: z.object({
    id,
    account: z.int(),
    address: Address,
    domain: fields.domain,
    alias: fields.alias,
    /** since when it is one of the others */
    added: z.iso.datetime(),
    token: z.string(),
  }),
  /** The link can no longer be found at an address, which stays reserved for its account. */
  LinkAddressRemoved: z.object({ id, address: Address }),
  /** `archived`: whether it was. */
  LinkDeleted: z.object({ id, archived: z.literal(true).optional() }),
  /**
   * A deleted link is back, or a link has its values of an earlier revision again. `changes` has the fields whose value
   * changes. `token` belongs to the claim of the alias of a link that was deleted or that moves; `archived`: whether a
   * deleted link returns to the archive. `address` as in `LinkUpdated`.
   */
  LinkRestored: z.object({
    id,
    ...restoring,
    address: Address.optional(),
    archived: z.literal(true).optional(),
    changes: AllFields.partial(),
    notes: Personal.optional(),
    password: Secret.optional(),
  }),
  /** The destinations that refuse to be framed have changed; `unframed` has all of them. Found by the service. */
  LinkFramingChecked: z.object({ id, unframed: z.array(Unframed) }),
}
/**
 * Addresses, destinations and the rules that choose between them stay open, so that a release that cannot open the
 * texts still redirects.
 */
export const linkTexts = sealedTexts('Link', {
  ...{ title: '', description: '', tags: [] },
  ...{ metatitle: '', metadescription: '', metaimage: '' },
})
export type LinkEvent = EventOf<typeof linkEvents>
