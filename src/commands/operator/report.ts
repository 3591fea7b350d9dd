import type { z } from 'zod'
import type { ReportedKind, ReportEvent, ReportReason } from '../../events/operator/report.ts'
import { type Decider, refuse } from '../decider.ts'

export type ReportCommand =
  | {
      readonly type: 'SendReport'
      readonly id: string
      /** owner of the reported resource */
      readonly account: number
      readonly kind: z.output<typeof ReportedKind>
      readonly subject: number
      readonly address: string
      readonly reason: z.output<typeof ReportReason>
      readonly message: string
      readonly email: string
    }
  | { readonly type: 'CloseReport'; readonly id: string }
  | { readonly type: 'EraseReport'; readonly id: string }

const states = { ReportSent: 'open', ReportClosed: 'closed', ReportErased: 'erased' } as const

/** Each report has its own stream, so that visitors never wait for each other. */
export const report: Decider<ReportCommand, 'none' | 'open' | 'closed' | 'erased', ReportEvent> = {
  kind: 'report',
  version: 2,
  id: ({ id }) => id,
  initialState: 'none',
  decide: (command, state) => {
    if (command.type === 'SendReport') {
      const { type: _, ...data } = command
      // the caller draws another reference
      return state === 'none' ? [{ type: 'ReportSent', data }] : refuse('taken', { what: 'reference' })
    }
    if (state === 'none') return refuse('not_found', { what: 'report_number', id: command.id })
    const data = { id: command.id }
    const closed: readonly ReportEvent[] = state === 'open' ? [{ type: 'ReportClosed', data }] : []
    if (command.type === 'CloseReport') return closed
    if (state === 'erased') return refuse('not_found', { what: 'report_text', id: command.id })
    // an erased report cannot be judged
    return [...closed, { type: 'ReportErased', data }]
  },
  evolve: (_, { type }) => states[type],
}
