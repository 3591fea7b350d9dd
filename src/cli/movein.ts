import { createReadStream, createWriteStream } from 'node:fs'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { readConfig } from '../config.ts'
import type { FoundImport } from '../http/imports/contract.ts'
import { lineOf } from '../imports/formats/lines.ts'
import { formats, UnreadableSource } from '../imports/records.ts'
import { conflictWays } from '../imports/importing.ts'
import { apiFormats, readSource } from '../imports/sources/read.ts'
import { OperatorError, stop } from '../lib/operatorerror.ts'
import { sentenceOf } from '../lib/problems/problem.ts'
import { fileOr } from '../lib/streamfile.ts'
import { type ApiClient, type Body, openApiClient } from './apiclient.ts'
import { BadCommand, type Cli } from './cli.ts'
import { readHiddenLine } from './hiddenline.ts'

interface ImportOptions {
  readonly to?: string
  readonly timezone: string
  readonly onConflict: (typeof conflictWays)[number]
  readonly domain: readonly string[]
  readonly column: readonly string[]
  readonly report?: string
  readonly dryRun?: true
  readonly force?: true
}

type Details = FoundImport['details']

/** ms between the first two looks, and between later ones at most: a key may send 30 requests in a minute */
const [firstLook, lookEvery] = [200, 3000]
/** lines of the report that are printed */
const shown = 20

const collect = (value: string, before: readonly string[]) => [...before, value]

/** `linkledger import` */
export const addMoveInCommand = (program: Command, cli: Cli) =>
  program
    .command('import')
    .description('create the links of another service; LINKLEDGER_KEY is an API key of the account')
    .argument('<format>', `auto, ${formats.filter((one) => one !== 'records').join(', ')}, or undo`)
    .argument('<source>', 'a file, also .gz; the URL of an API; - is standard input; for undo, the id of an import')
    .option('--dry-run', 'only say what would become of each link')
    .option('--to <address>', 'the address of the service; by default the one on this machine')
    .option(
      '--domain <theirs=ours>',
      'the branded domain here for a host there; ours alone: that of all others; may be repeated',
      collect,
      [],
    )
    .option('--column <field=name>', 'a column of a CSV file that has another name; may be repeated', collect, [])
    .option('--timezone <zone>', 'the zone of times that have none', 'UTC')
    .option('--report <file>', 'write what became of each link to a CSV file')
    .option('--force', 'undo: also delete links that were changed or visited since')
    .addOption(
      new Option('--on-conflict <way>', 'what to do when an alias is taken or not possible here')
        .choices(conflictWays)
        .default('skip'),
    )
    .action((format: string, source: string, options: ImportOptions) => moveIn(cli, format, source, options))

const isAddress = (source: string) => /^https?:\/\//i.test(source)

/** Returns what an API lists, as lines of records. The key of the other service is asked for, and not kept. */
const fromApi = async (cli: Cli, format: string, source: string, timezone: string): Promise<Body> => {
  const known = apiFormats.find((one) => one === format)
  if (!known) throw new BadCommand(`for an API, the format must be one of ${apiFormats.join(', ')}`)
  const key = cli.variables['SOURCE_KEY'] ?? (await readHiddenLine(cli, `Key of ${source} (it is not shown):`))
  const address = new URL(source.endsWith('/') ? source : `${source}/`)
  return async function* () {
    yield lineOf({ kind: 'format', format: known })
    // the command is a client of that service, which may be in a private network
    // oxlint-disable-next-line no-restricted-globals
    const client = { fetch, signal: new AbortController().signal, timezone }
    for await (const record of readSource(known, address, key, client)) yield lineOf(record)
  }
}

/** Waits until the service has done the work, and goes on with what an end of its process has interrupted. */
const follow = async ({ ask }: ApiClient, id: string, { printError }: Cli): Promise<Details> => {
  for (let [last, pause] = [-1, firstLook]; ; pause = Math.min(lookEvery, 2 * pause)) {
    const details = (await ask('GET', `/api/import/${id}`))['details'] as Details | undefined
    if (!details) return stop('the address of --to does not answer as this service does')
    const { state, done, total } = details
    if (state === 'interrupted') await ask('POST', `/api/import/${id}/start`, {})
    else if (!['checking', 'running', 'undoing'].includes(state)) return details
    if (done !== last && total !== null && state !== 'undoing') printError(`${done} of ${total} …`)
    last = done
    await sleep(pause)
  }
}

