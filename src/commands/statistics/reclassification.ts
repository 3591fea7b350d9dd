import type { ReclassificationEvent } from '../../events/statistics/reclassification.ts'
import type { Event } from '../../events/index.ts'
import { type Decider, refuse } from '../decider.ts'

type Part = Omit<Event<'ClicksReclassified'>['data'], 'reclassification' | 'part'>

/** Commands on a reclassification, each of which appends one event at most: a part may be large. */
export type ReclassificationCommand =
  | { readonly type: 'AddPart'; readonly id: string; readonly part: number; readonly data: Part }
  /** Takes back the newest part. `since`: visits before it are not kept one by one. */
  | { readonly type: 'UndoPart'; readonly id: string; readonly account: number | undefined; readonly since: string }

export interface Reclassification {
  readonly status: 'none' | 'open'
  readonly account: number
  /** parts that were recorded, and those of them that are not undone */
  readonly parts: number
  readonly left: number
}

export const reclassification: Decider<ReclassificationCommand, Reclassification, ReclassificationEvent> = {
  kind: 'reclassification',
  version: 1,
  id: ({ id }) => id,
  initialState: { status: 'none', account: 0, parts: 0, left: 0 },
  decide: (command, { status, account, parts, left }) => {
    const { id } = command
    if (command.type === 'AddPart') {
      const { part, data } = command
      // a repeated command
      if (part < parts) return []
      return [{ type: 'ClicksReclassified', data: { reclassification: id, part, ...data } }]
    }
    if (status === 'none' || (command.account !== undefined && command.account !== account))
      return refuse('not_found', { what: 'reclassification' })
    if (left === 0) return []
    const { since } = command
    return [{ type: 'ReclassificationUndone', data: { reclassification: id, account, part: left - 1, since } }]
  },
  evolve: (state, event) => {
    if (event.type === 'ReclassificationUndone') return { ...state, left: event.data.part }
    const { account, part } = event.data
    return { status: 'open', account, parts: part + 1, left: part + 1 }
  },
}
