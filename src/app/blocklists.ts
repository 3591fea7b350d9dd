import { join } from 'node:path'
import type { Blocks } from '../cache/blocks.ts'
import { startBlockListFile } from './jobs/blocklistfile.ts'
import { startBlockListUrl } from './jobs/blocklisturl.ts'
import type { Ledger } from './log/ledger.ts'
import { openDownload } from '../lib/fetch.ts'
import type { ReadList } from '../lib/readblocklist.ts'

/**
 * Loads the lists of blocked hosts that the settings name, and of those that neither blocks, and keeps them up to date.
 * Returns a function that stops it.
 */
export const startBlockLists = async (
  { config, jobs, log, metrics }: Pick<Ledger, 'config' | 'jobs' | 'log' | 'metrics'>,
  blocks: Pick<Blocks, 'setList'>,
): Promise<() => Promise<void>> => {
  const changed = new Map<string, Date>()
  const rules = new Map<string, number>()
  registerLists(metrics, changed, rules)
  const use = (setting: string, source: Parameters<Blocks['setList']>[0], { list, unread, first }: ReadList) => {
    blocks.setList(source, list)
    rules.set(setting, list.size)
    log.info({ setting, rules: list.size }, 'block list read')
    if (list.size + unread === 0) log.warn({ setting }, 'a block list is empty')
    if (unread > 0) log.warn({ setting, unread, first }, 'lines of a block list are no host, address or pattern')
  }
  const files = [
    ['BLOCKLIST_FILE', 'file'],
    ['ALLOWLIST_FILE', 'allowed'],
  ] as const
  const stops: (() => Promise<void>)[] = []
  for (const [setting, source] of files) {
    const path = config[setting]
    if (path === undefined) continue
    const job = jobs.open(setting.toLowerCase(), `${setting} is not read`)
    const stop = await startBlockListFile({
      setting,
      path,
      onRead: (read, at) => {
        job.worked()
        changed.set(setting, at)
        use(setting, source, read)
      },
      onProblem: job.telling((error) =>
        log.warn({ err: error }, `${setting} cannot be read; its last rules stay in force`),
      ),
    })
    stops.push(stop)
  }
  const { BLOCKLIST_URL: url, BLOCKLIST_HEADER: headers = {} } = config
  if (url !== undefined) {
    const job = jobs.open('blocklist_url', 'BLOCKLIST_URL is not fetched')
    const stop = await startBlockListUrl({
      ...{ url, headers },
      file: join(config.DATA_DIR, 'blocklist'),
      download: openDownload(),
      onRead: (read) => use('BLOCKLIST_URL', 'url', read),
      onFetched: (moment) => {
        job.worked()
        changed.set('BLOCKLIST_URL', moment)
      },
      onProblem: job.telling((problem) => log.warn(`${String(problem)}; its last rules stay in force`)),
    })
    stops.push(stop)
  }
  return async () => {
    for (const stop of stops) await stop()
  }
}

const registerLists = (
  { registerGauge }: Ledger['metrics'],
  changed: ReadonlyMap<string, Date>,
  rules: ReadonlyMap<string, number>,
) => {
  registerGauge({
    name: 'linkledger_blocklist_age_seconds',
    help: 'Seconds since a list of blocked or allowed hosts was last fetched, or since its file was changed',
    label: 'list',
    read: () => Object.fromEntries([...changed].map(([list, at]) => [list, (Date.now() - at.getTime()) / 1000])),
  })
  registerGauge({
    name: 'linkledger_blocklist_rules',
    help: 'Hosts, addresses and patterns in a list of blocked or allowed hosts',
    label: 'list',
    read: () => Object.fromEntries(rules),
  })
}
