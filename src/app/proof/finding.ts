/** Something that does not hold, and the ordinal of the first event that it is about. */
export interface Finding {
  /** what is not as it was: events, the hashes of the tree over them, or the signed checkpoints */
  readonly of: 'log' | 'tree' | 'checkpoints'
  readonly ordinal: number
  readonly text: string
  /** the first event is not known exactly: it is this one at the latest */
  readonly until?: number
}
