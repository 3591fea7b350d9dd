import { useState } from 'preact/hooks'
import { localHostIn, withoutScheme } from '../../core/address.ts'
import type { LinkDetails } from '../../../http/links/contract/link.ts'
import { request } from '../../core/api.ts'
import { past } from '../../core/past.ts'
import { href, withQuery } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { counted, fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { attempt } from '../../core/toasts.ts'
import { CopyButton, WriteLink } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { QrImage } from '../../parts/qrimage.tsx'
import { filled, When } from '../../parts/when.tsx'
import { Status } from './status.tsx'

const Facts = ({ details }: { readonly details: LinkDetails }) => {
  const texts = t().link
  const host = localHostIn(details.shorturl)
  const { location, device, browser, language } = details
  const rules = [location, device, browser, language].reduce((n, one) => n + Object.keys(one).length, 0)
  return (
    <div class="facts">
      <Status details={details} />
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
      <span>{filled(texts.created, { when: <When at={moment(details.date)} as="day" /> })}</span>
      {host !== undefined && <span>{fill(t().qr.onlyHere, { host })}</span>}
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

/** The address of a link, where it leads, its QR code, and what can be done with it. */
export const LinkHead = ({ details, onDelete }: MoreProps) => {
  const texts = t().link
  const { shorturl, alias, domain, longurl } = details
  const name = withoutScheme(shorturl)
  return (
    <div class="link-head">
      <div>
        <h1>
          <span>
            <span>{withoutScheme(domain)}/</span>
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
