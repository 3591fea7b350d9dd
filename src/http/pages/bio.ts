import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { bio } from '../../commands/pages/bio.ts'
import { type BioFields, bioLook, BioTheme, entriesOf } from '../../events/pages/bio.ts'
import { type BioListRow, type BioRow, entryClicks, findBio, listBios } from '../../queries/pages/bio.ts'
import { readOneMoment } from '../../queries/reader.ts'
import { viewStats } from '../../queries/statistics/stats.ts'
import { withRandomAlias } from '../../commands/links/alias.ts'
import { type AddressesOf, deleteOwned, listOwned, readOwned, updateOwned } from '../api/owned.ts'
import { statistics } from '../statistics/totals.ts'
import { endpoint, type Route } from '../api/route.ts'
import type { Reader } from '../../queries/reader.ts'
import { type Blocking, rejectBlocked, rejectBlockedAlias } from '../api/blockedaddress.ts'
import { failField } from '../api/errors.ts'
import { alias, byId, color, name, orEmpty, orInitial, url } from '../api/fields.ts'
import { must, says, text, timestamp } from '../../lib/fields.ts'
import { bioContract, bioPages } from './contract/bio.ts'

const theme = z.enum(BioTheme.options, { error: must('not_one_of', { values: BioTheme.options.join(', ') }).error })
const entryId = z.int(must('wrong_type', { what: 'entry_id' })).optional()
const links = z
  .array(z.object({ id: entryId, title: name, url }), must('wrong_type', { what: 'objects' }))
  .max(100, says('too_many', { max: 100 }))

const fields = z
  .object({
    name,
    alias,
    title: orEmpty(text(255)),
    description: orEmpty(text(2000)),
    avatar: orEmpty(url),
    links: orInitial(links, []),
    theme: orInitial(theme, bioLook.theme),
    color: orInitial(color, bioLook.color),
  })
  .partial()

export const addressesOf: AddressesOf<BioFields> = ({ avatar, links }) => ({
  avatar: [avatar],
  links: links?.map(({ url }) => url) ?? [],
})

export interface BioServices extends Blocking {
  readonly baseUrl: () => string
}

/**
 * Fails with 400 for an address at which something was blocked, and for another address of a page that is blocked,
 * which would not be blocked once the page is deleted.
 */
const rejectBlockedAddress = (
  { alias }: { readonly alias?: string | undefined },
  services: Pick<BioServices, 'blocks'>,
  id?: number,
) => {
  if (!alias) return
  if (id !== undefined && services.blocks.bio(id)) failField('alias', 'blocked', { what: 'host' })
  rejectBlockedAlias('alias', { site: undefined, alias }, services)
}

const address = ({ alias }: Pick<BioFields, 'alias'>, { baseUrl }: BioServices) => `${baseUrl()}/${alias}`

const summary = (row: Pick<BioListRow, keyof BioListRow & keyof BioRow>, services: BioServices) => {
  const { id, name, alias, title, created, revision } = row
  return { id, name, alias, title, link: address(row, services), date: timestamp(created), revision }
}
const listed = (row: BioListRow, services: BioServices) => ({
  ...summary(row, services),
  views: row.views,
  clicks: row.clicks,
})

/** The page with the clicks of each entry, and the statistics of its views. */
const detailed = async (reader: Reader, row: BioRow, services: BioServices) => {
  const { views, clicks } = await readOneMoment(reader, async (moment) => ({
    views: await viewStats(moment, row.id),
    clicks: await entryClicks(moment, row),
  }))
  const { description, avatar, theme, color } = row
  const links = entriesOf(row.links).map((entry) => {
    const { clicks: n, uniques } = clicks.of(entry.id)
    return { ...entry, clicks: n, uniqueClicks: uniques }
  })
  const {
    clicks: viewed,
    uniqueClicks: uniqueViews,
    ...top
  } = statistics(views, {}, ['facebook', 'twitter', 'instagram'])
  const { total } = clicks
  return {
    details: {
      ...summary(row, services),
      description,
      avatar,
      theme: theme ?? bioLook.theme,
      color: color ?? bioLook.color,
      links,
    },
    data: { views: viewed, uniqueViews, clicks: total.clicks, uniqueClicks: total.uniques, ...top },
  }
}

export const bioRoutes = (services: BioServices): readonly Route[] => [
  endpoint(bioContract, 'GET /api/bio', {
    scope: 'read',
    ...listOwned(bioPages, listBios, (row) => listed(row, services)),
  }),

  endpoint(bioContract, 'GET /api/bio/:id', {
    statistics: true,
    single: true,
    scope: 'read',
    params: byId,
    run: async (call) => detailed(call.reader, await readOwned(bio, findBio, call, call.params.id), services),
  }),

  endpoint(bioContract, 'POST /api/bio/add', {
    scope: 'write',
    limited: true,
    body: fields.extend({ name, links }),
    run: async ({ account, body, create }) => {
      rejectBlocked(addressesOf(body), services)
      rejectBlockedAddress(body, services)
      const { alias: wished, ...given } = body
      const token = randomUUID()
      const make = (alias: string) => {
        const fields = { ...bio.initialState.fields, ...given, alias } as BioFields
        return create('bio', bio, (id) => ({ type: 'Create' as const, id, account, fields, token }))
      }
      const { id, state, revision } = wished === undefined ? await withRandomAlias(make) : await make(wished)
      return { id, link: address(state.fields, services), revision }
    },
  }),

  endpoint(
    bioContract,
    'PUT /api/bio/:id/update',
    updateOwned('bio', bio, fields, (body, id) => {
      rejectBlocked(addressesOf(body), services)
      rejectBlockedAddress(body, services, id)
    }),
  ),

  endpoint(bioContract, 'DELETE /api/bio/:id/delete', deleteOwned('bio', bio)),
]
