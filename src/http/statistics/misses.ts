import { z } from 'zod'
import type { Domains } from '../../cache/domains.ts'
import { aliasPath } from '../../lib/short/alias.ts'
import { says } from '../../lib/fields.ts'
import { missKinds } from '../../lib/misses.ts'
import { utc } from '../../lib/zone.ts'
import { listMisses } from '../../queries/statistics/misses.ts'
import { nearLinks } from '../../queries/statistics/near.ts'
import type { Reader } from '../../queries/reader.ts'
import { list, listQuery, type ListCall, orderOf } from '../api/list/list.ts'
import { endpoint, type Route } from '../api/route.ts'
import { misses, missesContract } from './contract/misses.ts'

export interface MissServices {
  readonly domains: Pick<Domains, 'own'>
}

export const missQuery = listQuery(misses).extend({
  order: orderOf('date', 'oldest', 'click'),
  group: z.enum(['day', 'address'], says('not_one_of', { values: 'day, address' })).default('day'),
  kind: z.enum(missKinds, says('not_one_of', { values: missKinds.join(', ') })).optional(),
})

interface MissCall extends ListCall {
  readonly query: z.output<typeof missQuery>
  readonly reader: Reader
  readonly zone: string | undefined
}

/** Returns what leads nowhere, and the links of the caller that were meant. `of` 0: what is shown to operators. */
export const answerMisses = async (call: MissCall, of: number, { domains }: MissServices) => {
  const { account, query, reader, zone = utc } = call
  const { group, kind } = query
  return list(
    misses,
    { ...call, params: { of, group, kind, zone } },
    async (request) => {
      const found = await listMisses(reader, of, { ...request, byAddress: group === 'address', kind, zone })
      const near = await nearLinks(
        reader,
        account,
        found.rows.map(({ host, path }) => {
          const { id = null, exact = false } = domains.own(account, host) ?? {}
          return { path, domain: id, exact }
        }),
      )
      return { ...found, rows: found.rows.map((row, i) => ({ ...row, ...near[i] })) }
    },
    ({ near, at, ...row }) => ({
      ...row,
      suggestion: near && row.kind === 'unknown' ? `/${aliasPath(near.alias)}` : null,
      suggested: (row.kind === 'unknown' && near?.id) || null,
      link: at?.id ?? null,
    }),
  )
}

export const missRoutes = (services: MissServices): readonly Route[] => [
  endpoint(missesContract, 'GET /api/misses', {
    scope: 'stats:read',
    nowOnly: 'misses',
    statistics: true,
    query: missQuery,
    run: (call) => answerMisses(call, call.account, services),
  }),
]
