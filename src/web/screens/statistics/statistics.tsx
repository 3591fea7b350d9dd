import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { StatisticsAnswer } from '../../../http/statistics/contract/series.ts'
import { useLoad } from '../../core/load.ts'
import { past } from '../../core/past.ts'
import { at, go, withQuery } from '../../core/router.ts'
import { fill, figure, t } from '../../core/texts.ts'
import { type Metric, type Period, periodQuery } from './period.ts'
import { CustomPeriod } from './presets.tsx'
import { Empty } from '../../parts/states.tsx'
import { TimeSeries } from './timeseries.tsx'
import { type Total, Totals } from './totals.tsx'
import { Chips } from './chips.tsx'
import { filterOf, filterQuery, isFiltered, type Listed, withoutFilters } from './filters.ts'
import { Lists } from './lists.tsx'
import { Live } from './live.tsx'
import { useRefresh } from './refresh.ts'
import type { Through } from './through.tsx'
import { Countries } from './world.tsx'

/** Sums have these; the others are counted from single clicks, which takes longer. */
const summed = 'country,referrer,medium,browser,os,device,language,source'
const rows = '50'

const queryOf = (period: Period, more: Readonly<Record<string, string>>) =>
  `/api/stats?${periodQuery(period)}&${new URLSearchParams({ ...more, ...filterQuery() }).toString()}`

const metricIn = (query: URLSearchParams, ofKinds: boolean): Metric =>
  query.get('metric') === 'visitors'
    ? 'uniqueClicks'
    : ofKinds || query.get('metric') === 'requests'
      ? 'visits'
      : 'clicks'

/** Returns what was counted. With a filter of kinds, all requests of these kinds are. */
const totalsOf = (data: StatisticsAnswer['data'] | undefined, metric: Metric, ofKinds: boolean): readonly Total[] => {
  const texts = t().overview
  const { total, before } = data ?? {}
  const scans = data && (data.by['source']?.find(({ value }) => value === 'qr')?.count ?? 0)
  const bots = total && total.visits - total.clicks
  const share = (n: number | undefined, of: number) => figure(of === 0 ? 0 : (100 * (n ?? 0)) / of, 1)
  const space = '\u00a0'
  const main = ofKinds ? 'visits' : 'clicks'
  return [
    {
      name: ofKinds ? t().stats.requests : texts.clicks,
      n: total?.[main],
      before: before?.total[main],
      href: withQuery({ metric: undefined }),
      current: metric === main,
      visits: {},
    },
    {
      name: texts.visitors,
      n: total?.uniqueClicks,
      before: before?.total.uniqueClicks,
      href: withQuery({ metric: 'visitors' }),
      current: metric === 'uniqueClicks',
      visits: { unique: 'true' },
    },
    {
      name: t().stats.scans,
      n: scans,
      note: total ? fill(t().stats.ofClicks, { n: share(scans, total[main]) }) : space,
      visits: { source: 'qr' },
    },
    {
      name: texts.bots,
      n: bots,
      note: total ? fill(texts.ofVisits, { n: share(bots, total.visits) }) : space,
      visits: { class: 'bots' },
    },
  ]
}

/** Says how complete the figures are, which may come after them. */
const Complete = (props: Parameters<typeof Through>[0]) => {
  const [Loaded, setLoaded] = useState<typeof Through>()
  useEffect(() => void import('./through.tsx').then((found) => setLoaded(() => found.Through)), [])
  return Loaded && <Loaded {...props} />
}

/** Says that there was nothing in the period, or nothing that passes the filters. */
const NoClicks = () => {
  const { overview: texts, stats: words, filters } = t()
  if (!isFiltered()) return <Empty title={texts.quietTitle} text={texts.quietText} />
  const clear = (
    <a class="button" href={withoutFilters()}>
      {filters.clear}
    </a>
  )
  return <Empty title={words.noMatch} text={words.noMatchText} action={clear} />
}

/** What is counted. */
export interface Counted {
  /** as the API names it in a query */
  readonly by: 'link' | 'campaign' | 'channel' | 'made_by'
  readonly id: number
  /** of the file with its figures */
  readonly file: string
  /** instead of the requests that are left out */
  readonly allTime: Total
  /** has `allTime` read again: called for each click that passes the filters */
  readonly onClicks: () => void
}

interface StatisticsProps {
  readonly period: Period
  /** all of the account without it */
  readonly of?: Counted
  /** a list that comes first */
  readonly children?: ComponentChildren
}

/**
 * Clicks of everything, of one link, or of a campaign or channel: over time, as they happen, and in lists that filter
 * each other.
 */
export const Statistics = ({ period, of, children }: StatisticsProps) => {
  const ofKinds = filterOf('class').length > 0
  const metric = metricIn(at.value.query, ofKinds)
  const own: Readonly<Record<string, string>> = of === undefined ? {} : { [of.by]: String(of.id) }
  const ofOneLink = of?.by === 'link'
  const compared: Readonly<Record<string, string>> = period.name === 'all' ? {} : { compare: 'before' }
  const stats = useLoad<StatisticsAnswer>(queryOf(period, { ...own, by: summed, limit: rows, ...compared }))
  const others = useLoad<StatisticsAnswer>(
    queryOf(period, { ...own, by: ofOneLink ? 'rule,class' : 'link,class', limit: rows }),
  )
  const [again, othersAgain] = [useRefresh(stats), useRefresh(others)]
  const onClicks = () => {
    again()
    othersAgain()
    of?.onClicks()
  }
  const data = stats.data?.data
  const { overview: texts, stats: words } = t()
  const total = data ? data.total[ofKinds ? 'visits' : 'clicks'] : 0
  const all = totalsOf(data, metric, ofKinds)
  const totals = of ? [...all.slice(0, -1), of.allTime] : all
  const what = { clicks: texts.clicks, uniqueClicks: texts.visitors, visits: words.requests }[metric]
  const allRows = (dimension: Listed) => queryOf(period, { ...own, by: dimension, limit: '1000' })
  const shared = { total, all: allRows }
  const lists = (group: readonly Listed[]) => <Lists group={group} by={data?.by} {...shared} />
  const late = { by: others.data?.data.by, error: others.error, reload: others.reload }
  return (
    <div class={`stack statistics${stats.loading && data ? ' again' : ''}`}>
      <div>
        <CustomPeriod period={period} onDays={(to) => go(to, { replace: true })} />
        <Totals totals={totals} />
        <div class={past.value ? '' : 'split'}>
          <div>
            <TimeSeries
              title={fill(texts.perInterval[period.interval], { what })}
              metric={metric}
              period={period}
              now={stats}
              file={of?.file ?? 'clicks'}
            />
            <Chips by={{ ...data?.by, ...others.data?.data.by }} />
          </div>
          {!past.value && <Live of={own} onClicks={onClicks} />}
        </div>
      </div>
      {data && total === 0 && !stats.error && <NoClicks />}
      <div class="columns">
        {children}
        <Lists group={ofOneLink ? ['rule'] : ['link']} {...shared} {...late} />
        {lists(['referrer', 'medium', 'source'])}
        {lists(ofOneLink ? ['device', 'browser', 'os', 'language'] : ['device', 'browser', 'os'])}
        {!ofOneLink && lists(['language'])}
      </div>
      <Countries rows={data?.by['country']} {...shared} />
      {data && <Complete data={data} kinds={late.error ? null : late.by?.['class']} />}
    </div>
  )
}
