import { z } from 'zod'
import { QrType } from '../../events/qr/qr.ts'
import {
  type Answer,
  type AnswerOf,
  type Whole,
  address,
  count,
  deleted,
  id,
  labels,
  listOf,
  ownedFields,
  type Contract,
  revision,
  statistics,
  stored,
  success,
  text,
  time,
} from '../api/contract.ts'

const link = address.describe('address of the image').meta({ examples: ['https://go.example.com/qr/k3m9x2pa'] })
const row = z.object({ id, link, scans: count, name: text, date: time, revision })
export type QrCode = Answer<typeof row>
const content = {
  type: stored(QrType),
  data: z.union([text, z.record(z.string(), text)]).describe('a string, or the fields of the type'),
  foreground: text.meta({ examples: ['#000000'] }),
  background: text.meta({ examples: ['#ffffff'] }),
  logo: z.boolean().describe('whether it has one'),
}
const warnings = { warnings: z.array(text).describe('colors that some scanners do not read').optional() }

const fields = {
  data: 'the content: a string, or the fields of the type (`wifi`: `ssid`, `pass`, `encryption`, `hidden`)',
  foreground: '`#000000` or `rgb(0,0,0)`; a contrast below 3:1 is refused',
  background: '`#ffffff` or `rgb(255,255,255)`',
  logo: 'http or https address, or `data:` URL, of a PNG or JPEG of at most 1,024 x 1,024 pixels',
  name: 'made from the data if not sent',
}

export const qrCodes = listOf('QrCode', 'qrs', row)
export type QrCodeList = Whole<typeof qrCodes>

export const qrContract = {
  'GET /api/qr': { summary: 'List QR codes', fields: ownedFields, ...qrCodes },
  'GET /api/qr/:id': {
    summary: 'Get a QR code and the statistics of its scans',
    answer: success({
      details: row.extend(content).meta({ id: 'QrCodeDetails' }),
      data: z.object(statistics(labels, ['facebook', 'twitter', 'instagram'])).meta({ id: 'QrCodeStatistics' }),
    }),
  },
  'POST /api/qr/add': {
    summary: 'Create a QR code',
    description:
      'Only codes of type `link` count scans: they encode an address of the service, which redirects. A scan that leads to a link of the account is one click, of the link, with the source `qr`.',
    fields,
    example: { type: 'wifi', data: { ssid: 'Guests', pass: 'welcome to us', encryption: 'WPA' }, name: 'Guests' },
    answer: success({ id, link, revision, ...warnings }),
  },
  'PUT /api/qr/:id/update': {
    summary: 'Change a QR code',
    description: 'Its type stays. `data` is required.',
    fields,
    example: { data: { ssid: 'Guests', pass: 'welcome again', encryption: 'WPA' }, foreground: '#14532d' },
    answer: success({ message: text, revision, ...warnings }),
  },
  'GET /api/qr/:id/image': {
    summary: 'Get the image of a QR code',
    description:
      'Everyone gets the image of now at the `link` of the code; with `at`, that address needs your API key, too.',
    fields: { format: '`png` or `svg`', size: 'pixels per side, 64 to 2048; 512 if not sent' },
    answer: z.string(),
    answerType: 'image/png',
  },
  'DELETE /api/qr/:id/delete': { summary: 'Delete a QR code', answer: deleted },
} satisfies Contract

export type FoundQrCode = AnswerOf<typeof qrContract, 'GET /api/qr/:id'>
