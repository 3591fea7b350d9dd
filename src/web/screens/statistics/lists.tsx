import { useState } from 'preact/hooks'
import type { StatisticsAnswer, StatisticsRow } from '../../../http/statistics/contract/series.ts'
import { type ApiError, get } from '../../core/api.ts'
import { pathAt } from '../../core/past.ts'
import { at, href } from '../../core/router.ts'
import { counted, fill, t } from '../../core/texts.ts'
import { sayProblem } from '../../core/toasts.ts'
import { Breakdown } from './breakdown.tsx'
import { IconButton } from '../../parts/button.tsx'
import { Section } from '../../parts/section.tsx'
import { Failed, Skeleton } from '../../parts/states.tsx'
import { filterOf, type Listed, nameOf, toggled } from './filters.ts'

const rowsShown = 8

/** Returns the path of the API that has all rows of a dimension. */
export type AllRows = (dimension: Listed) => string

/** Saves a list: more rows than are shown. */
export const saveRows = async (dimension: Listed, path: string): Promise<void> => {
  const { stats, chart } = t()
  try {
    const [{ csvOf, saveFile }, { data }] = await Promise.all([
      import('../../core/csv.ts'),
      get<StatisticsAnswer>(pathAt(path)),
    ])
    const cells = (data.by[dimension] ?? []).map(({ value, name, count }) => [
      value,
      nameOf(dimension, value, name),
      count,
    ])
    saveFile(`${dimension}.csv`, csvOf([stats.filters[dimension], stats.name, chart.counts], cells))
  } catch (error) {
    sayProblem(error)
  }
}

/** Links and QR codes have screens of their own; the period and the filters stay. */
const targetOf = (dimension: Listed, value: string): string | undefined => {
  if (dimension !== 'link') return toggled(dimension, value)
  const query = Object.fromEntries(at.value.query)
  if (/^\d+$/.test(value)) return href(`/links/${value}`, query)
  return value.startsWith('qr/') ? href(`/${value}`) : undefined
}

interface RowsProps {
  readonly dimension: Listed
  readonly rows: readonly StatisticsRow[]
  readonly total: number
  readonly shown?: number
}

/** The rows of a dimension, each of which filters everything when it is chosen, and leaves when it is chosen again. */
export const Rows = ({ dimension, rows, total, shown = rowsShown }: RowsProps) => {
  const [all, setAll] = useState(false)
  const texts = t().stats
  if (rows.length === 0) return <p class="quiet">{t().overview.noClicks}</p>
  const current = dimension === 'link' ? [] : filterOf(dimension)
  return (
    <>
      <Breakdown
        total={total}
        rows={rows.slice(0, all ? rows.length : shown).map(({ value, name, count }) => ({
          name: nameOf(dimension, value, name),
          n: count,
          href: targetOf(dimension, value),
          current: current.includes(value),
          visits: { [dimension]: value },
        }))}
      />
      {rows.length > shown && (
        <button class="text-button small more-rows" type="button" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? texts.fewer : counted(texts.all, rows.length)}
        </button>
      )}
    </>
  )
}

interface ListsProps {
  /** dimensions of which one is shown at a time */
  readonly group: readonly Listed[]
  readonly by: Readonly<Record<string, readonly StatisticsRow[]>> | undefined
  readonly total: number
  readonly all: AllRows
  readonly error?: ApiError | undefined
  readonly reload?: () => void
}

/** Who clicked, from where, and with what. */
export const Lists = ({ group, by, total, all, error, reload }: ListsProps) => {
  const [chosen, setChosen] = useState<Listed | undefined>(undefined)
  const filtered = group.find((name) => name !== 'link' && filterOf(name).length > 0)
  const shown = chosen ?? filtered ?? group[0] ?? 'country'
  const names = t().by
  const rows = by?.[shown]
  const tabs = group.map((name) => (
    <button
      key={name}
      class={`text-button${name === shown ? ' current' : ''}`}
      type="button"
      aria-pressed={name === shown}
      onClick={() => setChosen(name)}
    >
      {names[name]}
    </button>
  ))
  return (
    <Section
      title={names[shown]}
      tabs={group.length > 1 && tabs}
      tools={
        rows &&
        rows.length > 0 && (
          <IconButton
            label={fill(t().stats.save, { what: names[shown] })}
            icon="down"
            onClick={() => void saveRows(shown, all(shown))}
          />
        )
      }
    >
      {error && reload && <Failed error={error} reload={reload} />}
      {!rows && !error && <Skeleton rows={rowsShown} label={names[shown]} />}
      {rows && <Rows dimension={shown} rows={rows} total={total} />}
    </Section>
  )
}
