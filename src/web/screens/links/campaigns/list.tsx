import { useState } from 'preact/hooks'
import { withoutScheme } from '../../../core/address.ts'
import { request } from '../../../core/api.ts'
import { useForm } from '../../../core/form.ts'
import { go, href } from '../../../core/router.ts'
import { service } from '../../../core/session.ts'
import { t } from '../../../core/alltexts.ts'
import { fill } from '../../../core/texts.ts'
import { CopyButton } from '../../../parts/button.tsx'
import { Switch, TextField } from '../../../parts/field.tsx'
import { FormDialog } from '../../../parts/formdialog.tsx'
import { Named } from '../../../parts/listing.tsx'
import { Mark } from '../../../parts/mark.tsx'
import { OwnedList } from '../../../parts/ownedlist.tsx'

export interface Campaign {
  readonly id: number
  readonly name: string
  readonly public: boolean
  readonly rotator: string | false
  /** address of the page with its links, which ends with its slug and its id */
  readonly list: string
}

const slugOf = ({ id, list }: Pick<Campaign, 'id' | 'list'>) =>
  decodeURIComponent(new URL(list).pathname.split('/').at(-1) ?? '').slice(0, -`-${id}`.length)

interface CampaignFormProps {
  readonly campaign?: Campaign | undefined
  readonly onClose: () => void
}

/** The fields of a campaign, which is made or changed. */
export const CampaignForm = ({ campaign, onClose }: CampaignFormProps) => {
  const [name, setName] = useState(campaign?.name ?? '')
  const [slug, setSlug] = useState(campaign ? slugOf(campaign) : '')
  const [isPublic, setPublic] = useState(campaign?.public ?? false)
  const form = useForm()
  const texts = t().campaigns
  const submit = async () => {
    const body = { name, public: isPublic, ...(slug === '' ? {} : { slug }) }
    if (campaign) await request('PUT', `/api/campaign/${campaign.id}/update`, body)
    else {
      const { id } = await request<{ readonly id: number }>('POST', '/api/campaign/add', body)
      go(href(`/campaigns/${id}`))
    }
    onClose()
  }
  return (
    <FormDialog
      title={campaign ? texts.edit : texts.create}
      action={campaign ? t().actions.save : texts.create}
      form={form}
      fields={['name', 'slug']}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={t().resources.name}
        value={name}
        onValue={setName}
        required
        autofocus
        problem={form.problem('name')}
      />
      <Switch label={texts.makePublic} checked={isPublic} onValue={setPublic} />
      {isPublic && (
        <TextField
          label={texts.slug}
          value={slug}
          onValue={setSlug}
          hint={fill(texts.slugHint, { address: `${service.baseUrl}/r/${slug || '…'}` })}
          problem={form.problem('slug')}
        />
      )}
    </FormDialog>
  )
}

/** Says whether visitors find a campaign. */
export const Openness = ({ campaign }: { readonly campaign: Pick<Campaign, 'public'> }) =>
  campaign.public ? <Mark kind="good">{t().campaigns.public}</Mark> : <Mark kind="off">{t().campaigns.private}</Mark>

/** All campaigns: links that belong together. */
export const Campaigns = () => (
  <OwnedList<Campaign>
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
