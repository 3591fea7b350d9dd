import { type EventStore, type Filter, readToHead } from '../events/store.ts'
import type { Measured, Metrics } from './metrics.ts'

/** Larger lags are reported as this many events. */
const maxLag = 10_000

/** Returns how far `seen` is behind the log: in events, and in seconds since the oldest of them was appended. */
export const lagOf = async (
  store: Pick<EventStore, 'head' | 'subscribe'>,
  filter: Filter,
  seen: bigint,
): Promise<{ readonly events: number; readonly seconds: number }> => {
  let [events, since] = [0, '']
  for await (const batch of readToHead(store, { after: seen, filter, limit: 1000 })) {
    since ||= batch[0]?.at ?? ''
    events += batch.length
    if (events >= maxLag) break
  }
  if (events === 0) return { events: 0, seconds: 0 }
  return { events: Math.min(events, maxLag), seconds: Math.max(0, (Date.now() - Date.parse(since)) / 1000) }
}

interface ProjectorState {
  readonly active: boolean
  readonly subscriptions: readonly { readonly filter: Filter; readonly position: bigint }[]
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
  readonly recorder: (Lag & { readonly deleted: readonly { readonly messages: number }[] }) | undefined
}

/** Registers the gauges of the projector. `state` is undefined in a process without the role projector. */
export const registerProjector = (
  { registerGauge }: Pick<Metrics, 'registerGauge'>,
  store: Pick<EventStore, 'head' | 'subscribe'>,
  state: (() => ProjectorState) | undefined,
) => {
  const lags = async (unit: 'events' | 'seconds') => {
    const { active, subscriptions } = state?.() ?? { active: false, subscriptions: [] }
    const lagPerFilter = async ({ filter, position }: (typeof subscriptions)[number]) =>
      [filter, (await lagOf(store, filter, position))[unit]] as const
    return Object.fromEntries(active ? await Promise.all(subscriptions.map(lagPerFilter)) : [])
  }
  registerGauge({
    name: 'linkledger_projector_active',
    help: '1 in the process that projects events into the read tables, otherwise 0',
    read: () => Number(state?.().active ?? 0),
  })
  registerGauge({
    name: 'linkledger_projector_lag_events',
    help: 'Events that are not in the read tables yet, at most 10,000',
    label: 'subscription',
    read: () => lags('events'),
  })
  registerGauge({
    name: 'linkledger_projector_lag_seconds',
    help: 'Seconds since the oldest event that is not in the read tables yet was appended',
    label: 'subscription',
    read: () => lags('seconds'),
  })
}

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
  gauge('spool_quarantined', 'Damaged places found in the click spool', () => state().spool.quarantined)
  registerCounter({
    name: 'linkledger_clicks_dropped_total',
    help: 'Clicks that were redirected but could not be stored',
    read: () => state().spool.dropped,
  })
}
