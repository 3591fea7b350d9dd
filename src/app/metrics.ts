import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ClicksState } from '../clicks/state.ts'
import type { EventStore, Filter } from '../events/store.ts'
import type { Projector } from '../projections/run.ts'

/** A value now, or one for each value of the label. */
type Values = number | Readonly<Record<string, number>>
interface Watched {
  /** `gauge` unless it only grows */
  readonly kind?: 'gauge' | 'counter'
  readonly name: string
  readonly help: string
  readonly label?: string
  readonly read: () => Values | Promise<Values>
}

export interface Metrics {
  /** The same store, its appends timed and their outcomes counted. */
  readonly measured: (store: EventStore) => EventStore
  /** A subscription was lost and is opened again. */
  readonly restarted: (subscription: string) => void
  /** Somebody came to a link and is no visit. */
  readonly notCounted: (what: 'head' | 'password') => void
  /** Something that is asked for whenever somebody reads the metrics. */
  readonly watch: (watched: Watched) => void
  /** The text format of Prometheus, 0.0.4. */
  readonly text: () => Promise<{ readonly type: string; readonly text: string }>
}

/** What an operator's monitoring wants to know of this process. */
export const openMetrics = (): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  const seconds = new Histogram({
    name: 'linkledger_append_seconds',
    help: 'How long appends to the event log took',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  })
  const appends = new Counter({
    name: 'linkledger_appends_total',
    help: 'Appends by outcome: stored, conflict (another revision than expected), failed',
    labelNames: ['outcome'],
    registers,
  })
  const restarts = new Counter({
    name: 'linkledger_subscription_restarts_total',
    help: 'Subscriptions to the event log that were lost and opened again',
    labelNames: ['subscription'],
    registers,
  })
  const others = new Counter({
    name: 'linkledger_not_counted_total',
    help: 'Requests of links that are no visits: HEAD, and wrong passwords',
    labelNames: ['what'],
    registers,
  })
  let usual = false

  return {
    measured: (store) => ({
      ...store,
      append: async (writes) => {
        const end = seconds.startTimer()
        try {
          const appended = await store.append(writes)
          appends.inc({ outcome: appended.ok ? 'stored' : 'conflict' })
          return appended
        } catch (error) {
          appends.inc({ outcome: 'failed' })
          throw error
        } finally {
          end()
        }
      },
    }),

    restarted: (subscription) => restarts.inc({ subscription }),
    notCounted: (what) => others.inc({ what }),

    watch: ({ kind = 'gauge', name, help, label, read }) => {
      const collect = async (set: (labels: Record<string, string>, value: number) => void) => {
        // a store that does not answer leaves its values out, and the others can still be read
        const values = await Promise.resolve(read()).catch(() => ({}))
        if (typeof values === 'number') set({}, values)
        else for (const [value, n] of Object.entries(values)) set({ [label ?? '']: value }, n)
      }
      const common = { name, help, labelNames: label === undefined ? [] : [label], registers }
      if (kind === 'gauge') {
        const gauge: Gauge = new Gauge({
          ...common,
          collect: () => (gauge.reset(), collect((labels, value) => gauge.set(labels, value))),
        })
      } else {
        const counter: Counter = new Counter({
          ...common,
          collect: () => (counter.reset(), collect((labels, value) => counter.inc(labels, value))),
        })
      }
    },

    text: async () => {
      // Node's own take timers and observers: they begin when somebody looks
      if (!usual) collectDefaultMetrics({ register: registry })
      usual = true
      return { type: registry.contentType, text: await registry.metrics() }
    },
  }
}

/** A projector that is further behind than this many events is counted no further. */
const most = 10_000

/** How far what has been seen is behind the log: in events, and in seconds since the oldest of them was appended. */
export const lagOf = async (
  store: EventStore,
  filter: Filter,
  seen: bigint,
): Promise<{ readonly events: number; readonly seconds: number }> => {
  const head = await store.head(filter)
  if (head <= seen) return { events: 0, seconds: 0 }
  const reading = new AbortController()
  let [events, since] = [0, '']
  for await (const batch of store.subscribe({ after: seen, filter, limit: 1000, signal: reading.signal })) {
    since ||= batch[0]?.at ?? ''
    events += batch.filter(({ position }) => position <= head).length
    if (events >= most || (batch.at(-1)?.position ?? 0n) >= head) break
  }
  reading.abort()
  return { events: Math.min(events, most), seconds: Math.max(0, (Date.now() - Date.parse(since)) / 1000) }
}

/** What an operator's monitoring reads at /metrics, beside what the event store is measured by. */
export const watchService = (
  { watch }: Metrics,
  {
    store,
    projector,
    clicks,
  }: {
    readonly store: EventStore
    readonly projector: Projector | undefined
    readonly clicks: { readonly state: () => ClicksState }
  },
) => {
  const lags = async (of: 'events' | 'seconds') => {
    const { active, subscriptions } = projector?.state() ?? { active: false, subscriptions: [] }
    const each = async ({ filter, position }: (typeof subscriptions)[number]) =>
      [filter, (await lagOf(store, filter, position))[of]] as const
    return Object.fromEntries(active ? await Promise.all(subscriptions.map(each)) : [])
  }
  const gauge = (name: string, help: string, read: Watched['read'], label?: string) =>
    watch({ name: `linkledger_${name}`, help, read, ...(label ? { label } : {}) })

  gauge('projector_active', '1 in the process that fills the read tables', () => Number(projector?.state().active ?? 0))
  gauge(
    'projector_lag_events',
    'Events the read tables are behind, at most 10,000',
    () => lags('events'),
    'subscription',
  )
  gauge(
    'projector_lag_seconds',
    'Seconds since the oldest event that is not in the read tables yet',
    () => lags('seconds'),
    'subscription',
  )
  const relays = () => clicks.state().relays
  gauge('relay_lag_clicks', 'Clicks in the spool that are not in Kafka, or without Kafka in the log', () =>
    relays().reduce((sum, { lag }) => sum + lag, 0),
  )
  gauge('relay_lag_seconds', 'Seconds since the oldest click that is being taken on was made', () =>
    Math.max(0, ...relays().map(({ lagSeconds }) => lagSeconds)),
  )
  gauge(
    'recorder_lag_clicks',
    'Messages of this process’s partitions that are not in the log',
    () => clicks.state().recorder?.lag ?? 0,
  )
  gauge(
    'recorder_lag_seconds',
    'Seconds since the oldest message that is being recorded was sent',
    () => clicks.state().recorder?.lagSeconds ?? 0,
  )
  gauge('spool_bytes', 'Size of the click spool on the disk', () => clicks.state().spool.bytes)
  gauge('spool_waiting', 'Visits in memory, because the disk refuses them', () => clicks.state().spool.waiting)
  gauge('spool_quarantined', 'Damaged places found in the spool', () => clicks.state().spool.quarantined)
  watch({
    kind: 'counter',
    name: 'linkledger_clicks_dropped_total',
    help: 'Clicks that were answered but could not be kept',
    read: () => clicks.state().spool.dropped,
  })
}
