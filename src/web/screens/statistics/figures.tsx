import type { OverTime } from '../../../http/statistics/contract/series.ts'
import { figure, t } from '../../core/texts.ts'
import { at as page, visitsLink } from '../../core/router.ts'
import { moment, type MomentForm, momentText } from '../../core/time.ts'
import { When } from '../../parts/when.tsx'
import { type FiguresProps, type Metric, type Period, periodBefore, visitsIn } from './period.ts'
// code that it shares with the statistics is then in one file with them, which the first chart needs
import './statistics.tsx'

const forms = { month: 'month', day: 'day', hour: 'moment' } as const satisfies Record<Period['interval'], MomentForm>

/** Returns what the visits of a line of the chart have in common. */
const countedBy = (metric: Metric): Readonly<Record<string, string>> => {
  if (metric === 'uniqueClicks') return { unique: 'true' }
  // of all kinds, unless some are chosen
  return metric === 'visits' && !page.value.query.get('class') ? { class: '' } : {}
}

interface CellProps {
  readonly series: OverTime['series'] | undefined
  readonly index: number
  readonly metric: Metric
  readonly period: Period
  readonly quiet?: boolean
}

/** A figure of an interval, which leads to its visits. */
const Cell = ({ series, index, metric, period, quiet }: CellProps) => {
  const { interval } = period
  const [point, next] = [series?.[index], series?.[index + 1]]
  if (!point) return <td class="num quiet">–</td>
  const at = moment(point.at)
  const more = { ...countedBy(metric), ...visitsIn(interval, at, next && moment(next.at), period) }
  const Open = visitsLink.value
  return (
    <td class={quiet ? 'num quiet' : 'num'}>
      {figure(point[metric])}
      {Open && point[metric] > 0 && <Open name={momentText(at, forms[interval])} visits={more} />}
    </td>
  )
}

/** The chart as a table. */
export const Figures = ({ data, metric, period }: FiguresProps) => {
  const { chart } = t()
  const { interval } = period
  const before = periodBefore(period)
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
          {data.series.map(({ at }, index) => (
            <tr key={at}>
              <th scope="row">
                <When at={moment(at)} as={forms[interval]} />
              </th>
              <Cell series={data.series} index={index} metric={metric} period={period} />
              <Cell series={data.before?.series} index={index} metric={metric} period={before} quiet />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
