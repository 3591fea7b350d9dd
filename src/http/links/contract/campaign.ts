import { z } from 'zod'
import {
  type Answer,
  type AnswerOf,
  type Whole,
  address,
  deleted,
  done,
  id,
  linkTotals,
  listOf,
  ownedFields,
  type Contract,
  revision,
  success,
  text,
} from '../../api/contract.ts'

const name = text.meta({ examples: ['Spring'] })
const campaign = {
  id,
  name,
  domain: name.describe('the name again'),
  public: z.boolean(),
  rotator: z.union([address, z.literal(false)]).describe('redirects to any of its links; false while it is not public'),
  list: address.describe('page with its links'),
  revision,
}
const details = z.object(campaign).meta({ id: 'CampaignDetails' })
export type CampaignDetails = Answer<typeof details>
const answer = success({ ...campaign, campaign: name.describe('the name again') }).meta({ id: 'CampaignWritten' })
const fields = {
  slug: 'part of the public addresses: 1 to 64 letters, digits, `-` and `_`; random if not sent',
  public: 'whether the rotator and the list can be visited; true if a slug is sent',
}

export const campaigns = listOf('Campaign', 'campaigns', details)
export type CampaignList = Whole<typeof campaigns>

export const campaignContract = {
  'GET /api/campaigns': {
    summary: 'List campaigns',
    fields: ownedFields,
    ...campaigns,
  },
  'GET /api/campaign/:id': {
    summary: 'Get a campaign and the clicks on its links',
    description: 'Its links are those of `GET /api/urls?campaign=<id>`.',
    answer: success({ details, data: linkTotals }),
  },
  'POST /api/campaign/add': {
    summary: 'Create a campaign',
    fields,
    example: { name: 'Spring', slug: 'spring-links', public: true },
    answer,
  },
  'PUT /api/campaign/:id/update': {
    summary: 'Change a campaign',
    fields,
    example: { name: 'Spring and summer' },
    answer,
  },
  'POST /api/campaign/:campaignid/assign/:linkid': {
    summary: 'Add a link to a campaign',
    description: 'A link is in one campaign at most, so it leaves the one it was in.',
    answer: done,
  },
  'DELETE /api/campaign/:id/delete': { summary: 'Delete a campaign and keep its links', answer: deleted },
} satisfies Contract

export type FoundCampaign = AnswerOf<typeof campaignContract, 'GET /api/campaign/:id'>
