import { type Checkpoint, parseCheckpoint, parseNote, type Verifier } from '../../lib/transparency/note.ts'
import { keptCheckpoints } from '../../postgres/checkpoints.ts'
import type { Database } from '../../postgres/database.ts'
import type { Finding } from './finding.ts'

export interface CheckpointOptions {
  readonly db: Database
  readonly verifier: Verifier
  /** signed checkpoints that were kept elsewhere */
  readonly outside?: readonly string[]
}

/** A checkpoint whose root is to be found again. */
interface Expected extends Checkpoint {
  readonly isOutside: boolean
}

/** Reads a signed checkpoint. Returns undefined for a text that is none, or that the key of this log has not signed. */
export const readCheckpoint = (text: string, verifier: Verifier): Checkpoint | undefined => {
  const note = parseNote(text)
  const checkpoint = note && parseCheckpoint(note.text)
  return note && checkpoint?.origin === verifier.name && verifier.verifies(note) ? checkpoint : undefined
}

/**
 * Reads the checkpoints whose roots are to be found again, the smallest first. What is not signed by the key is a
 * finding, and so is a row with the note of another one.
 */
export const readCheckpoints = async (
  { db, verifier, outside = [] }: CheckpointOptions,
  report: (finding: Finding) => void,
) => {
  const kept = await keptCheckpoints(db)
  const notes = [...kept, ...outside.map((note) => ({ note, size: undefined }))]
  const checkpoints = notes.flatMap(({ note, size }): Expected[] => {
    const checkpoint = readCheckpoint(note, verifier)
    if (checkpoint && checkpoint.size === (size ?? checkpoint.size))
      return [{ ...checkpoint, isOutside: size === undefined }]
    const problem = checkpoint ? `was replaced by that of ${checkpoint.size}` : 'is not signed by the key of this log'
    report({
      of: 'checkpoints',
      ordinal: 0,
      text: `${size === undefined ? 'a checkpoint that was kept elsewhere' : `the checkpoint of ${size} events`} ${problem}`,
    })
    return []
  })
  return checkpoints.toSorted((a, b) => a.size - b.size)
}

/**
 * Compares the root of the log after each event with the checkpoints of that size. Where a checkpoint from elsewhere
 * does not fit, only others from elsewhere show up to where the log is unchanged: those in the database may be newer
 * than the change.
 */
export const checkpointCheck = (checkpoints: readonly Expected[], report: (finding: Finding) => void) => {
  let next = 0
  let [holds, holdsOutside] = [0, 0]
  const broken: number[] = []
  return {
    broken,
    /** how many events the largest checkpoint has that holds: none of them was changed */
    holds: () => holds,
    sizes: new Set(checkpoints.map(({ size }) => size)),
    at: (size: number, root: Buffer) => {
      for (; checkpoints[next]?.size === size; next++) {
        const { isOutside, root: expected } = checkpoints[next]!
        if (expected.equals(root)) {
          holds = size
          if (isOutside) holdsOutside = size
          continue
        }
        const from = isOutside ? holdsOutside : holds
        broken.push(size)
        report({
          of: 'log',
          ordinal: from,
          until: size - 1,
          text: `the log was changed between event ${from} and event ${size - 1}: the signed checkpoint of its first ${size} events has another root`,
        })
      }
    },
    end: (size: number) => {
      for (const checkpoint of checkpoints.slice(next)) {
        broken.push(checkpoint.size)
        report({
          of: 'log',
          ordinal: size,
          text: `event ${size} is missing: the log ends before it, and there is a signed checkpoint of ${checkpoint.size} events. If it was restored from an older backup: \`linkledger proof restart\``,
        })
      }
    },
  }
}
