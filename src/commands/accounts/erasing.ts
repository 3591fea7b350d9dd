import type { Event } from '../../events/index.ts'

/** Commands about the erasure that an account has asked for. `now` and `due` are ISO 8601 in UTC. */
export type ErasureCommand =
  | { readonly type: 'ScheduleErasure'; readonly id: number; readonly due: string }
  | { readonly type: 'CancelErasure'; readonly id: number }
  | { readonly type: 'CarryOutErasure'; readonly id: number; readonly now: string }
/** Notes that the files of the database have nothing of the account any more. */
export interface DiskErasure {
  readonly type: 'NoteErasedOnDisk'
  readonly id: number
  readonly wal: boolean
}

/** Decides on the erasure of an account, given when it is due so far; null: it is not to be erased. */
export const decideErasure = (
  command: ErasureCommand,
  erases: string | null,
): readonly Event<'AccountErasureScheduled' | 'AccountErasureCancelled' | 'AccountErased'>[] => {
  const { id } = command
  switch (command.type) {
    case 'ScheduleErasure':
      return erases === null ? [{ type: 'AccountErasureScheduled', data: { id, due: command.due } }] : []
    case 'CancelErasure':
      return erases === null ? [] : [{ type: 'AccountErasureCancelled', data: { id } }]
    case 'CarryOutErasure':
      // it may have been cancelled since it was found to be due
      return erases === null || erases > command.now ? [] : [{ type: 'AccountErased', data: { id } }]
  }
}
