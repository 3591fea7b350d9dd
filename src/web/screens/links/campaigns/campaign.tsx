import type { CampaignDetails, FoundCampaign } from '../../../../http/links/contract/campaign.ts'
import { withoutScheme } from '../../../core/address.ts'
import type { LinkList, LinkRow } from '../../../../http/links/contract/link.ts'
import { request } from '../../../core/api.ts'
import { useLoad } from '../../../core/load.ts'
import { useHidden } from '../../../core/removal.ts'
import { href, type ScreenProps } from '../../../core/router.ts'
import { t } from '../../../core/alltexts.ts'
import { fill } from '../../../core/texts.ts'
import { attempt } from '../../../core/toasts.ts'
import { CopyButton, IconButton } from '../../../parts/button.tsx'
import { Listing, Named, useList } from '../../../parts/listing.tsx'
import { Section } from '../../../parts/section.tsx'
import { CampaignForm, Openness } from './list.tsx'
import { LinkClicks, LinkVisitors } from '../figures.tsx'
import { Figures } from '../group/figures.tsx'
import { GroupScreen } from '../group/group.tsx'

/** The public addresses of a campaign. */
const Addresses = ({ campaign: { rotator, list } }: { readonly campaign: CampaignDetails }) => {
  const texts = t().campaigns
  if (rotator === false) return null
  const rows = [
    [texts.rotator, texts.rotatorText, rotator],
    [texts.page, texts.pageText, list],
  ] as const
  return (
    <dl class="addresses">
      {rows.map(([name, text, address]) => (
        <div key={name}>
          <dt>
            {name} <span class="quiet small">{text}</span>
          </dt>
          <dd>
            <a href={address} target="_blank" rel="noreferrer">
              {withoutScheme(address)}
            </a>
            <CopyButton text={address} label={fill(t().actions.copy, { what: withoutScheme(address) })} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** The links of a campaign, those with most clicks first. */
const CampaignLinks = ({ id }: { readonly id: number }) => {
  const { list, rows } = useList<LinkList>('/api/urls', 'urls', {
    campaign: String(id),
    order: 'click',
    archived: 'all',
  })
  const { isHidden, hide } = useHidden()
  const { campaigns: texts, resources, links } = t()
  const takeOut = (link: LinkRow) => {
    let back = () => {}
    const set = (campaign: number | null) =>
      request('PUT', `/api/url/${link.id}/update`, { url: link.longurl, campaign })
    return attempt({
      apply: () => (back = hide(link.id)),
      send: () => set(null),
      done: fill(resources.takenOut, { name: link.alias }),
      what: link.alias,
      undo: async () => {
        await set(id)
        back()
      },
    })
  }
  return (
    <Listing
      title={links.title}
      list={list}
      rows={rows.filter((link) => !isHidden(link.id))}
      keyOf={(link) => link.id}
      searchFor={links.searchFor}
      none={{ title: texts.noLinks, text: texts.noLinksText }}
      columns={[
        {
          name: links.link,
          cell: (link) => (
            <Named
              name={withoutScheme(link.shorturl)}
              to={href(`/links/${link.id}`)}
              note={link.title || withoutScheme(link.longurl)}
            />
          ),
        },
        { name: links.clicks, kind: 'num', cell: LinkClicks },
        { name: links.visitors, kind: 'wide', cell: LinkVisitors },
      ]}
      tools={(link) => (
        <IconButton
          icon="close"
          writes
          label={fill(resources.takeOutNamed, { name: link.alias })}
          onClick={() => void takeOut(link)}
        />
      )}
    />
  )
}

/** One campaign: its links, its public addresses, and what became of them. */
export const CampaignScreen = ({ params }: ScreenProps) => {
  const id = Number(params['id'])
  const loaded = useLoad<FoundCampaign>(`/api/campaign/${id}`)
  return (
    <GroupScreen<CampaignDetails, FoundCampaign>
      of="campaign"
      id={id}
      loaded={loaded}
      texts={t().campaigns}
      text={(campaign) => <Openness campaign={campaign} />}
      form={(campaign, onClose) => <CampaignForm campaign={campaign} onClose={onClose} />}
    >
      {({ details, data }) => (
        <>
          <Addresses campaign={details} />
          <div class="stack">
            {data.links > 0 && <Figures by="campaign" id={id} sums={data} loaded={loaded} />}
            <Section title={t().resources.itsLinks}>
              <CampaignLinks id={id} />
            </Section>
          </div>
        </>
      )}
    </GroupScreen>
  )
}
