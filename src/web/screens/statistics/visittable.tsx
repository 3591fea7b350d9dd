import type { VisitRow } from '../../../http/statistics/contract/visits.ts'
import { withoutScheme } from '../../core/address.ts'
import { t } from '../../core/alltexts.ts'
import { href } from '../../core/router.ts'
import { fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { When } from '../../parts/when.tsx'
import { saveReceipt } from '../proof/receipt.ts'
import { cameFrom, nameOf } from './filters.ts'

const Visited = ({ row }: { readonly row: VisitRow }) => {
  const texts = t().visits
  const { link, qr, bio } = row
  if (link != null) return <a href={href(`/links/${link}`)}>{fill(texts.link, { id: link })}</a>
  if (qr != null) return <a href={href(`/qr/${qr}`)}>{fill(texts.qr, { id: qr })}</a>
  return bio == null ? null : <a href={href(`/bio/${bio}`)}>{fill(texts.bio, { id: bio })}</a>
}

const Row = ({ row }: { readonly row: VisitRow }) => {
  const texts = t().visits
  const when = moment(row.date)
  const [from, by] = [
    [nameOf('country', row.country || 'none'), cameFrom(row.referrer, row.medium)],
    [row.browser, row.os, nameOf('device', row.device)],
  ].map((parts) => parts.filter(Boolean).join(' · '))
  const { id } = row
  return (
    <tr>
      <th scope="row">
        <When at={when} as="dateAndClock" />
        <span class="quiet small">
          {nameOf('class', row.class)}
          {row.unique && `, ${texts.first}`}
        </span>
      </th>
      <td>
        <Visited row={row} />
        <span class="quiet small">{nameOf('source', row.source)}</span>
      </td>
      <td>
        <span dir="auto">{from}</span>
        <span class="quiet small">{by}</span>
      </td>
      <td>
        <bdi>{withoutScheme(row.destination)}</bdi>
        <span class="quiet small">{fill(texts.revision, { n: row.revision, rule: nameOf('rule', row.rule) })}</span>
      </td>
      <td class="tools-cell">
        {id != null && (
          <button
            class="text-button small"
            type="button"
            aria-label={fill(t().proof.receiptOf, { id })}
            onClick={() => void saveReceipt('clicks', id)}
          >
            {t().history.receipt}
          </button>
        )}
      </td>
    </tr>
  )
}

/** Visits, newest first: when, of what, from where, and where they were sent. */
export const VisitTable = ({ visits }: { readonly visits: readonly VisitRow[] }) => {
  const texts = t().visits
  return (
    <table class="list visit-list">
      <caption class="visually-hidden">{texts.title}</caption>
      <thead>
        <tr>
          {[texts.when, texts.visited, texts.from, texts.to].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
          <th scope="col">
            <span class="visually-hidden">{t().history.receipt}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {visits.map((row, n) => (
          <Row key={row.id ?? n} row={row} />
        ))}
      </tbody>
    </table>
  )
}
