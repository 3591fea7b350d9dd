import { asChosen } from '../../core/acting.ts'
import { useState } from 'preact/hooks'
import type { VisitList } from '../../../http/statistics/contract/visits.ts'
import { withoutScheme } from '../../core/address.ts'
import { t } from '../../core/alltexts.ts'
import { ApiError } from '../../core/api.ts'
import { saveFile } from '../../core/csv.ts'
import { useLoad } from '../../core/load.ts'
import { pathAt } from '../../core/past.ts'
import { at, withQuery } from '../../core/router.ts'
import { account } from '../../core/session.ts'
import { counted, figure, fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Head } from '../../parts/section.tsx'
import { Empty, Failed, Skeleton } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { dimensions, filterOf, nameOf } from './filters.ts'
import { type Period, periodInWords, periodOf, periodQuery } from './period.ts'
import { VisitTable } from './visittable.tsx'
// code that it shares with the statistics is then in one file with them, which the first chart needs
import './statistics.tsx'

/** What else the visits of a figure have in common, as the API names it. */
const others = ['link', 'campaign', 'channel', 'qr', 'bio', 'made_by', 'revision', 'destination', 'unique'] as const
const rows = '50'
/** lines of a file in one answer */
const lines = '10000'

/** Returns the hour that is asked for instead of days; it is longer or shorter where clocks change by half of one. */
const hourIn = (query: URLSearchParams): Readonly<Record<'from' | 'to', Date>> | undefined => {
  const [from, to] = ['hour', 'until'].map((name) => new Date(query.get(name) ?? '')) as [Date, Date]
  if (Number.isNaN(from.getTime())) return undefined
  return { from, to: to > from ? to : new Date(from.getTime() + 3_600_000) }
}

/** Returns the query of the API, without a cursor. */
const queryOf = (period: Period): URLSearchParams => {
  const { query } = at.value
  const wanted = new URLSearchParams(periodQuery(period))
  wanted.delete('interval')
  const hour = hourIn(query)
  if (hour) {
    wanted.set('from', hour.from.toISOString())
    wanted.set('to', hour.to.toISOString())
  }
  for (const name of [...others, ...dimensions, 'classes']) {
    const value = query.get(name)
    if (value) wanted.set(name, value)
  }
  return wanted
}

/** Saves all visits of a question: the header of each answer leads to the next. */
const saveVisits = async (query: URLSearchParams): Promise<void> => {
  const parts: string[] = []
  let path: string | undefined = asChosen(pathAt(`/api/visits?${query.toString()}&limit=${lines}`))
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

const InCommon = ({ period }: { readonly period: Period }) => {
  const hour = hourIn(at.value.query)
  return (
    <>
      {inCommon() || t().visits.all}, {hour ? <When at={hour.from} /> : periodInWords(period)}
    </>
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
      <Head title={texts.title} text={<InCommon period={period} />}>
        <Button busy={busy} onClick={() => void save()}>
          CSV
        </Button>
      </Head>
      {error && <Failed error={error} reload={reload} />}
      {!answer && !error && <Skeleton rows={8} label={texts.title} />}
      {answer && visits.length === 0 && !next && <Empty title={texts.none} text={texts.noneText} />}
      {visits.length > 0 && <VisitTable visits={visits} />}
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
