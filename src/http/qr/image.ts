import { z } from 'zod'
import type { Drawing } from '../../qr/draw.ts'
import { type Images, LogoMissing } from '../../qr/images.ts'
import { Busy } from '../../qr/pool.ts'
import { findInlineLogo, findPublicQrs, findQr, type PublicQr } from '../../queries/qr/qr.ts'
import type { ImageStore } from '../../security/images.ts'
import { addressSite } from '../../lib/address.ts'
import { fail } from '../api/errors.ts'
import { parseId } from '../api/fields.ts'
import { type Call, endpoint, type Route } from '../api/route.ts'
import { headersOf, logoKey, mediaTypes, sizeOf } from '../public/qr.ts'
import { payload } from './address.ts'
import { says } from '../../lib/fields.ts'
import { qrContract } from './contract.ts'

/** The address of an image, as a request for an earlier one has it. */
const pastAddress = /^\/qr\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})(?:\.(png|svg))?\?((?:.*&)?at=.*)$/

/**
 * Returns the address in the API of the image of a QR code, for a request that asks for an earlier one: the API knows
 * whose key it has. Undefined for all other requests.
 */
export const apiAddressOf = (url: string | undefined): string | undefined => {
  const [, alias, format, query] = pastAddress.exec(url ?? '') ?? []
  return alias === undefined
    ? undefined
    : `/api/qr/${byAlias}${alias}/image?${format ? `format=${format}&` : ''}${query}`
}
/** What is before an alias where an id is expected; no id begins with it. */
const byAlias = '~'

/** What the image of a QR code is made with. */
export interface QrImageServices {
  readonly baseUrl: () => string
  readonly images: Pick<Images, 'draw'>
  /** Returns the logo of an account that has this hash. */
  readonly findImage: ImageStore['find']
}

/** Draws a code, without its logo where that is missing. */
const draw = (code: PublicQr, drawing: Drawing, call: Pick<Call, 'from' | 'reader'>, services: QrImageServices) => {
  const source = addressSite(call.from)
  const { images, findImage } = services
  const { account, qr: id, logoHash } = code
  const logo = () => (logoHash ? findImage(account, logoHash) : findInlineLogo(call.reader, id))
  return images.draw(drawing, logo, source).catch((error: unknown) => {
    if (error instanceof Busy) return fail(503, 'busy', { what: 'images' }, { 'Retry-After': '2' })
    if (!(error instanceof LogoMissing)) throw error
    const { logoKey: _, ...plain } = drawing
    return images.draw(plain, undefined, source)
  })
}

const Query = z.object({
  format: z.enum(['png', 'svg'], says('not_one_of', { what: 'image' })).default('png'),
  size: z.string().optional(),
})
type Query = z.output<typeof Query>

const aliasOf = async (call: Call<{ id: string }, Query>) => {
  const { account, params } = call
  if (params.id.startsWith(byAlias)) return params.id.slice(byAlias.length).toLowerCase()
  return (await findQr(call.reader, account, parseId(params.id) ?? 0))?.alias
}

const answer = async (call: Call<{ id: string }, Query>, services: QrImageServices) => {
  const { account, query } = call
  const alias = await aliasOf(call)
  const [code] = alias === undefined ? [] : await findPublicQrs(call.reader, [alias])
  if (code?.account !== account) return fail(404, 'not_found', { what: 'qr' })
  const { foreground, background } = code
  const text = payload(code, services.baseUrl)
  const { format } = query
  const plain = { text, foreground, background, logo: null, format, size: sizeOf(`size=${query.size ?? ''}`) }
  const key = logoKey(code)
  const drawing = key === undefined ? plain : { ...plain, logoKey: key }
  const body = await draw(code, drawing, call, services)
  return {
    picture: {
      type: mediaTypes[format],
      body,
      headers: { ETag: headersOf(drawing).ETag, 'Content-Disposition': `inline; filename="${alias}.${format}"` },
    },
  }
}

/** The image of a QR code for its account, also as it was. Everyone gets that of now at its public address. */
export const qrImageRoutes = (services: QrImageServices): readonly Route[] => [
  endpoint(qrContract, 'GET /api/qr/:id/image', {
    scope: 'read',
    params: z.object({ id: z.string() }),
    query: Query,
    run: (call) => answer(call, services),
  }),
]
