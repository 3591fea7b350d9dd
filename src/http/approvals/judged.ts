import type { Handled } from '../../commands/context.ts'
import { type Decider, RevisionChanged } from '../../commands/decider.ts'
import type { Revisions } from '../../commands/handle.ts'
import type { DomainEvent } from '../../events/index.ts'
import type { Writer } from '../api/route.ts'

/** What writes a change at the revision of which it was judged, and has it judged again when that has changed. */
export type JudgedWriter = Omit<Writer, 'write'> & {
  readonly write: <C, S, E extends DomainEvent>(
    decider: Decider<C, S, E>,
    command: C,
    judge?: () => Promise<number | undefined>,
  ) => Promise<Handled<S, E>>
}

/** how often a change is judged while others change the same */
const attempts = 50

/** Makes a change at the revision of which it was judged, and has it judged again when that has changed. */
export const asJudged = async <R>(
  judge: (() => Promise<number | undefined>) | undefined,
  revisions: Revisions,
  make: (revisions: Revisions) => Promise<R>,
): Promise<R> => {
  for (let n = 1; ; n++) {
    const judged = await judge?.()
    const isPinned = judged !== undefined && (!revisions || revisions.includes(judged))
    try {
      return await make(isPinned ? [judged] : revisions)
    } catch (error) {
      const isAgain = isPinned && n < attempts && error instanceof RevisionChanged
      if (!isAgain || (revisions && !revisions.includes(error.revision))) throw error
    }
  }
}
