import type { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { createChain, type Entry, type NumberedEntry } from '../lib/chain.ts'
import { fileOr, type ReadableFile, standard, writeFileOr } from '../lib/streamfile.ts'
import { type Archive, checkArchive, eventEntries, headerEntry, sourceIn, withEnd } from '../store/archive.ts'
import { copyEvents, sourceOf } from '../store/copy.ts'
import type { Cli } from './cli.ts'
import { openGaps, openSource, openTarget, progressBar, refuseGaps, withCleanup, withGaps } from './engines.ts'

export const fileToWrite = 'compressed when its name ends in .gz; - is standard output'
export const fileToRead = 'a file of `%`; - is standard input'

/** `linkledger log export` and `log import` */
export const addExportCommands = (log: Command, cli: Cli) => {
  log
    .command('export')
    .description('write all events to a file, while the service runs: a line of JSON for each, with checksums')
    .argument('<file>', fileToWrite)
    .action((file: string) => exportLog(cli, file))
  log
    .command('import')
    .description('read all events of an export into an empty log; run again after an interruption, it continues')
    .argument('<file>', fileToRead.replace('%', 'linkledger log export'))
    .option(...withGaps)
    .action((file: string, options: { readonly withGaps?: true }) => importLog(cli, file, options.withGaps === true))
}

const lines = async function* (entries: AsyncIterable<readonly Entry[]>): AsyncGenerator<string> {
  const chain = createChain()
  for await (const some of withEnd(entries)) yield some.map(chain).join('')
}

/** Writes entries to a file or standard output, and the last entry that counts them. */
export const writeArchive = (cli: Cli, file: string, entries: AsyncIterable<readonly Entry[]>): Promise<void> =>
  writeFileOr(cli.output ?? (process.stdout as Writable), file, lines(entries))

/** Runs `work` on a file, or on a copy of standard input. */
export const withArchive = async (cli: Cli, name: string, work: (file: ReadableFile) => Promise<void>) => {
  const file = await fileOr(cli.input ?? (process.stdin as Readable), name)
  try {
    await work(file)
  } finally {
    await file.close()
  }
}

/** Prints to standard error when standard output is the file. */
export const printerFor = ({ print, printError }: Cli, file: string) => (file === standard ? printError : print)

/** `checkArchive` with a progress bar. */
export const checkWithBar = (file: ReadableFile, onEntry: (entry: NumberedEntry) => void): Promise<Archive> => {
  const { show, stop } = progressBar()
  return checkArchive(file, onEntry, (progress) => show('checked', progress)).finally(stop)
}

const exportLog = (cli: Cli, file: string) => {
  const config = readConfig(cli.variables)
  return withCleanup(config, async (cleanup) => {
    const { db, store } = await openSource(config, cleanup)
    cli.yieldCpu?.()
    const { show, stop } = progressBar()
    let count = 0
    const entries = async function* () {
      yield [headerEntry({ kind: 'log', log: store.logId })]
      for await (const events of eventEntries(await sourceOf(store), (progress) => show('exported', progress))) {
        count += events.length
        yield events
      }
    }
    await writeArchive(cli, file, entries()).finally(stop)
    printerFor(cli, file)(`${count} events are exported.`)
    await refuseGaps(config, db, 'export')
  })
}

const importLog = (cli: Cli, name: string, isWithGaps: boolean) => {
  const config = readConfig(cli.variables)
  return withArchive(cli, name, async (file) => {
    // a backup has the events, too
    const archive = await checkWithBar(file, () => {})
    await withCleanup(config, async (cleanup) => {
      const { db, openStore } = await openTarget(config, cleanup)
      const gaps = openGaps(db, isWithGaps, config.EVENTSTORE_URL !== undefined)
      const store = await openStore(archive.opening)
      const { show, stop } = progressBar()
      const count = await copyEvents(sourceIn(file, archive), store, show, gaps.store).finally(stop)
      for (const line of [`${count} events are imported and verified.`, ...gaps.report()]) cli.print(line)
    })
  })
}
