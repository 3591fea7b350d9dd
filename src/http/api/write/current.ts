import { ChangedByNewer } from '../../../events/unknown.ts'

interface Sources<R> {
  /** whether the resource has changes that are not in the tables yet */
  readonly pending: boolean
  readonly inTables: () => Promise<R | undefined>
  readonly inStream: () => Promise<R>
}

/**
 * Reads a resource from the tables or, while its changes are not projected yet, from its stream. The tables also serve
 * what a newer release has changed in a way that this one cannot read.
 */
export const readCurrent = async <R>({ pending, inTables, inStream }: Sources<R>): Promise<R> => {
  const row = pending ? undefined : await inTables()
  if (row) return row
  try {
    return await inStream()
  } catch (error) {
    const older = error instanceof ChangedByNewer ? await inTables() : undefined
    if (older) return older
    throw error
  }
}
