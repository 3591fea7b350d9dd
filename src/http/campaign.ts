import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { withRandomAlias } from '../commands/alias.ts'
import { campaign } from '../commands/campaign.ts'
import { link } from '../commands/link.ts'
import type { CampaignFields } from '../events/campaign.ts'
import { listCampaigns } from '../queries/campaign.ts'
import { readAccount } from './account.ts'
import { deleteRoute, existing, owns } from './owned.ts'
import { type Call, route, type Services } from './api/route.ts'
import { alias, list, must, name, orEmpty, page, text } from './api/fields.ts'

const label = 'Campaign'
const fields = { slug: alias.optional(), public: z.boolean(must('true or false')).optional() }

/** The name stands under `domain` too: that is what older clients look for. */
const presenter = async (call: Pick<Call<unknown>, 'account'>, services: Services) => {
  const base = services.baseUrl()
  const { username } = await readAccount(call, services)
  return ({ id, name, slug, public: open }: CampaignFields & { readonly id: number }) => ({
    id,
    name,
    domain: name,
    public: open,
    rotator: open ? `${base}/r/${slug}` : false,
    list: `${base}/u/${username}/${slug}-${id}`,
  })
}

export const campaignRoutes = [
  route({
    method: 'get',
    path: '/api/campaigns',
    run: async (call, services) => {
      const asked = page(call.query)
      const rows = await listCampaigns(services.reader, call.account, asked)
      return list('campaigns', asked, rows, await presenter(call, services))
    },
  }),

  route({
    method: 'post',
    path: '/api/campaign/add',
    body: z.object({ name: orEmpty(text(255)).optional(), ...fields }),
    run: async (call, services) => {
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
      const { id, state } = body.slug === undefined ? await withRandomAlias(make) : await make(body.slug)
      return (await presenter(call, services))({ ...state.fields, id })
    },
  }),

  route({
    method: 'post',
    path: '/api/campaign/:campaignid/assign/:linkid',
    run: async ({ account, ids: [campaignid = 0, linkid = 0], write }, services) => {
      await owns(campaign, label, services, account, campaignid)
      await write(link, {
        type: 'UpdateLink',
        id: linkid,
        account,
        changes: { campaign: campaignid },
        token: randomUUID(),
        now: new Date().toISOString(),
      })
      return { message: 'Link has been added to the campaign.' }
    },
  }),

  route({
    method: 'put',
    path: '/api/campaign/:id/update',
    body: z.object({ name, ...fields }),
    exists: existing(campaign, label),
    run: async (call, services) => {
      const {
        account,
        ids: [id = 0],
        body,
        write,
      } = call
      const changes = body as Partial<CampaignFields>
      const { state } = await write(campaign, { type: 'Update', id, account, changes, token: randomUUID() })
      return (await presenter(call, services))({ ...state.fields, id })
    },
  }),

  deleteRoute('/api/campaign/:id/delete', campaign, label),
]
