import { z } from 'zod'
import { FramingReason } from '../../../events/links/link.ts'
import {
  type Answer,
  type Whole,
  address,
  count,
  deleted,
  id,
  imported,
  labels,
  listOf,
  ownedFields,
  type Contract,
  problemFields,
  revision,
  statistics,
  stored,
  success,
  text,
  time,
} from '../../api/contract.ts'
import { addressContract, linkAddress, listedAddress } from './addresses.ts'
import { linkFields } from './fields.ts'

const alias = text.meta({ examples: ['spring'] })
const shorturl = address.meta({ examples: ['https://go.example.com/spring'] })
const targets = z.record(z.string(), address).meta({ examples: [{ canada: 'https://example.com/ca' }] })

const tags = z.array(text).meta({ examples: [['spring', 'print']] })

const status = z
  .enum(['active', 'scheduled', 'expired', 'protected', 'blocked', 'unreachable'])
  .describe(
    'what a visitor meets now; an archived link still redirects. `unreachable`: its domain is deleted or not verified',
  )

const row = z
  .object({
    id,
    alias,
    shorturl,
    longurl: address,
    clicks: count,
    title: text,
    description: text,
    date: time,
    uniqueclicks: count,
    domain: address,
    campaign: id.nullable(),
    tags,
    archived: z.boolean(),
    status,
    revision,
    imported,
    addresses: z
      .array(listedAddress)
      .optional()
      .describe('of a link that has several: all of them, the main one first'),
  })
  .meta({ id: 'LinkRow', description: 'a link in a list, with all columns' })
export type LinkRow = Answer<typeof row>

const details = z
  .object({
    id,
    shorturl,
    longurl: address.describe('as it was sent'),
    title: text,
    description: text,
    location: targets.describe('destination by country'),
    device: targets.describe('destination by device').meta({ examples: [{ iphone: 'https://example.com/app' }] }),
    expiry: time.nullable(),
    date: time,
    alias,
    type: text.meta({ examples: ['direct'] }),
    domain: address,
    browser: targets.describe('destination by browser').meta({ examples: [{ safari: 'https://example.com/safari' }] }),
    language: targets.describe('destination by language').meta({ examples: [{ fr: 'https://example.com/fr' }] }),
    parameters: z.array(z.object({ name: text, value: text })),
    metatitle: text,
    metadescription: text,
    metaimage: text,
    campaign: id.nullable(),
    channels: z.array(id),
    pixels: z.array(id),
    password: z.boolean().describe('whether visitors have to enter one'),
    unframed: z
      .array(z.object({ url: address, reason: stored(FramingReason), since: time }))
      .describe('destinations that refuse to be shown in a frame: their visitors are redirected'),
    tags,
    notes: text.describe('for you alone'),
    archived: z.boolean().describe('left out of the list of links'),
    status,
    starts: time.nullable().describe('not found before'),
    expired_url: address.describe('where visitors are sent once the link has ended'),
    max_clicks: count.nullable().describe('ends with this number of clicks'),
    forward: z
      .union([z.boolean(), z.literal('path')])
      .describe('whether the query of the short address is passed on; `path`: the rest of its path, too'),
    variants: z
      .array(z.object({ id, url: address, weight: count }))
      .describe('destinations that visitors are split between; clicks have the `id`'),
    addresses: z.array(linkAddress).describe('where it can be found, the main address first'),
    revision,
  })
  .meta({ id: 'LinkDetails' })
export type LinkDetails = Answer<typeof details>
const top = z.union([labels, z.literal(0)]).describe('clicks by label, the ten with most clicks; 0 without data')
const data = {
  ...statistics(top, ['facebook', 'twitter', 'google']),
  imported,
  topVariants: z
    .union([z.record(z.string(), text), z.literal(0)])
    .optional()
    .describe('clicks by the `id` of a variant, for a link that has or had variants; 0 without data')
    .meta({ examples: [{ 1: '750', 2: '250' }] }),
}
const found = success({ details, data: z.object(data).meta({ id: 'LinkStatistics' }) })
export type FoundLink = Answer<typeof found>

const written = success({ id, shorturl, short: shorturl, revision }).meta({ id: 'LinkWritten' })
export type LinkWritten = Answer<typeof written>

export const urls = listOf('Link', 'urls', row)
export type LinkList = Whole<typeof urls>

export const linkContract = {
  'GET /api/urls': {
    summary: 'List links, or find one by its short address',
    description:
      'With `short`, the answer has the details of one link, and `data.urls` its row. If there is no such link, `error` is 1, with status 200.',
    fields: {
      ...ownedFields,
      order: '`date` (newest first, default), `oldest` or `click` (most clicks first); anything else is `date`',
      short: 'a short address, or an alias alone',
      q: 'part of the alias, the title or the long URL; three characters or more are fast on any number of links',
      domain: 'address of a branded domain; empty for the domain of the service',
      campaign: 'id of a campaign',
      channel: 'id of a channel',
      tag: 'a tag; with commas between them, tags that a link must all have',
      archived: '`false` (default), `true` for archived links, `all` for both',
    },
    list: urls.list,
    answer: z.union([
      urls.answer,
      success({ details, data: z.object({ ...data, urls: z.array(row) }).meta({ id: 'LinkFound' }) }),
      z.object({ error: z.literal(1), message: text, ...problemFields }),
    ]),
  },
  'GET /api/url/:id': { summary: 'Get a link and its statistics', answer: found },
  'POST /api/url/add': {
    summary: 'Shorten an address',
    description: 'Only `url` is required. How the fields work together: “From a visit to the destination” above.',
    fields: linkFields,
    example: {
      url: 'https://example.com/spring',
      custom: 'spring',
      title: 'Spring sale',
      geotarget: [{ location: 'Canada', link: 'https://example.com/ca' }],
      devicetarget: [{ device: 'iphone', link: 'https://example.com/app' }],
      parameters: [{ name: 'utm_source', value: 'mail' }],
    },
    answer: written,
  },
  'PUT /api/url/:id/update': {
    summary: 'Change a link',
    description: 'Changes the fields that are sent; `""` or null clears an optional one.',
    fields: {
      ...linkFields,
      keep_old:
        'with another `custom` or `domain`: whether the link can still be found at its former address, as one of several; `true` (default) or `false`',
    },
    example: { url: 'https://example.com/spring-2', title: 'Spring sale, second week' },
    answer: written,
  },
  'DELETE /api/url/:id/delete': {
    summary: 'Delete a link',
    description: 'Its aliases are never given to another account.',
    answer: deleted,
  },
  ...addressContract,
} satisfies Contract
