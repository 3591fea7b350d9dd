import type { z } from 'zod'
import type { ReportedKind, ReportEvent, ReportReason } from '../../events/operator/report.ts'
import { type Decider, refuse } from '../decider.ts'

export type ReportCommand =
  | {
      readonly type: 'SendReport'
      readonly id: string
      /** owner of what is reported */
      readonly account: number
      readonly kind: z.output<typeof ReportedKind>
      readonly subject: number
      readonly address: string
      readonly reason: z.output<typeof ReportReason>
      readonly message: string
      readonly email: string
    }
  | { readonly type: 'CloseReport'; readonly id: string }

/** Each report has a stream of its own, so that visitors never wait for each other. */
export const report: Decider<ReportCommand, 'none' | 'open' | 'closed', ReportEvent> = {
  kind: 'report',
  version: 1,
  id: ({ id }) => id,
  initialState: 'none',
  decide: (command, state) => {
    if (command.type === 'SendReport') {
      const { type: _, ...data } = command
      // the caller draws another reference
      return state === 'none' ? [{ type: 'ReportSent', data }] : refuse('taken', { what: 'reference' })
    }
    if (state === 'none') return refuse('not_found', { what: 'report_number', id: command.id })
    return state === 'closed' ? [] : [{ type: 'ReportClosed', data: { id: command.id } }]
  },
  evolve: (_, { type }) => (type === 'ReportSent' ? 'open' : 'closed'),
}
