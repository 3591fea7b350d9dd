import { useState } from 'preact/hooks'
import type { LinkRow } from '../core/answers.ts'
import { request } from '../core/api.ts'
import { useLoad } from '../core/load.ts'
import { remove, useHidden } from '../core/removal.ts'
import { go, href } from '../core/router.ts'
import { t } from '../core/alltexts.ts'
import { fill, figure } from '../core/texts.ts'
import { attempt } from '../core/toasts.ts'
import { Button, CopyButton, IconButton } from '../parts/button.tsx'
import { HistoryLink } from '../parts/historylink.tsx'
import { Listing, Named, useList } from '../parts/listing.tsx'
import { Head, Nowhere, Section } from '../parts/section.tsx'
import { Failed, Skeleton } from '../parts/states.tsx'
import type { ScreenProps } from '../routes.ts'
import { type Campaign, CampaignForm, Openness } from './campaigns.tsx'
import { AddLinks } from './resources/addlinks.tsx'
import { Figures } from './resources/figures.tsx'

interface Answer {
  readonly details: Campaign
  readonly data: { readonly links: number; readonly clicks: number; readonly uniqueClicks: number }
}

const withoutScheme = (url: string) => url.replace(/^https?:\/\//, '')

/** The public addresses of a campaign. */
const Addresses = ({ campaign: { rotator, list } }: { readonly campaign: Campaign }) => {
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
  const { list, rows } = useList<LinkRow>('/api/urls', 'urls', {
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
        { name: links.clicks, kind: 'num', cell: ({ clicks }) => figure(clicks) },
        { name: links.visitors, kind: 'wide', cell: ({ uniqueclicks }) => figure(uniqueclicks) },
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
  const [open, setOpen] = useState<'edit' | 'add' | undefined>(undefined)
  const campaign = useLoad<Answer>(`/api/campaign/${id}`)
  const { campaigns: texts, resources } = t()
  if (campaign.error?.status === 404)
    return <Nowhere title={texts.notFound} text={t().link.notFoundText} href={href('/campaigns')} name={texts.title} />
  if (!campaign.data)
    return campaign.error ? (
      <Failed error={campaign.error} reload={campaign.reload} />
    ) : (
      <Skeleton rows={10} label={texts.one} />
    )
  const { details, data } = campaign.data
  return (
    <>
      <Head title={details.name} text={<Openness campaign={details} />}>
        <span class="chips">
          <Button icon="plus" onClick={() => setOpen('add')}>
            {resources.addLinks}
          </Button>
          <HistoryLink of="campaign" id={id} />
          <Button icon="edit" onClick={() => setOpen('edit')}>
            {resources.edit}
          </Button>
          <Button
            kind="danger"
            onClick={() =>
              void remove('/api/campaign', details, () => {
                go(href('/campaigns'))
                return () => {}
              })
            }
          >
            {resources.delete}
          </Button>
        </span>
      </Head>
      <Addresses campaign={details} />
      <div class="stack">
        {data.links > 0 && <Figures by="campaign" id={id} sums={data} />}
        <Section title={resources.itsLinks}>
          <CampaignLinks id={id} />
        </Section>
      </div>
      {open === 'edit' && <CampaignForm campaign={details} onClose={() => setOpen(undefined)} />}
      {open === 'add' && <AddLinks to={{ campaign: id }} name={details.name} onClose={() => setOpen(undefined)} />}
    </>
  )
}
