import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { withRandomAlias } from '../../commands/links/alias.ts'
import { requireOwn } from '../../commands/caller.ts'
import { qr } from '../../commands/qr/qr.ts'
import { requireScannable, scanWarnings } from '../../commands/qr/design.ts'
import { type QrFields, type QrPersonal, QrType } from '../../events/qr/qr.ts'
import { addressSite } from '../../lib/address.ts'
import { defined } from '../../lib/defined.ts'
import { must, text, timestamp, says } from '../../lib/fields.ts'
import type { GuardedFetch } from '../../lib/fetch.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import { safeTargetUrl } from '../../lib/url.ts'
import type { Images } from '../../qr/images.ts'
import { nameOf } from '../../qr/payload.ts'
import { Busy } from '../../qr/pool.ts'
import { findQr, listQrs, type QrListRow, type QrRow } from '../../queries/qr/qr.ts'
import { scanStats } from '../../queries/statistics/stats.ts'
import type { ImageStore } from '../../security/images.ts'
import { fail, failField, failAt } from '../api/errors.ts'
import { byId, color, orEmpty, orInitial, orNone } from '../api/fields.ts'
import { type Call, endpoint, type Route } from '../api/route.ts'
import { type Blocking, rejectBlocked } from '../api/blockedaddress.ts'
import { deleteOwned, listOwned, ownedBy, readOwned } from '../api/owned.ts'
import { addressesIn, dataOf, imageAddress, isScanAddress, payload, typeOf } from './address.ts'
import { readData } from './data.ts'
import { statistics } from '../statistics/totals.ts'
import { qrCodes, qrContract } from './contract.ts'

const initial = qr.initialState.fields
type Fields = QrFields & QrPersonal

/** What the routes of QR codes need. */
export interface QrServices extends Blocking {
  readonly baseUrl: () => string
  readonly isMainHost: (host: string) => boolean
  readonly guardedFetch: GuardedFetch
  readonly images: Pick<Images, 'logo'>
  readonly imageStore: Pick<ImageStore, 'save'>
}

const type = z.enum(QrType.options, { error: must('not_one_of', { values: QrType.options.join(', ') }).error })

/** `rgb(r,g,b)` (CSS Color 4, 5.1, the older syntax) or HEX; stored as `#rrggbb`. */
const qrColor = z.string(must('wrong_type', { what: 'string' })).transform((input, context) => {
  const numbers = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/i.exec(input)?.slice(1).map(Number)
  if (numbers?.every((n) => n <= 255)) return `#${numbers.map((n) => n.toString(16).padStart(2, '0')).join('')}`
  const hex = color.safeParse(input)
  if (hex.success) return hex.data
  context.addIssue(says('wrong_form', { what: 'code_color' }))
  return z.NEVER
})

const Body = z.object({
  data: z.unknown().optional(),
  foreground: orInitial(qrColor, initial.foreground).optional(),
  background: orInitial(qrColor, initial.background).optional(),
  logo: orNone(z.string(must('wrong_type', { what: 'string' }))).optional(),
  name: orEmpty(text(255)).optional(),
})
type Body = z.output<typeof Body>

/**
 * Returns the changes in a body. A name that was derived from the data is derived again. Fails with 400 for a code that
 * cannot be scanned.
 */
const changesOf = (body: Body, before: Fields, { baseUrl, isMainHost, blocks }: QrServices): Partial<Fields> => {
  const data = readData(typeOf(before), body.data)
  if (before.type === 'link' && typeof data === 'string' && isScanAddress(data, isMainHost))
    failField('data', 'own_address', { what: 'code' })
  rejectBlocked({ data: addressesIn(data) }, { blocks })
  const derived = body.name === '' || (body.name === undefined && before.name === nameOf(dataOf(before)))
  const { foreground, background } = body
  const name = derived ? nameOf(data) : body.name
  const changes = defined({ foreground, background, data: JSON.stringify(data), name })
  const fields = { ...before, ...changes }
  requireScannable(fields, payload(fields, baseUrl), before)
  return changes
}

const inline = /^data:image\/(?:png|jpe?g);base64,([A-Za-z0-9+/]+=*)$/i

type Asking = Pick<Call, 'account' | 'from'>

