import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { EventStore } from '../../events/store.ts'

/** A current value, or one for each value of the label. */
export type Values = number | Readonly<Record<string, number>>
export interface Measured {
  readonly name: string
  readonly help: string
  readonly label?: string
  /** Called for each scrape. When it fails, the metric is left out. */
  readonly read: () => Values | Promise<Values>
}

/** The metrics of a thread, as they are sent to another one. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

export interface Metrics {
  /** Returns the same store with its appends timed and their outcomes counted. */
  readonly measured: (store: EventStore) => EventStore
  /** Counts a subscription that was lost and opened again. */
  readonly restarted: (subscription: string) => void
  /** Counts events that the projector skipped because only a newer release can read them. */
  readonly unknown: (subscription: string, events: number) => void
  /** Counts a request for a link that is not a visit. */
  readonly notCounted: (what: 'head' | 'password' | 'blocked') => void
  readonly registerGauge: (measured: Measured) => void
  /** For a value that only grows. */
  readonly registerCounter: (measured: Measured) => void
  /** Adds what another thread measures to the text: of gauges the highest value, all else is added up. */
  readonly join: (read: () => Promise<readonly MetricValues[]>) => void
  /** Returns what this thread measures, without Node's own metrics. */
  readonly values: () => Promise<MetricValues>
  /** Returns all metrics in Prometheus' text format, 0.0.4. */
  readonly text: () => Promise<{ readonly type: string; readonly text: string }>
}

const registerAll = (registers: Registry[]) => ({
  seconds: new Histogram({
    name: 'linkledger_append_seconds',
    help: 'Duration of appends to the event log in seconds',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  }),
  appends: new Counter({
    name: 'linkledger_appends_total',
    help: 'Appends by outcome: stored, conflict (unexpected revision), failed',
    labelNames: ['outcome'],
    registers,
  }),
  restarts: new Counter({
    name: 'linkledger_subscription_restarts_total',
    help: 'Subscriptions to the event log that were lost and reopened',
    labelNames: ['subscription'],
    registers,
  }),
  unknown: new Counter({
    name: 'linkledger_unknown_events_total',
    help: 'Events that the projector skipped, because only a newer version of Linkledger can read them',
    labelNames: ['subscription'],
    registers,
  }),
  notCounted: new Counter({
    name: 'linkledger_not_counted_total',
    help: 'Requests for links that are not visits: HEAD requests, wrong passwords and blocked links',
    labelNames: ['what'],
    registers,
  }),
})

/** Opens the metrics of this process. */
export const openMetrics = (): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  const { seconds, appends, restarts, unknown, notCounted } = registerAll(registers)
  const defaults = new Registry()
  let collectsDefaults = false
  const others: (() => Promise<readonly MetricValues[]>)[] = []

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
    unknown: (subscription, events) => unknown.inc({ subscription }, events),
    notCounted: (what) => notCounted.inc({ what }),

    registerGauge: (measured) => {
      const gauge: Gauge = new Gauge({
        ...optionsOf(measured),
        registers,
        // what several threads know is no more than one of them knows
        aggregator: 'max',
        collect: () => (gauge.reset(), collect(measured, (labels, value) => gauge.set(labels, value))),
      })
    },
    registerCounter: (measured) => {
      const counter: Counter = new Counter({
        ...optionsOf(measured),
        registers,
        collect: () => (counter.reset(), collect(measured, (labels, value) => counter.inc(labels, value))),
      })
    },

    join: (read) => void others.push(read),
    values: () => registry.getMetricsAsJSON(),

    text: async () => {
      // Node's own metrics need timers and observers, so they start with the first scrape
      if (!collectsDefaults) collectDefaultMetrics({ register: defaults })
      collectsDefaults = true
      const joined = (await Promise.all(others.map((read) => read()))).flat()
      const all =
        joined.length === 0 ? registry : AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...joined])
      return { type: registry.contentType, text: `${await all.metrics()}\n${await defaults.metrics()}` }
    },
  }
}

/** Returns what only grows of what threads have measured, added up: it stays when they have ended. */
export const countedBy = async (threads: readonly MetricValues[]): Promise<MetricValues> => {
  const all = await AggregatorRegistry.aggregate([...threads]).getMetricsAsJSON()
  return all.filter(({ type }) => String(type) !== 'gauge')
}

const optionsOf = ({ name, help, label }: Measured) => ({ name, help, labelNames: label === undefined ? [] : [label] })

const collect = async (
  { read, label = '' }: Measured,
  set: (labels: Record<string, string>, value: number) => void,
) => {
  // a store that does not respond must not hide the other metrics
  const values = await Promise.resolve(read()).catch(() => ({}))
  if (typeof values === 'number') set({}, values)
  else for (const [value, n] of Object.entries(values)) set({ [label]: value }, n)
}
