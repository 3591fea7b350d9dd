import type { Filter } from '../../events/store.ts'
import type { Lag as LogLag, LagWatch } from './lag.ts'
import type { Measured, Metrics } from './metrics.ts'
import type { Jobs } from './standstill.ts'

interface ProjectorState {
  readonly active: boolean
  readonly subscriptions: readonly { readonly filter: Filter }[]
}
interface Lag {
  readonly lag: number
  readonly lagSeconds: number
}
interface ClicksState {
  readonly spool: {
    readonly bytes: number
    readonly waiting: number
    readonly quarantined: number
    readonly dropped: number
  }
  readonly relays: readonly Lag[]
  readonly aside: readonly { readonly entries: number }[]
  readonly recorder: (Lag & { readonly deleted: readonly { readonly messages: number }[] }) | undefined
}

/** Registers the gauges of the projector. `state` returns undefined where there is none, or nothing is known of it. */
export const registerProjector = (
  { registerGauge }: Pick<Metrics, 'registerGauge'>,
  lag: LagWatch['lag'],
  state: () => ProjectorState | undefined,
) => {
  const perSubscription = (name: string, help: string, value: (lag: LogLag) => number) =>
    registerGauge({
      name: `linkledger_projector_${name}`,
      help,
      label: 'subscription',
      read: () => {
        const { active, subscriptions } = state() ?? { active: false, subscriptions: [] }
        const known = (active ? subscriptions : []).flatMap(({ filter }) => {
          const behind = lag(filter)
          return behind ? [[filter, value(behind)] as const] : []
        })
        return Object.fromEntries(known)
      },
    })
  registerGauge({
    name: 'linkledger_projector_active',
    help: '1 in the process that projects events into the read tables, otherwise 0',
    read: () => Number(state()?.active ?? 0),
  })
  perSubscription(
    'lag_positions',
    'Positions of the log that are not in the read tables yet: events of all kinds, or bytes of the log of EventStoreDB',
    ({ positions }) => positions,
  )
  perSubscription(
    'lag_seconds',
    'Seconds since the oldest event that is not in the read tables yet was appended',
    ({ seconds }) => seconds,
  )
  perSubscription(
    'idle_seconds',
    'Seconds without progress although there are events to read, otherwise 0',
    ({ idleSeconds }) => idleSeconds,
  )
}

/** Registers the gauge of what a process does again and again. */
export const registerJobs = ({
  jobs,
  metrics,
}: {
  readonly jobs: Pick<Jobs, 'seconds'>
  readonly metrics: Pick<Metrics, 'registerGauge'>
}) =>
  metrics.registerGauge({
    name: 'linkledger_job_failing_seconds',
    help: 'Seconds since a job of this process fails, 0 while it works',
    label: 'job',
    read: jobs.seconds,
  })

/** Registers the gauges of the click pipeline. */
export const registerClicks = (
  { registerGauge, registerCounter }: Pick<Metrics, 'registerGauge' | 'registerCounter'>,
  state: () => ClicksState,
) => {
  const gauge = (name: string, help: string, read: Measured['read']) =>
    registerGauge({ name: `linkledger_${name}`, help, read })

  gauge('relay_lag_clicks', 'Clicks in the spool that are not yet in Kafka, or without Kafka in the log', () =>
    state().relays.reduce((sum, { lag }) => sum + lag, 0),
  )
  gauge('relay_lag_seconds', 'Seconds since the oldest click that is being relayed was answered', () =>
    Math.max(0, ...state().relays.map(({ lagSeconds }) => lagSeconds)),
  )
  gauge(
    'recorder_lag_clicks',
    'Messages in the partitions of this process that are not in the log yet',
    () => state().recorder?.lag ?? 0,
  )
  gauge(
    'recorder_lag_seconds',
    'Seconds since the oldest message that is being recorded was sent',
    () => state().recorder?.lagSeconds ?? 0,
  )
  registerCounter({
    name: 'linkledger_recorder_deleted_total',
    help: 'Messages that Kafka deleted before they were recorded',
    read: () => state().recorder?.deleted.reduce((sum, { messages }) => sum + messages, 0) ?? 0,
  })
  gauge('spool_bytes', 'Size of the click spool on disk in bytes', () => state().spool.bytes)
  gauge('spool_waiting', 'Visits held in memory because the disk refuses them', () => state().spool.waiting)
  gauge('spool_aside_clicks', 'Clicks in spools that are kept aside until an operator accepts or drops them', () =>
    state().aside.reduce((sum, { entries }) => sum + entries, 0),
  )
  gauge('spool_quarantined', 'Damaged places found in the click spool', () => state().spool.quarantined)
  registerCounter({
    name: 'linkledger_clicks_dropped_total',
    help: 'Clicks that were redirected but could not be stored',
    read: () => state().spool.dropped,
  })
}
