import type { World } from 'linkledger:world'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { StatisticsRow } from '../../../http/statistics/contract/series.ts'
import { go } from '../../core/router.ts'
import { allTexts, counted, fill, t } from '../../core/texts.ts'
import { IconButton } from '../../parts/button.tsx'
import { Section } from '../../parts/section.tsx'
import { Skeleton } from '../../parts/states.tsx'
import { filterOf, nameOf, toggled } from './filters.ts'
import { type AllRows, Rows, saveRows } from './lists.tsx'

/** Loads the map once it is about to be seen. */
const useWorld = () => {
  const place = useRef<HTMLDivElement>(null)
  const [world, setWorld] = useState<World | undefined>(undefined)
  useEffect(() => {
    const element = place.current
    if (!element) return undefined
    const seen = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return
        seen.disconnect()
        void import('linkledger:world').then(
          (found) => setWorld(found.default),
          // the list beside it has the same figures
          () => {},
        )
      },
      { rootMargin: '200px' },
    )
    seen.observe(element)
    return () => seen.disconnect()
  }, [])
  return { place, world }
}

/** Steps of color: each has four times the clicks of the one before, as counts of countries differ by magnitudes. */
const steps = 5
const stepOf = (n: number, most: number) =>
  n === 0 ? 0 : Math.max(1, steps - Math.round(Math.log(most / n) / Math.log(4)))

const Map = ({ world, rows }: { readonly world: World; readonly rows: readonly StatisticsRow[] }) => {
  const counts: Readonly<Record<string, number>> = Object.fromEntries(rows.map(({ value, count }) => [value, count]))
  const most = Math.max(1, ...rows.map(({ value, count }) => (value === 'none' ? 0 : count)))
  const chosen = filterOf('country')
  const { stats, chart } = t()
  return (
    <svg
      viewBox={`0 0 ${world.width} ${world.height}`}
      role="img"
      aria-label={allTexts.value?.through.map ?? stats.filters.country}
    >
      {world.countries.map(([code, path], n) => {
        const count = counts[code] ?? 0
        return (
          <path
            key={code || n}
            d={path}
            class={`land step-${stepOf(count, most)}${chosen.includes(code) ? ' current' : ''}`}
            onClick={count > 0 ? () => go(toggled('country', code)) : undefined}
          >
            {code && <title>{`${nameOf('country', code)}: ${counted(chart.clicks, count)}`}</title>}
          </path>
        )
      })}
    </svg>
  )
}

interface CountriesProps {
  readonly rows: readonly StatisticsRow[] | undefined
  readonly total: number
  readonly all: AllRows
}

/** Where clicks come from: a map, and beside it the same as a list, which also has what is too small for the map. */
export const Countries = ({ rows, total, all }: CountriesProps) => {
  const { place, world } = useWorld()
  const { by } = t()
  return (
    <Section
      title={by.country}
      tools={
        rows &&
        rows.length > 0 && (
          <IconButton
            label={fill(t().stats.save, { what: by.country })}
            icon="down"
            onClick={() => void saveRows('country', all('country'))}
          />
        )
      }
    >
      <div class="countries">
        <div class="map" ref={place}>
          {world && <Map world={world} rows={rows ?? []} />}
        </div>
        <div>
          {rows ? <Rows dimension="country" rows={rows} total={total} /> : <Skeleton rows={8} label={by.country} />}
        </div>
      </div>
    </Section>
  )
}
