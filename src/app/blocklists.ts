import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Blocks } from '../cache/blocks.ts'
import type { Config } from '../config.ts'
import { startBlockListFile } from './jobs/blocklistfile.ts'
import { startBlockListUrl } from './jobs/blocklisturl.ts'
import { type GuardedDownload, openDownload } from '../lib/fetch.ts'
import type { ReadList } from '../lib/readblocklist.ts'

interface BlockListOptions {
  readonly blocks: Pick<Blocks, 'setList'>
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly download?: GuardedDownload
}

/**
 * Loads the lists of blocked hosts that the settings name, and keeps them up to date. Returns a function that stops it.
 */
export const startBlockLists = async (
  { BLOCKLIST_FILE: path, BLOCKLIST_URL: url, DATA_DIR }: Pick<Config, 'BLOCKLIST_FILE' | 'BLOCKLIST_URL' | 'DATA_DIR'>,
  { blocks, log, download = openDownload() }: BlockListOptions,
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
  const stopUrl =
    url === undefined
      ? undefined
      : await startBlockListUrl({
          url,
          file: join(DATA_DIR, 'blocklist'),
          download,
          onList: (list) => blocks.setList('url', list),
          onRead: (read) => report('BLOCKLIST_URL', read),
          onProblem: (problem) => log.warn(`${problem}; its last rules stay in force`),
        })
  return async () => {
    await stopFile?.()
    await stopUrl?.()
  }
}
