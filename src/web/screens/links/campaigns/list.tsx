import type { CampaignDetails, CampaignList } from '../../../../http/links/contract/campaign.ts'
import { withoutScheme } from '../../../core/address.ts'
import { useDraft } from '../../../core/draft.ts'
import { href } from '../../../core/router.ts'
import { service } from '../../../core/session.ts'
import { t } from '../../../core/alltexts.ts'
import { fill } from '../../../core/texts.ts'
import { CopyButton } from '../../../parts/button.tsx'
import { Switch, TextField } from '../../../parts/field.tsx'
import { Named } from '../../../parts/listing.tsx'
import { Mark } from '../../../parts/mark.tsx'
import { OwnedList } from '../../../parts/ownedlist.tsx'
import { ResourceForm } from '../../../parts/resourceform.tsx'

const slugOf = ({ id, list }: Pick<CampaignDetails, 'id' | 'list'>) =>
  decodeURIComponent(new URL(list).pathname.split('/').at(-1) ?? '').slice(0, -`-${id}`.length)

interface CampaignFormProps {
  readonly campaign?: CampaignDetails | undefined
  readonly onClose: () => void
}

/** The fields of a campaign, which is made or changed. */
export const CampaignForm = ({ campaign, onClose }: CampaignFormProps) => {
  const form = useDraft({
    name: campaign?.name ?? '',
    public: campaign?.public ?? false,
    slug: campaign ? slugOf(campaign) : '',
  })
  const texts = t().campaigns
  const { slug, ...rest } = form.draft
  return (
    <ResourceForm
      one="/api/campaign"
      id={campaign?.id}
      texts={texts}
      form={form}
      body={slug === '' ? rest : form.draft}
      screens="/campaigns"
      onClose={onClose}
    >
      <TextField label={t().resources.name} {...form.field('name')} required autofocus />
      <Switch label={texts.makePublic} {...form.field('public')} />
      {form.draft.public && (
        <TextField
          label={texts.slug}
          {...form.field('slug')}
          hint={fill(texts.slugHint, { address: `${service.baseUrl}/r/${slug || '…'}` })}
        />
      )}
    </ResourceForm>
  )
}

/** Says whether visitors find a campaign. */
export const Openness = ({ campaign }: { readonly campaign: Pick<CampaignDetails, 'public'> }) =>
  campaign.public ? <Mark kind="good">{t().campaigns.public}</Mark> : <Mark kind="off">{t().campaigns.private}</Mark>

/** All campaigns: links that belong together. */
export const Campaigns = () => (
  <OwnedList<CampaignList>
    path="/api/campaigns"
    field="campaigns"
    one="/api/campaign"
    texts={t().campaigns}
    nameOf={({ name }) => name}
    make={(onClose, campaign) => <CampaignForm campaign={campaign} onClose={onClose} />}
    changes
    columns={[
      {
        name: t().resources.name,
        cell: ({ id, name, rotator }) => (
          <Named
            name={name}
            to={href(`/campaigns/${id}`)}
            note={rotator === false ? t().campaigns.onlyYou : withoutScheme(rotator)}
          />
        ),
      },
      { name: t().resources.state, kind: 'state', cell: (row) => <Openness campaign={row} /> },
    ]}
    tools={({ rotator }) =>
      rotator !== false && <CopyButton text={rotator} label={fill(t().actions.copy, { what: rotator })} />
    }
  />
)
