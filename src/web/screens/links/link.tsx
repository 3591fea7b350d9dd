import { useState } from 'preact/hooks'
import { withoutScheme } from '../../core/address.ts'
import type { RevisionList } from '../../../http/history/contract/revisions.ts'
import type { FoundLink } from '../../../http/links/contract/link.ts'
import { request } from '../../core/api.ts'
import { useKey } from '../../core/keys.ts'
import { useLoad } from '../../core/load.ts'
import { past } from '../../core/past.ts'
import { at, go, href, withQuery, type ScreenProps } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { counted, figure, fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { attempt } from '../../core/toasts.ts'
import { CopyButton } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { periodOf } from '../statistics/period.ts'
import { Periods } from '../statistics/presets.tsx'
import { useRefresh } from '../statistics/refresh.ts'
import { NotFound } from '../../parts/section.tsx'
import { Failed, Notice } from '../../parts/states.tsx'
import { filled, When } from '../../parts/when.tsx'
import { LinkSheet } from './editor/sheet.tsx'
import { Addresses } from './addresses.tsx'
import { Destinations } from './destinations.tsx'
import { LinkHead } from './head.tsx'
import { LinkHistory } from './revisions.tsx'
import { Statistics } from '../statistics/statistics.tsx'

interface FiguresProps {
  readonly answer: FoundLink
  readonly onClicks: () => void
  readonly onChange: () => void
}

const Figures = ({ answer, onClicks, onChange }: FiguresProps) => {
  const { details, data } = answer
  const created = moment(details.date)
  const period = periodOf(at.value.query, created)
  const texts = t().link
  const allTime = {
    name: texts.allTime,
    n: data.clicks,
    note: (
      <>
        {filled(counted(texts.since, data.uniqueClicks), { when: <When at={created} as="day" /> })}{' '}
        {data.imported !== undefined && fill(texts.imported, { n: figure(data.imported) })}
      </>
    ),
    visits: { class: 'human', period: 'all' },
  }
  return (
    <>
      <Periods period={period} />
      <Statistics
        period={period}
        of={{ by: 'link', id: details.id, file: `${details.alias}-clicks`, allTime, onClicks }}
      >
        <Destinations details={details} />
        <Addresses details={details} onChange={onChange} />
      </Statistics>
    </>
  )
}

/** A new link: what to do with it first. */
const Made = ({ shorturl }: { readonly shorturl: string }) => (
  <Notice
    kind="good"
    icon="check"
    action={<CopyButton text={shorturl} label={fill(t().actions.copy, { what: shorturl })} />}
  >
    <strong>{t().link.made}</strong> {withoutScheme(shorturl)}
  </Notice>
)

/** One link: where it leads, its QR code, and what became of it. */
export const LinkScreen = ({ params }: ScreenProps) => {
  const id = Number(params['id'])
  const [isAsking, setIsAsking] = useState(false)
  const link = useLoad<FoundLink>(`/api/url/${id}`)
  const revisions = useLoad<RevisionList>(link.data && `/api/url/${id}/revisions?limit=50`)
  const [again, revisionsAgain] = [useRefresh(link), useRefresh(revisions)]
  const onClicks = () => {
    again()
    revisionsAgain()
  }
  const texts = t().link
  useKey('e', () => !past.value && go(withQuery({ sheet: 'edit' })))
  if (link.error?.status === 404)
    return <NotFound title={texts.notFound} text={texts.notFoundText} href={href('/links')} name={texts.back} />
  if (link.error && !link.data) return <Failed error={link.error} reload={link.reload} />
  if (!link.data)
    return (
      <>
        <div key="later" class="link-head pulse" aria-busy="true" />
        <div class="later" />
      </>
    )
  const { details } = link.data
  const name = withoutScheme(details.shorturl)
  const remove = () =>
    attempt({
      apply: () => () => {},
      send: async () => {
        await request('DELETE', `/api/url/${id}/delete`)
        go(href('/links'))
      },
      done: fill(texts.deleted, { name }),
      what: name,
    })
  return (
    <>
      {at.value.query.get('made') === '1' && <Made shorturl={details.shorturl} />}
      <LinkHead key={details.revision} details={details} onDelete={() => setIsAsking(true)} />
      <div class="with-history">
        <div class="stack">
          <Figures answer={link.data} onClicks={onClicks} onChange={onClicks} />
        </div>
        <LinkHistory id={id} revisions={revisions.data?.data.revisions ?? []} />
      </div>
      {at.value.query.get('sheet') === 'edit' && !past.value && (
        <LinkSheet id={id} onClose={() => go(withQuery({ sheet: undefined }), { replace: true })} />
      )}
      {isAsking && (
        <Confirm
          title={fill(texts.deleteTitle, { name })}
          text={t().links.deleteText}
          action={texts.delete}
          onClose={() => setIsAsking(false)}
          onConfirm={remove}
        />
      )}
    </>
  )
}
