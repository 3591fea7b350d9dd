import { OperatorError } from '../../lib/operatorerror.ts'
import { type ReadList, readBlockList } from '../../lib/readblocklist.ts'
import { type FollowedFile, followFile } from './followfile.ts'

export interface BlockListFile extends Pick<FollowedFile, 'setting' | 'path' | 'onProblem' | 'every'> {
  /** Called with each list that was read, and the moment of its last change. */
  readonly onRead: (read: ReadList, changed: Date) => void
}

/**
 * Reads a list, and again whenever its file changes. Throws an `OperatorError` when it cannot be read at first. Returns
 * a function that stops it.
 */
export const startBlockListFile = ({ onRead, ...file }: BlockListFile) =>
  followFile({
    ...file,
    maxMiB: 64,
    use: async (bytes, changed) => {
      const read = await readBlockList(bytes.toString('utf8'), 'operators')
      const { list, unread, first } = read
      // a list may have some lines that are none
      if (unread > list.size)
        throw new OperatorError(`most lines of ${file.path} are no host, address or pattern; the first is ${first}`)
      onRead(read, changed)
    },
  })
