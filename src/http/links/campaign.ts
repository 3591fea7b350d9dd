import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { withRandomAlias } from '../../commands/links/alias.ts'
import { assignLink } from '../../commands/links/assign.ts'
import { campaign } from '../../commands/links/campaign.ts'
import type { CampaignFields } from '../../events/links/campaign.ts'
import { text } from '../../lib/fields.ts'
import { findAccount } from '../../queries/accounts/account.ts'
import { findCampaign, listCampaigns } from '../../queries/links/campaign.ts'
import { campaignTotals } from '../../queries/statistics/totals.ts'
import { readAccount } from '../accounts/account.ts'
import { alias, byId, flag, name, orEmpty, pathId } from '../api/fields.ts'
import { list, ownedQuery } from '../api/list/list.ts'
import { endpoint, type Reading, type Route } from '../api/route.ts'
import { deleteOwned, ownedBy, readOwned } from '../api/owned.ts'
import { campaignContract, campaigns } from './contract/campaign.ts'
import { presentTotals } from '../statistics/totals.ts'

const fields = { slug: alias.optional(), public: flag.optional() }

type Presented = CampaignFields & { readonly id: number; readonly revision: number }

/** Before there was the account, it had no campaigns, and so none is shown with its name. */
const usernameOf = async (reading: Reading) => {
  const { account, reader } = reading
  const found = reader.clicksUpTo === undefined ? await readAccount(reading) : await findAccount(reader, account)
  return found?.username ?? ''
}

/** The name is returned as `domain` too, where the contract puts it. */
const presenter = async (reading: Reading, base: string) => {
  const username = await usernameOf(reading)
  return ({ id, name, slug, public: open, revision }: Presented) => ({
    id,
    name,
    domain: name,
    public: open,
    rotator: open ? `${base}/r/${slug}` : (false as const),
    list: `${base}/u/${username}/${slug}-${id}`,
    revision,
  })
}

/** Existing clients read the name of what they have created or changed as `campaign`. */
const named = <T extends { readonly name: string }>(presented: T) => ({ ...presented, campaign: presented.name })

export interface CampaignServices {
  readonly baseUrl: () => string
}

const ownList = ({ baseUrl }: CampaignServices) =>
  endpoint(campaignContract, 'GET /api/campaigns', {
    scope: 'read',
    limited: true,
    query: ownedQuery(campaigns),
    run: async (call) => {
      const present = await presenter(call, baseUrl())
      return list(campaigns, call, (request) => listCampaigns(call.reader, call.account, request), present)
    },
  })

const details = ({ baseUrl }: CampaignServices) =>
  endpoint(campaignContract, 'GET /api/campaign/:id', {
    statistics: true,
    single: true,
    scope: 'read',
    params: byId,
    run: async (call) => {
      const { params } = call
      const row = await readOwned(campaign, findCampaign, call, params.id)
      const totals = await campaignTotals(call.reader, call, params.id)
      return {
        details: (await presenter(call, baseUrl()))(row),
        data: presentTotals(totals),
      }
    },
  })

const add = ({ baseUrl }: CampaignServices) =>
  endpoint(campaignContract, 'POST /api/campaign/add', {
    scope: 'write',
    limited: true,
    body: z.object({ name: orEmpty(text(255)).optional(), ...fields }),
    run: async (call) => {
      const { account, body, create } = call
      const token = randomUUID()
      const make = (slug: string) =>
        create('campaign', campaign, (id) => ({
          type: 'Create' as const,
          id,
          account,
          fields: { name: body.name || `Campaign ${id}`, slug, public: body.public ?? body.slug !== undefined },
          token,
        }))
      const { id, state, revision } = body.slug === undefined ? await withRandomAlias(make) : await make(body.slug)
      return named((await presenter(call, baseUrl()))({ ...state.fields, id, revision }))
    },
  })

const assign = endpoint(campaignContract, 'POST /api/campaign/:campaignid/assign/:linkid', {
  scope: 'write',
  limited: true,
  params: z.object({ campaignid: pathId, linkid: pathId }),
  run: async (call) => {
    await assignLink(call, call.params.campaignid, call.params.linkid)
    return { message: 'Link has been added to the campaign.' }
  },
})

const update = ({ baseUrl }: CampaignServices) =>
  endpoint(campaignContract, 'PUT /api/campaign/:id/update', {
    single: true,
    scope: 'write',
    params: byId,
    owner: ownedBy(campaign),
    body: z.object({ name, ...fields }),
    run: async (call) => {
      const { id } = call.params
      const changes = call.body as Partial<CampaignFields>
      const command = { type: 'Update', id, account: call.account, changes, token: randomUUID() } as const
      const { state, revision } = await call.write(campaign, command)
      return named((await presenter(call, baseUrl()))({ ...state.fields, id, revision }))
    },
  })

export const campaignRoutes = (services: CampaignServices): readonly Route[] => [
  ownList(services),
  details(services),
  add(services),
  assign,
  update(services),
  endpoint(campaignContract, 'DELETE /api/campaign/:id/delete', deleteOwned('campaign', campaign)),
]
