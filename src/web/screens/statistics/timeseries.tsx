import { useEffect, useMemo, useState } from 'preact/hooks'
import type { OverTime, StatisticsAnswer } from '../../../http/accounts/contract/account.ts'
import type { Loaded } from '../../core/load.ts'
import { figure, t } from '../../core/texts.ts'
import { clockOf, dayOf, moment, monthOf } from '../../core/time.ts'
import { Chart, loadChart, type Point } from './chart.tsx'
import { isUnfinished, type Period } from './period.ts'
import { Section } from '../../parts/section.tsx'
import { Failed } from '../../parts/states.tsx'
import { TableTools } from './tabletools.tsx'

export type Metric = 'clicks' | 'uniqueClicks' | 'visits'

/** Returns the points of a series, beside those of the period before. */
const pointsOf = (metric: Metric, now: OverTime, before: OverTime | null | undefined): readonly Point[] =>
  now.series.map((point, i) => ({
    at: moment(point.at),
    n: point[metric],
    before: before?.series[i]?.[metric] ?? null,
  }))

const nameOf = (interval: Period['interval'], at: Date) =>
  interval === 'month' ? monthOf(at) : interval === 'day' ? dayOf(at) : `${dayOf(at)}, ${clockOf(at)}`

const Figures = ({
  points,
  interval,
}: {
  readonly points: readonly Point[]
  readonly interval: Period['interval']
}) => {
  const { chart } = t()
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={chart.table}>
      <table class="figures">
        <thead>
          <tr>
            <th scope="col">{chart[interval]}</th>
            <th scope="col" class="num">
              {chart.now}
            </th>
            <th scope="col" class="num">
              {chart.periodBefore}
            </th>
          </tr>
        </thead>
        <tbody>
          {points.map(({ at, n, before }) => (
            <tr key={at.getTime()}>
              <th scope="row">{nameOf(interval, at)}</th>
              <td class="num">{figure(n)}</td>
              <td class="num quiet">{before == null ? '–' : figure(before)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const Legend = () => (
  <ul class="legend">
    {(
      [
        ['a', t().chart.now],
        ['b', t().chart.periodBefore],
      ] as const
    ).map(([line, name]) => (
      <li key={line}>
        <svg viewBox="0 0 20 8" aria-hidden="true">
          <path class={line} d="M0 4h20" />
        </svg>
        {name}
      </li>
    ))}
  </ul>
)

interface TimeSeriesProps {
  readonly title: string
  readonly metric: Metric
  readonly period: Period
  readonly now: Loaded<StatisticsAnswer>
  /** of the file with the same figures */
  readonly file: string
}

/** Clicks over time: as a chart, as a table, and as a file. */
export const TimeSeries = ({ title, metric, period, now, file }: TimeSeriesProps) => {
  const [asTable, setAsTable] = useState(false)
  useEffect(() => void loadChart(), [])
  const { chart } = t()
  const data = now.data?.data
  const points = useMemo(() => (data ? pointsOf(metric, data, data.before) : []), [data, metric])
  const save = async () => {
    const { csvOf, saveFile } = await import('../../core/csv.ts')
    saveFile(
      `${file}.csv`,
      csvOf(
        [chart[period.interval], chart.now, chart.periodBefore],
        points.map(({ at, n, before: earlier }) => [at.toISOString(), n, earlier ?? '']),
      ),
    )
  }
  const unfinished = isUnfinished(period)
  return (
    <Section
      title={title}
      tools={
        <>
          <Legend />
          <TableTools asTable={asTable} onToggle={() => setAsTable(!asTable)} onSave={() => void save()} />
        </>
      }
    >
      {now.error && <Failed error={now.error} reload={now.reload} />}
      {!now.data && !now.error && <div class="plot pulse" aria-busy="true" aria-label={chart.loading} />}
      {now.data &&
        (asTable ? (
          <Figures points={points} interval={period.interval} />
        ) : (
          <Chart label={title} points={points} interval={period.interval} unfinished={unfinished} />
        ))}
    </Section>
  )
}
