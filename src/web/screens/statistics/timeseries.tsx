import type { FunctionComponent } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { OverTime, StatisticsAnswer } from '../../../http/statistics/contract/series.ts'
import type { Loaded } from '../../core/load.ts'
import { t } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { Chart, loadChart, type Point } from './chart.tsx'
import { type FiguresProps, isUnfinished, type Metric, type Period } from './period.ts'
import { Section } from '../../parts/section.tsx'
import { Failed } from '../../parts/states.tsx'
import { TableTools } from './tabletools.tsx'

/** Returns the points of a series, beside those of the period before. */
const pointsOf = (metric: Metric, now: OverTime, before: OverTime | null | undefined): readonly Point[] =>
  now.series.map((point, i) => ({
    at: moment(point.at),
    n: point[metric],
    before: before?.series[i]?.[metric] ?? null,
  }))

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
  const [Table, setTable] = useState<FunctionComponent<FiguresProps>>()
  useEffect(() => void loadChart(), [])
  useEffect(() => void (asTable && import('./figures.tsx').then((found) => setTable(() => found.Figures))), [asTable])
  const { chart } = t()
  const data = now.data?.data
  const points = useMemo(() => (data ? pointsOf(metric, data, data.before) : []), [data, metric])
  const save = async () => {
    const { csvOf, saveFile } = await import('../../core/csv.ts')
    saveFile(
      `${file}.csv`,
      csvOf(
        [chart[period.interval], chart.now, chart.periodBefore],
        points.map(({ at, n, before: earlier }, i) => [data?.series[i]?.local ?? at.toISOString(), n, earlier ?? '']),
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
      {data &&
        (asTable && Table ? (
          <Table data={data} metric={metric} period={period} />
        ) : (
          <Chart label={title} points={points} interval={period.interval} unfinished={unfinished} />
        ))}
    </Section>
  )
}