/** Returns the bytes of the picture, from its address or from the body. */
const picture = async (logo: string, { account, from }: Asking, { guardedFetch }: Pick<QrServices, 'guardedFetch'>) => {
  const [, data] = inline.exec(logo) ?? []
  if (data !== undefined) return Buffer.from(data, 'base64')
  if (!/^https?:\/\//i.test(logo)) return failField('logo', 'bad_picture', { what: 'address' })
  const safe = safeTargetUrl(logo)
  const fetched = safe.ok ? await guardedFetch(safe.url, { account, network: addressSite(from) }) : safe
  return fetched.ok ? fetched.body : failAt('logo', fetched.problem)
}

/**
 * Stores the logo in a body. Returns the changes: null removes it, undefined keeps it. Call it after all other checks:
 * it may take seconds.
 */
const logoOf = async (
  { logo }: Body,
  before: Fields,
  asking: Asking,
  services: QrServices,
): Promise<Partial<Pick<Fields, 'logo' | 'logoHash'>>> => {
  if (logo === undefined) return {}
  if (logo === null) return { logo: null, logoHash: null }
  const { account } = asking
  const make = async () => services.images.logo(await picture(logo, asking, services), String(account))
  const made = await make().catch((error: unknown) => {
    // too many of the account wait to be fetched, or to be decoded
    if (error instanceof Unavailable || error instanceof Busy)
      return fail(503, 'busy', { what: 'logos' }, { 'Retry-After': '2' })
    throw error
  })
  if (!made.ok) return failAt('logo', made.problem)
  if (made.png === before.logo) return {}
  return { logo: null, logoHash: await services.imageStore.save(account, Buffer.from(made.png, 'base64')) }
}

const present = (
  { id, alias, name, scans, created, revision }: QrListRow,
  { baseUrl }: Pick<QrServices, 'baseUrl'>,
) => ({
  id,
  link: imageAddress(alias, baseUrl),
  scans,
  name: name ?? '',
  date: timestamp(created),
  revision,
})

/**
 * What the code is made of, in the form in which an update accepts it. A logo is only said to be there: it may be
 * large.
 */
const content = (row: QrRow | Fields) => ({
  type: row.type,
  data: dataOf(row),
  foreground: row.foreground,
  background: row.background,
  logo: 'hasLogo' in row ? row.hasLogo : (row.logo ?? row.logoHash ?? null) !== null,
})

/** Only when there are any, so that an ordinary answer stays as it was. */
const withWarnings = (fields: Fields) => {
  const warnings = scanWarnings(fields)
  return warnings.length > 0 ? { warnings } : {}
}

interface Created {
  readonly id: number
  readonly revision: number
  readonly state: { readonly fields: Fields }
}
const presentCreated = ({ id, revision, state: { fields } }: Created, { baseUrl }: Pick<QrServices, 'baseUrl'>) => ({
  id,
  link: imageAddress(fields.alias, baseUrl),
  revision,
  ...withWarnings(fields),
})

export const qrRoutes = (services: QrServices): readonly Route[] => [
  endpoint(qrContract, 'GET /api/qr', {
    scope: 'read',
    ...listOwned(qrCodes, listQrs, (row) => present(row, services)),
  }),

  endpoint(qrContract, 'GET /api/qr/:id', {
    statistics: true,
    single: true,
    scope: 'read',
    params: byId,
    run: async (call) => {
      const row = await readOwned(qr, findQr, call, call.params.id)
      const scans = await scanStats(call.reader, row.id)
      return {
        details: { ...present({ ...row, scans: scans.clicks }, services), ...content(row) },
        data: statistics(scans, {}, ['facebook', 'twitter', 'instagram']),
      }
    },
  }),

  endpoint(qrContract, 'POST /api/qr/add', {
    scope: 'write',
    limited: true,
    body: Body.extend({ type }),
    run: async (call) => {
      const { account, body, create, created } = call
      // its logo need not be fetched again
      const before = await created('qr', qr)
      if (before) return presentCreated(before, services)
      const blank = { ...initial, type: body.type }
      const fields = {
        ...blank,
        ...changesOf(body, blank, services),
        ...(await logoOf(body, blank, call, services)),
      }
      const token = randomUUID()
      const made = await withRandomAlias((alias) =>
        create('qr', qr, (id) => ({ type: 'Create' as const, id, account, fields: { ...fields, alias }, token })),
      )
      return presentCreated(made, services)
    },
  }),

  endpoint(qrContract, 'PUT /api/qr/:id/update', {
    single: true,
    scope: 'write',
    params: byId,
    owner: ownedBy(qr),
    body: Body,
    run: async (call) => {
      const { account, body, write } = call
      const { id } = call.params
      const { fields } = await requireOwn(call, qr, id)
      const changes = { ...changesOf(body, fields, services), ...(await logoOf(body, fields, call, services)) }
      const { state, revision } = await write(qr, { type: 'Update', id, account, changes })
      return { message: 'QR code has been updated.', revision, ...withWarnings(state.fields) }
    },
  }),

  endpoint(qrContract, 'DELETE /api/qr/:id/delete', deleteOwned('qr', qr)),
]
