import type { LiveTables } from '../projections/tables.ts'

interface Observed {
  readonly listener: { readonly up: () => boolean }
  readonly tables: Pick<LiveTables, 'complete'>
  readonly projector:
    | {
        readonly state: () => {
          readonly subscriptions: readonly {
            readonly filter: string
            readonly halted: { readonly position: bigint; readonly reason: string } | undefined
          }[]
        }
      }
    | undefined
  readonly clicks: { readonly problems: () => readonly string[] }
}
export interface Readiness {
  readonly ready: boolean
  readonly problems: readonly string[]
}

/** Returns the check behind `/readyz`: the reasons why this process is not ready. Problems of the click pipeline are listed but do not affect readiness. */
export const readiness =
  ({ listener, tables, projector, clicks }: Observed) =>
  (): Readiness => {
    const reasons = [
      ...(listener.up() ? [] : ['the database is not connected']),
      ...(tables.complete() ? [] : ['the read tables are being filled']),
      ...(projector?.state().subscriptions ?? []).flatMap(({ filter, halted }) =>
        halted ? [`the subscription to ${filter} is halted at ${halted.position}: ${halted.reason}`] : [],
      ),
    ]
    return { ready: reasons.length === 0, problems: [...reasons, ...clicks.problems()] }
  }
