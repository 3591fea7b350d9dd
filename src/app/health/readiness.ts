import type { EventStore, Filter } from '../../events/store.ts'
import type { HaltedProjection, Subscription } from '../../projections/engine/work.ts'
import type { LiveTables } from '../../projections/engine/tables.ts'
import type { LogCheck } from '../log/eventlog.ts'
import type { LagWatch } from './lag.ts'

interface Observed {
  /** whether the process redirects visitors, which goes on while the API cannot be used */
  readonly redirects: boolean
  readonly listener: { readonly up: () => boolean }
  readonly tables: Pick<LiveTables, 'complete'>
  /** a log that does not answer does not affect readiness: redirects and reads go on */
  readonly store: Pick<EventStore, 'problem'>
  /** a process that was started while its log was away */
  readonly logCheck: Pick<LogCheck, 'problem'>
  readonly notifications: { readonly pendingKnown: () => boolean; readonly lostEvents: () => string | undefined }
  /** Returns undefined where nothing is known of a projector in this process. */
  readonly projector: () =>
    | {
        readonly active: boolean
        readonly subscriptions: readonly Pick<Subscription, 'filter' | 'halted' | 'failure'>[]
      }
    | undefined
  /** Returns problems of the clock that signs checkpoints, and stalled work of the projector. */
  readonly jobProblems: () => readonly string[]
  /** as another process has recorded them */
  readonly halted: () => readonly HaltedProjection[]
  readonly lag: LagWatch['lag']
  /** seconds that changes may need to become visible */
  readonly maxLag: number
  readonly clicks: { readonly problems: () => readonly string[] }
}
export interface Readiness {
  readonly ready: boolean
  readonly problems: readonly string[]
  /** seconds since the oldest event that is not in the read tables was appended, as far as this process knows */
  readonly lagSeconds: Readonly<Partial<Record<Filter, number>>>
}

/**
 * Without these projections, no request is answered correctly. Each of the others is missed by its own resource only.
 */
const essential: ReadonlySet<string> = new Set(['accounts', 'links', 'domains'])
const describeHalt = ({ projection, position, reason }: HaltedProjection) =>
  `the projection ${projection} is halted at ${position}: ${reason}; see \`linkledger projections\``

/** seconds without progress that are reported */
const longIdle = 10

/**
 * Returns the check behind `/readyz`: whether this process is ready, and what is wrong. A process that redirects is
 * ready for that as soon as it has tables. For the API, problems of the click pipeline, clicks that are not in the
 * tables yet, and halted projections of single resources are listed but do not affect readiness.
 */
export const readiness =
  ({
    redirects,
    listener,
    tables,
    store,
    logCheck,
    notifications,
    projector,
    jobProblems,
    halted,
    lag,
    maxLag,
    clicks,
  }: Observed) =>
  (of?: 'api'): Readiness => {
    const { active, subscriptions } = projector() ?? { active: false, subscriptions: [] }
    const halts = active ? subscriptions.flatMap((subscription) => subscription.halted) : halted()
    const behind = lag('domain')?.seconds ?? 0
    const reasons = [
      ...(listener.up() ? [] : ['the database is not connected']),
      ...[logCheck.problem() ?? []].flat(),
      ...[notifications.lostEvents() ?? []].flat(),
      ...(tables.complete() ? [] : ['the read tables are being filled']),
      ...(notifications.pendingKnown()
        ? []
        : ['the log is being searched for changes that the read tables do not have']),
      ...halts.filter(({ projection }) => essential.has(projection)).map(describeHalt),
      ...(behind > maxLag
        ? [`the read tables are ${Math.round(behind)} s behind the log (READY_MAX_LAG_SECONDS is ${maxLag})`]
        : []),
    ]
    const idle = subscriptions.flatMap(({ filter, failure }) => {
      const seconds = lag(filter)?.idleSeconds ?? 0
      if (seconds < longIdle) return []
      return [
        `the subscription to ${filter} has made no progress for ${Math.round(seconds)} s${failure ? `: ${failure}` : ''}`,
      ]
    })
    return {
      ready: redirects && of !== 'api' ? tables.complete() : reasons.length === 0,
      problems: [
        ...reasons,
        ...halts.filter(({ projection }) => !essential.has(projection)).map(describeHalt),
        ...[store.problem?.() ?? []].flat(),
        ...jobProblems(),
        ...idle,
        ...clicks.problems(),
      ],
      lagSeconds: Object.fromEntries(
        (['domain', 'clicks'] as const).flatMap((filter) => {
          const known = lag(filter)
          return known ? [[filter, Math.round(known.seconds * 10) / 10]] : []
        }),
      ),
    }
  }
