import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { qr } from '../commands/qr.ts'
import { type QrFields, type QrPersonal, QrType } from '../events/qr.ts'
import { contrast } from '../qr/color.ts'
import { nameOf, payloadLimit } from '../qr/payload.ts'
import { Busy } from '../qr/pool.ts'
import { findQr, listQrs, type QrListRow } from '../queries/qr.ts'
import { scanStats } from '../queries/stats.ts'
import { withRandomAlias } from '../commands/alias.ts'
import { fail } from './api/errors.ts'
import { deleteRoute, existing, listRoute, owns, readOwned } from './owned.ts'
import { dataOf, imageAddress, isScanAddress, payload } from './qraddress.ts'
import { readData } from './qrdata.ts'
import { route, type Services } from './api/route.ts'
import { statistics } from './stats.ts'
import { safeTargetUrl } from '../lib/url.ts'
import { color, must, orEmpty, orInitial, orNone, text, timestamp } from './api/fields.ts'

const label = 'QR code'
const initial = qr.initialState.fields
type Fields = QrFields & QrPersonal

const type = z.enum(QrType.options, { error: must(`one of ${QrType.options.join(', ')}`).error })

/** `rgb(r,g,b)` (CSS Color 4, 5.1, the older syntax) or HEX; stored as `#rrggbb`. */
const colour = z.string(must('a text')).transform((input, context) => {
  const numbers = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/i.exec(input)?.slice(1).map(Number)
  if (numbers?.every((n) => n <= 255)) return `#${numbers.map((n) => n.toString(16).padStart(2, '0')).join('')}`
  const hex = color.safeParse(input)
  if (hex.success) return hex.data
  context.addIssue('must be a colour like rgb(0,0,0), with numbers from 0 to 255, or #000000')
  return z.NEVER
})

const Body = z.object({
  data: z.unknown().optional(),
  foreground: orInitial(colour, initial.foreground).optional(),
  background: orInitial(colour, initial.background).optional(),
  logo: orNone(z.string(must('a text'))).optional(),
  name: orEmpty(text(255)).optional(),
})
type Body = z.output<typeof Body>

/** Contrast (WCAG 2.2) below which nothing tells a code from its background; from 4.5:1 on it is read well. */
const leastContrast = 2

/** Fails with what makes a code that nothing could read. */
const readable = (fields: Fields, { baseUrl, isOwnHost }: Services) => {
  const { type, foreground, background } = fields
  const data = dataOf(fields)
  if (type === 'link' && typeof data === 'string' && isScanAddress(data, isOwnHost))
    fail(400, 'data: must not lead to a QR code of this service.')
  const bytes = Buffer.byteLength(payload(fields, baseUrl))
  if (bytes > payloadLimit) fail(400, `data: comes to ${bytes} bytes in the code; it may come to ${payloadLimit}.`)
  const ratio = contrast(foreground, background)
  if (ratio < leastContrast)
    fail(
      400,
      `foreground: is too like the background to be read: their contrast is ${ratio.toFixed(1)}:1 and must be at least ${leastContrast}:1.`,
    )
}

/** What the body changes. A name that was made from the data goes on being made from it. */
const wished = (body: Body, before: Fields, services: Services): Partial<Fields> => {
  const data = readData(before.type, body.data)
  const made = body.name === '' || (body.name === undefined && before.name === nameOf(dataOf(before)))
  const sent = { ...body, data: JSON.stringify(data), name: made ? nameOf(data) : body.name, logo: undefined }
  const changes = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) as Partial<Fields>
  readable({ ...before, ...changes }, services)
  return changes
}

const inline = /^data:image\/(?:png|jpe?g);base64,([A-Za-z0-9+/]+=*)$/i
const logoShape = 'must be an http or https address of a PNG or JPEG image, or a data:image/png;base64, or jpeg URL'

/** The picture itself, from its address or from the body. */
const picture = async (logo: string, { guardedFetch }: Services) => {
  const [, data] = inline.exec(logo) ?? []
  if (data !== undefined) return Buffer.from(data, 'base64')
  if (!/^https?:\/\//i.test(logo)) return fail(400, `logo: ${logoShape}.`)
  const safe = safeTargetUrl(logo)
  const fetched = safe.ok ? await guardedFetch(safe.url) : safe
  return fetched.ok ? fetched.body : fail(400, `logo: ${fetched.problem}.`)
}

/** The logo as it is kept; null takes it away, undefined leaves it as it is. Asked for last: it may take seconds. */
const logoOf = async ({ logo }: Body, services: Services): Promise<{ logo?: string | null }> => {
  if (logo === undefined) return {}
  if (logo === null) return { logo }
  const made = await services.images.logo(await picture(logo, services)).catch((error: unknown) => {
    if (error instanceof Busy)
      return fail(503, 'Too many logos are being read just now; try again shortly.', { 'Retry-After': '2' })
    throw error
  })
  return made.ok ? { logo: made.png } : fail(400, `logo: ${made.problem}.`)
}

const present = ({ id, alias, name, scans, created }: QrListRow, { baseUrl }: Services) => ({
  id,
  link: imageAddress(alias, baseUrl),
  scans,
  name: name ?? '',
  date: timestamp(created),
})

export const qrRoutes = [
  listRoute('/api/qr', 'qrs', listQrs, present),

  route({
    method: 'get',
    path: '/api/qr/:id',
    run: async (call, services) => {
      const row = await readOwned(qr, label, findQr, call, services)
      const scans = await scanStats(services.reader, row.id)
      return {
        details: present({ ...row, scans: scans.clicks }, services),
        data: statistics(scans, {}, ['facebook', 'twitter', 'instagram']),
      }
    },
  }),

  route({
    method: 'post',
    path: '/api/qr/add',
    body: Body.extend({ type }),
    run: async ({ account, body, create }, services) => {
      const blank = { ...initial, type: body.type }
      const fields = { ...blank, ...wished(body, blank, services), ...(await logoOf(body, services)) }
      const token = randomUUID()
      const { id, state } = await withRandomAlias((alias) =>
        create('qr', qr, (id) => ({ type: 'Create' as const, id, account, fields: { ...fields, alias }, token })),
      )
      return { id, link: imageAddress(state.fields.alias, services.baseUrl) }
    },
  }),

  route({
    method: 'put',
    path: '/api/qr/:id/update',
    body: Body,
    exists: existing(qr, label),
    run: async ({ account, ids: [id = 0], body, write }, services) => {
      const { fields } = await owns(qr, label, services, account, id)
      const changes = { ...wished(body, fields, services), ...(await logoOf(body, services)) }
      await write(qr, { type: 'Update', id, account, changes })
      return { message: `${label} has been updated.` }
    },
  }),

  deleteRoute('/api/qr/:id/delete', qr, label),
]
