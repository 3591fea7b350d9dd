import { useState } from 'preact/hooks'
import { withoutScheme } from '../../core/address.ts'
import type { LinkAnswer, LinkDetails } from '../../core/answers.ts'
import { request } from '../../core/api.ts'
import { useKey } from '../../core/keys.ts'
import { useLoad } from '../../core/load.ts'
import { past } from '../../core/past.ts'
import { at, go, href, withQuery, type ScreenProps } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { counted, fill } from '../../core/texts.ts'
import { dayOf, moment } from '../../core/time.ts'
import { attempt } from '../../core/toasts.ts'
import { CopyButton, WriteLink } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { periodOf } from '../statistics/period.ts'
import { Periods } from '../statistics/presets.tsx'
import { QrImage } from '../../parts/qrimage.tsx'
import { NotFound } from '../../parts/section.tsx'
import { Failed, Notice } from '../../parts/states.tsx'
import { LinkSheet } from './editor/sheet.tsx'
import { Destinations } from './destinations.tsx'
import { LinkHistory } from './revisions.tsx'
import { statusOf, Status } from './status.tsx'
import { Statistics } from '../statistics/statistics.tsx'

const Facts = ({ details }: { readonly details: LinkDetails }) => {
  const texts = t().link
  const rules = [details.location, details.device, details.language].reduce((n, one) => n + Object.keys(one).length, 0)
  return (
    <div class="facts">
      <Status {...statusOf(details)} />
      {rules > 0 && <span>{counted(texts.rules, rules)}</span>}
      {details.tags.length > 0 && (
        <ul class="tags">
          {details.tags.map((tag) => (
            <li key={tag}>
              <a href={href('/links', { tag })}>{tag}</a>
            </li>
          ))}
        </ul>
      )}
      <span>{fill(texts.created, { when: dayOf(moment(details.date)) })}</span>
    </div>
  )
}

interface MoreProps {
  readonly details: LinkDetails
  readonly onDelete: () => void
}

/** Edit, and what is needed less often. */
const Do = ({ details, onDelete }: MoreProps) => {
  const texts = t().link
  const name = withoutScheme(details.shorturl)
  const [archived, setArchived] = useState(details.archived)
  const set = (to: boolean) => request('PUT', `/api/url/${details.id}/update`, { url: details.longurl, archived: to })
  const archive = () =>
    attempt({
      apply: () => {
        setArchived(!archived)
        return () => setArchived(archived)
      },
      send: () => set(!archived),
      undo: async () => {
        await set(archived)
        setArchived(archived)
      },
      done: fill(archived ? texts.unarchiveDone : texts.archiveDone, { name }),
      what: name,
    })
  return (
    <div class="do">
      <WriteLink href={withQuery({ sheet: 'edit' })}>
        <Icon name="edit" />
        {texts.edit} <kbd aria-hidden="true">E</kbd>
      </WriteLink>
      <details class="menu" hidden={past.value !== undefined}>
        <summary class="button only-icon" aria-label={texts.more}>
          <Icon name="more" />
        </summary>
        <div>
          <a href={href('/qr/new', { link: details.shorturl })}>{texts.design}</a>
          <button type="button" onClick={() => void archive()}>
            {archived ? texts.unarchive : texts.archive}
          </button>
          <hr />
          <button type="button" onClick={onDelete}>
            {texts.delete}
          </button>
        </div>
      </details>
    </div>
  )
}

const LinkHead = ({ details, onDelete }: MoreProps) => {
  const texts = t().link
  const { shorturl, alias, longurl } = details
  const name = withoutScheme(shorturl)
  return (
    <div class="link-head">
      <div>
        <h1>
          <span>
            <span>{name.slice(0, -alias.length)}</span>
            <wbr />
            {alias}
          </span>
          <CopyButton text={shorturl} label={fill(t().actions.copy, { what: name })} />
        </h1>
        <p class="goes">
          <span class="quiet" role="img" aria-label={texts.goesTo}>
            →
          </span>
          <a href={longurl} target="_blank" rel="noreferrer" dir="auto">
            {longurl}
          </a>
        </p>
        <Facts details={details} />
      </div>
      <a class="qr-small" href={href('/qr/new', { link: shorturl })} title={texts.design}>
        <QrImage text={shorturl} label={fill(texts.qrCode, { name })} />
      </a>
      <Do details={details} onDelete={onDelete} />
    </div>
  )
}

const Figures = ({ answer }: { readonly answer: LinkAnswer }) => {
  const { details, data } = answer
  const created = moment(details.date)
  const period = periodOf(at.value.query, created)
  const texts = t().link
  const allTime = {
    name: texts.allTime,
    n: data.clicks,
    note: fill(counted(texts.since, data.uniqueClicks), { when: dayOf(created) }),
  }
  return (
    <>
      <Periods period={period} />
      <Statistics period={period} of={{ by: 'link', id: details.id, file: `${details.alias}-clicks`, allTime }}>
        <Destinations details={details} />
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
  const link = useLoad<LinkAnswer>(`/api/url/${id}`)
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
          <Figures answer={link.data} />
        </div>
        <LinkHistory id={id} />
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
