import { at, withQuery } from '../../core/router.ts'
import { t } from '../../core/texts.ts'
import { isoDay, lastDay, type Period, type PeriodName, periods } from './period.ts'

/** Links to the usual periods. The address of the page has which one is shown. */
export const Periods = ({ period }: { readonly period: Period }) => {
  const names = t().periods
  const target = (name: PeriodName) =>
    name === 'custom'
      ? withQuery({ period: name, from: isoDay(period.from), to: isoDay(lastDay(period)) })
      : withQuery({ period: name === '30d' ? undefined : name, from: undefined, to: undefined })
  return (
    <nav class="presets" aria-label={names.label}>
      {periods.map((name) => (
        <a key={name} href={target(name)} aria-current={period.name === name ? 'true' : undefined}>
          {names[name]}
        </a>
      ))}
    </nav>
  )
}

/** The days of a period of one's own choice. */
export const CustomPeriod = ({
  period,
  onDays,
}: {
  readonly period: Period
  readonly onDays: (to: string) => void
}) => {
  if (at.value.query.get('period') !== 'custom') return null
  const set = (name: 'from' | 'to', value: string) => value && onDays(withQuery({ [name]: value }))
  const input = (name: 'from' | 'to', date: Date, label: string) => (
    <label class="switch">
      {label}
      <input
        class="input"
        type="date"
        value={isoDay(date)}
        onChange={(event) => set(name, event.currentTarget.value)}
      />
    </label>
  )
  return (
    <div class="chips">
      {input('from', period.from, t().periods.from)}
      {input('to', lastDay(period), t().periods.to)}
    </div>
  )
}
