import type { Logger } from 'pino'
import type { Blocks } from '../cache/blocks.ts'
import type { Config } from '../config.ts'
import { startBlockListFile } from '../jobs/blocklistfile.ts'
import type { ReadList } from '../lib/readblocklist.ts'

interface BlockListOptions {
  readonly blocks: Pick<Blocks, 'setList'>
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** Loads the lists of blocked hosts that the settings name, and keeps them up to date. Returns a function that stops it. */
export const startBlockLists = async (
  { BLOCKLIST_FILE: path }: Pick<Config, 'BLOCKLIST_FILE'>,
  { blocks, log }: BlockListOptions,
): Promise<() => Promise<void>> => {
  const report = (setting: string, { list, unread, first }: ReadList) => {
    log.info({ setting, rules: list.size }, 'block list read')
    if (unread > 0) log.warn({ setting, unread, first }, 'lines of a block list are neither a host nor a pattern')
  }
  const stopFile =
    path === undefined
      ? undefined
      : await startBlockListFile({
          path,
          onList: (list) => blocks.setList('file', list),
          onRead: (read) => report('BLOCKLIST_FILE', read),
          onProblem: (error) => log.warn({ err: error }, 'BLOCKLIST_FILE cannot be read; its last rules stay in force'),
        })
  return async () => {
    await stopFile?.()
  }
}
