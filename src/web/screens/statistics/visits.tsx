import { useState } from 'preact/hooks'
import type { VisitList, VisitRow } from '../../../http/statistics/contract/visits.ts'
import { withoutScheme } from '../../core/address.ts'
import { t } from '../../core/alltexts.ts'
import { ApiError } from '../../core/api.ts'
import { saveFile } from '../../core/csv.ts'
import { useLoad } from '../../core/load.ts'
import { pathAt } from '../../core/past.ts'
import { at, href, withQuery } from '../../core/router.ts'
import { account } from '../../core/session.ts'
import { counted, figure, fill } from '../../core/texts.ts'
import { clockOf, dateOf, moment } from '../../core/time.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Head } from '../../parts/section.tsx'
import { Empty, Failed, Skeleton } from '../../parts/states.tsx'
import { saveReceipt } from '../proof/receipt.ts'
import { dimensions, filterOf, nameOf } from './filters.ts'
import { periodInWords, periodOf, periodQuery } from './period.ts'
// what it shares with the statistics is then one file with them, which the first chart needs
import './statistics.tsx'

/** What else the visits of a figure have in common, as the API names it. */
const others = ['link', 'campaign', 'channel', 'qr', 'bio', 'revision', 'destination', 'unique'] as const
const rows = '50'
/** lines of a file in one answer */
const lines = '10000'

/** Returns the query of the API, without a cursor. */
const queryOf = (period: ReturnType<typeof periodOf>): URLSearchParams => {
  const { query } = at.value
  const wanted = new URLSearchParams(periodQuery(period))
  wanted.delete('interval')
  for (const name of [...others, ...dimensions, 'classes']) {
    const value = query.get(name)
    if (value) wanted.set(name, value)
  }
  return wanted
}

/** Saves all visits of a question: the header of each answer leads to the next. */
const saveVisits = async (query: URLSearchParams): Promise<void> => {
  const parts: string[] = []
  let path: string | undefined = pathAt(`/api/visits?${query.toString()}&limit=${lines}`)
  try {
    while (path !== undefined) {
      const answer: Response = await fetch(path, { credentials: 'same-origin', headers: { Accept: 'text/csv' } })
      const text = await answer.text()
      if (!answer.ok) throw new ApiError(answer.status, (JSON.parse(text) as { readonly message: string }).message)
      parts.push(parts.length === 0 ? text : text.slice(text.indexOf('\n') + 1))
      path = /^<([^>]+)>/.exec(answer.headers.get('Link') ?? '')?.[1]
    }
    saveFile('visits.csv', `\ufeff${parts.join('')}`)
    say(t().visits.saved)
  } catch (error) {
    sayProblem(error)
  }
}

/** What the visits have in common: "Link 7 · Country Germany". */
const inCommon = (): string => {
  const texts = t().visits
  const { query } = at.value
  const named = others.flatMap((name) => {
    const value = query.get(name)
    return !value ? [] : [name === 'unique' ? texts.filters.unique : `${texts.filters[name]} ${withoutScheme(value)}`]
  })
  const filtered = dimensions.flatMap((name) => {
    const values = filterOf(name)
    return values.length === 0 ? [] : [values.map((value) => nameOf(name, value)).join(', ')]
  })
  return [...named, ...filtered].join(' · ')
}

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
    [nameOf('country', row.country || 'none'), nameOf('referrer', row.referrer || 'none')],
    [row.browser, row.os, nameOf('device', row.device)],
  ].map((parts) => parts.filter(Boolean).join(' · '))
  const { id } = row
  return (
    <tr>
      <th scope="row">
        <time dateTime={when.toISOString()}>
          {dateOf(when)}, {clockOf(when)}
        </time>
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

const Table = ({ visits }: { readonly visits: readonly VisitRow[] }) => {
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

/** The visits behind a figure of the statistics, which the address of the page names. */
export const VisitsScreen = () => {
  const [busy, setBusy] = useState(false)
  const texts = t().visits
  const { query } = at.value
  const period = periodOf(query, account.value ? moment(account.value.registered) : new Date(0))
  const wanted = queryOf(period)
  const cursor = query.get('cursor') ?? ''
  const {
    data: answer,
    error,
    reload,
  } = useLoad<VisitList>(
    account.value ? `/api/visits?${wanted.toString()}&limit=${rows}&cursor=${encodeURIComponent(cursor)}` : undefined,
  )
  const { result = 0, visits = [], next_cursor: next } = answer?.data ?? {}
  const save = async () => {
    setBusy(true)
    await saveVisits(wanted)
    setBusy(false)
  }
  const most = 10_000
  const found = result >= most ? fill(texts.more, { n: figure(most) }) : counted(texts.found, result)
  return (
    <>
      <Head title={texts.title} text={`${inCommon() || texts.all}, ${periodInWords(period)}`}>
        <Button busy={busy} onClick={() => void save()}>
          CSV
        </Button>
      </Head>
      {error && <Failed error={error} reload={reload} />}
      {!answer && !error && <Skeleton rows={8} label={texts.title} />}
      {answer && visits.length === 0 && !next && <Empty title={texts.none} text={texts.noneText} />}
      {visits.length > 0 && <Table visits={visits} />}
      {answer && (
        <nav class="pager" aria-label={texts.title}>
          <span>{visits.length < Number(rows) && next ? texts.searched : found}</span>
          <span class="end">
            {cursor && (
              <a class="button" href={withQuery({ cursor: undefined })}>
                {texts.newest}
              </a>
            )}
            {next && (
              <a class="button" href={withQuery({ cursor: next })}>
                {texts.older}
              </a>
            )}
          </span>
        </nav>
      )}
    </>
  )
}
