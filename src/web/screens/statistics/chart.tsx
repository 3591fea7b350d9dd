import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { counted, figure, fill, t } from '../../core/texts.ts'
import { inUtc, type MomentForm, momentText, zone } from '../../core/time.ts'

export interface Point {
  readonly at: Date
  readonly n: number
  /** of the period before; null: not counted yet */
  readonly before?: number | null
}
export interface ChartProps {
  /** a description of the chart for users who do not see it */
  readonly label: string
  readonly points: readonly Point[]
  readonly interval: 'hour' | 'day' | 'month'
  /** whether the last interval is not over */
  readonly unfinished: boolean
}

const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

type Forms = Readonly<Record<ChartProps['interval'], MomentForm>>
/** how the axis and the tip show the start of an interval */
const [ticks, tips]: readonly [Forms, Forms] = [
  { hour: 'clock', day: 'shortDay', month: 'month' },
  { hour: 'weekdayAndClock', day: 'weekday', month: 'month' },
]

/**
 * The lines: all but the last piece of this period, that piece dotted while its interval is not over, and the period
 * before.
 */
const dataOf = ({ points, unfinished }: Pick<ChartProps, 'points' | 'unfinished'>): uPlot.AlignedData => {
  const last = points.length - 1
  const isOpen = unfinished && last > 0
  return [
    points.map(({ at }) => at.getTime() / 1000),
    points.map(({ n }, i) => (isOpen && i === last ? null : n)),
    points.map(({ n }, i) => (isOpen && i >= last - 1 ? n : null)),
    points.map(({ before }) => before ?? null),
  ]
}

const optionsOf = (width: number, height: number, interval: ChartProps['interval']): uPlot.Options => {
  const axis = { stroke: () => color('--ink-2'), font: '12px system-ui, sans-serif', ticks: { show: false } }
  const grid = (name: string) => ({ stroke: () => color(name), width: 1 })
  return {
    width,
    height,
    legend: { show: false },
    padding: [12, 24, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8, fill: () => color('--paper') } },
    scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(4, Math.ceil(max * 1.08))] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        gap: 8,
        size: 32,
        space: 72,
        values: (_, at) => at.map((seconds) => momentText(new Date(seconds * 1000), ticks[interval])),
        splits: (plot) => {
          const xs = [...plot.data[0]]
          const step = Math.max(1, Math.ceil(xs.length / Math.max(2, Math.floor(plot.width / 96))))
          return xs.filter((_, i) => i % step === 0)
        },
      },
      {
        ...axis,
        grid: grid('--line'),
        size: 56,
        incrs: [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1e3, 2e3, 2.5e3, 5e3, 1e4, 2e4, 2.5e4, 5e4, 1e5, 1e6, 1e7],
        values: (_, at) => at.map((n) => figure(n)),
      },
    ],
    series: [
      {},
      {
        stroke: () => color('--accent'),
        width: 2,
        fill: () => `${color('--accent-soft')}bf`,
        points: { show: false },
      },
      { stroke: () => color('--accent'), width: 2, dash: [2, 3], points: { show: false } },
      { stroke: () => color('--series-rest'), width: 1.25, dash: [4, 3], points: { show: false } },
    ],
  }
}

/** Loads the chart library while the figures are still loading. */
export const loadChart = async () => {
  try {
    return (await import('uplot')).default
  } catch {
    return undefined
  }
}

/** Draws into an element, and again when its size or the colors change. */
const usePlot = (props: ChartProps, onCursor: (index: number | undefined) => void) => {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const { points, interval, unfinished } = props
  const data = useMemo(() => dataOf({ points, unfinished }), [points, unfinished])
  const latest = useRef(data)
  latest.current = data
  // new figures must not make the chart blink
  useEffect(() => plot.current?.setData(data), [data])
  useEffect(() => {
    const element = place.current
    if (!element) return undefined
    let gone = false
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const redraw = () => plot.current?.redraw()
    const size = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: element.clientHeight }),
    )
    void loadChart().then((Plot) => {
      if (gone || !Plot) return
      const options = optionsOf(element.clientWidth, element.clientHeight, interval)
      const hooks = { setCursor: [(self: uPlot) => onCursor(self.cursor.idx ?? undefined)] }
      plot.current = new Plot({ ...options, hooks }, latest.current, element)
      size.observe(element)
    })
    scheme.addEventListener('change', redraw)
    return () => {
      gone = true
      size.disconnect()
      scheme.removeEventListener('change', redraw)
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [interval])
  return { place, plot }
}

/** The point at the pointer, or at the position of the arrow keys. */
const Tip = ({
  point,
  interval,
  x,
  width,
}: {
  point: Point
  interval: ChartProps['interval']
  x: number
  width: number
}) => {
  const { chart } = t()
  const atEnd = x > width / 2
  return (
    <div
      class="tip"
      style={{
        'inset-inline-start': atEnd ? 'auto' : `${x + 12}px`,
        'inset-inline-end': atEnd ? `${width - x + 12}px` : 'auto',
      }}
    >
      <b>
        {momentText(point.at, tips[interval])}: {counted(chart.clicks, point.n)}
      </b>
      {zone.value !== 'UTC' && <span class="quiet">{inUtc(point.at)}</span>}
      {point.before != null && <span class="quiet">{fill(chart.before, { n: figure(point.before) })}</span>}
    </div>
  )
}

/** Clicks over time. The arrow keys move along it; show a table of the same figures next to it. */
export const Chart = (props: ChartProps) => {
  const { points, interval, label } = props
  const [index, setIndex] = useState<number | undefined>(undefined)
  const { place, plot } = usePlot(props, setIndex)
  const point = index === undefined ? undefined : points[index]
  const left = index === undefined ? 0 : (plot.current?.valToPos((points[index]?.at.getTime() ?? 0) / 1000, 'x') ?? 0)
  const offset = (plot.current?.over.offsetLeft ?? 0) + left
  const move = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step === undefined || !plot.current) return
    event.preventDefault()
    const next = Math.min(points.length - 1, Math.max(0, (index ?? points.length) + step))
    plot.current.setCursor({ left: plot.current.valToPos((points[next]?.at.getTime() ?? 0) / 1000, 'x'), top: 0 })
    setIndex(next)
  }
  return (
    <figure class="chart" aria-label={label}>
      <div
        class="plot"
        ref={place}
        role="application"
        aria-label={`${label}. ${t().chart.keys}`}
        tabIndex={0}
        onKeyDown={move}
        onBlur={() => setIndex(undefined)}
      >
        {point && <Tip point={point} interval={interval} x={offset} width={place.current?.clientWidth ?? 0} />}
      </div>
      <output class="visually-hidden">{point && `${momentText(point.at, tips[interval])}: ${figure(point.n)}`}</output>
    </figure>
  )
}