const printNotes = ({ notes }: Details, printError: Cli['printError']) => {
  const leftOut = new Map<string, number>()
  for (const { left } of notes) for (const field of left) leftOut.set(field, (leftOut.get(field) ?? 0) + 1)
  const said = notes.filter(({ message }) => message !== '')
  for (const { place, outcome, message } of said.slice(0, shown)) printError(`${place}: ${outcome}. ${message}`)
  if (said.length > shown) printError('There are more: --report writes all of them to a file.')
  for (const [field, n] of leftOut) printError(`Left out of ${n} links or more, which have no such field: ${field}.`)
}

const writeReport = async ({ download }: ApiClient, id: string, path: string) => {
  const body = await download(`/api/import/${id}/report`)
  await pipeline(Readable.fromWeb(body as ReadableStream), createWriteStream(path)).catch(
    (cause: NodeJS.ErrnoException) => {
      throw new OperatorError(`--report: ${path} cannot be written (${cause.code})`, { cause })
    },
  )
}

const bringIn = async (cli: Cli, client: ApiClient, format: string, source: string, options: ImportOptions) => {
  const { dryRun, onConflict, domain, column, timezone, report } = options
  const file = isAddress(source) ? undefined : await fileOr(cli.input ?? process.stdin, source)
  const body: Body = file ? () => createReadStream(file.path) : await fromApi(cli, format, source, timezone)
  const query = new URLSearchParams({
    ...{ format: file ? format : 'records', dryRun: String(dryRun === true), conflict: onConflict, timezone },
    ...{ domain: domain.join(','), columns: column.join(','), name: file ? basename(file.name) : source },
  })
  try {
    const { id } = (await client.send(`/api/import?${query.toString()}`, body)) as { readonly id: string }
    const details = await follow(client, id, cli)
    printNotes(details, cli.printError)
    if (report !== undefined) await writeReport(client, id, report)
    const { created, existing, renamed, conflicts, skipped, failed, problem } = details
    cli.print(
      `${dryRun ? 'Would create' : 'Created'} ${created}, renamed ${renamed}, there already ${existing}, skipped ${conflicts + skipped}, failed ${failed}.`,
    )
    if (problem) stop(`${problem.message} What is created so far stays; the same command goes on.`)
    if (!dryRun) cli.print(`To take it back: linkledger import undo ${id}`)
    // scripts see by the exit status that something has to be looked at
    if (failed > 0) stop(`Of the links, ${failed} failed: --report names all of them.`)
  } catch (error) {
    if (error instanceof UnreadableSource) stop(sentenceOf(error.problem, source))
    throw error
  } finally {
    await file?.close()
  }
}

const undo = async (cli: Cli, client: ApiClient, id: string, { force }: ImportOptions) => {
  await client.ask('DELETE', `/api/import/${encodeURIComponent(id)}/delete?force=${force === true}`)
  const { kept, problem } = await follow(client, id, cli)
  if (problem) stop(problem.message)
  cli.print('The import is taken back.')
  if (kept > 0)
    cli.print(`${kept} of its links stay, because they were changed or visited since: --force deletes them.`)
}

const moveIn = async (cli: Cli, format: string, source: string, options: ImportOptions): Promise<void> => {
  const { variables } = cli
  if (format !== 'undo' && format !== 'auto' && !(formats as readonly string[]).includes(format))
    throw new BadCommand(`the format must be one of auto, ${formats.join(', ')}`)
  const address = (options.to ?? `http://localhost:${readConfig(variables).PORT}`).replace(/\/$/, '')
  const key = variables['LINKLEDGER_KEY'] ?? (await readHiddenLine(cli, 'API key of the account (it is not shown):'))
  if (key === '') throw new BadCommand('an API key of the account is needed: set LINKLEDGER_KEY')
  const client = openApiClient(address, key)
  await (format === 'undo' ? undo(cli, client, source, options) : bringIn(cli, client, format, source, options))
}
