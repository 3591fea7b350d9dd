import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { readConfig } from '../config.ts'
import { readFile } from '../imports/formats/read.ts'
import { type Format, formats, UnreadableSource } from '../imports/records.ts'
import { type Answer, type Outcome, type Reported, uploadRecords, UploadStopped } from '../imports/upload.ts'
import { csvLine } from '../lib/csv.ts'
import { OperatorError, stop } from '../lib/operatorerror.ts'
import { sentenceOf } from '../lib/problems/problem.ts'
import { readBytes, standard } from '../lib/streamfile.ts'
import { BadCommand, type Cli } from './cli.ts'
import { readHiddenLine } from './hiddenline.ts'

interface ImportOptions {
  readonly to?: string
  readonly timezone: string
  readonly onConflict: 'skip' | 'rename' | 'fail'
  readonly domain: readonly string[]
  readonly report?: string
  readonly dryRun?: true
}

/** times that a request is sent while the service is busy or away */
const tries = 10
/** s to wait for the next one, where the answer does not say */
const pause = 5
/** lines of the report that are printed */
const shown = 20

const collect = (value: string, before: readonly string[]) => [...before, value]

/** `linkledger import` */
export const addMoveInCommand = (program: Command, cli: Cli) =>
  program
    .command('import')
    .description('create the links of another service; LINKLEDGER_KEY is an API key of the account')
    .argument('<format>', `what the file is: auto, ${formats.join(', ')}`)
    .argument('<file>', 'an export of the other service: CSV, JSON, SQL or HTML, also .gz; - is standard input')
    .option('--dry-run', 'only say what would become of each link')
    .option('--to <address>', 'the address of the service; by default the one on this machine')
    .option('--domain <theirs=ours>', 'the branded domain here for a host there; may be repeated', collect, [])
    .option('--timezone <zone>', 'the zone of times that have none', 'UTC')
    .option('--report <file>', 'write what became of each link to a CSV file')
    .addOption(
      new Option('--on-conflict <way>', 'what to do when an alias is taken or not possible here')
        .choices(['skip', 'rename', 'fail'])
        .default('skip'),
    )
    .action((format: string, file: string, options: ImportOptions) => moveIn(cli, format, file, options))

const formatOf = (name: string): Format | 'auto' => {
  const known = (['auto', ...formats] as const).find((one) => one === name)
  if (known) return known
  throw new BadCommand(`the format must be one of auto, ${formats.join(', ')}`)
}

const domainsOf = (pairs: readonly string[]) =>
  new Map(
    pairs.map((pair) => {
      const [theirs = '', ours, ...more] = pair.split('=')
      if (theirs === '' || ours === undefined || more.length > 0)
        throw new BadCommand('--domain must be such as bit.ly=go.example.com')
      return [theirs.toLowerCase(), ours] as const
    }),
  )

/** Returns what sends requests with a key, and waits while the service is busy. */
const asking =
  (address: string, key: string) =>
  async (method: string, path: string, body?: object, idempotency?: string): Promise<Answer> => {
    for (let n = 1; ; n++) {
      // the service makes no request of its own: this one is a client of it
      // oxlint-disable-next-line no-restricted-globals
      const answer = await fetch(address + path, {
        method,
        headers: {
          Authorization: `Bearer ${key}`,
          ...(body && { 'Content-Type': 'application/json' }),
          ...(idempotency !== undefined && { 'Idempotency-Key': idempotency }),
        },
        ...(body && { body: JSON.stringify(body) }),
      }).catch((cause: unknown) => {
        if (n === tries) throw new OperatorError(`${address} cannot be reached: name the service with --to`, { cause })
      })
      const isPassing = answer === undefined || [409, 429, 503].includes(answer.status)
      if (!isPassing || n >= tries)
        return { status: answer?.status ?? 503, json: (await answer?.json()) as Answer['json'] }
      await answer?.body?.cancel()
      await sleep(1000 * Number(answer?.headers.get('Retry-After') ?? pause))
    }
  }

const openReport = async (path: string) => {
  const file = await open(path, 'w').catch((cause: NodeJS.ErrnoException) => {
    throw new OperatorError(`--report: ${path} cannot be written (${cause.code})`, { cause })
  })
  return file.createWriteStream()
}

const placeOf = ({ place }: Reported) => ('line' in place ? `line ${place.line}` : place.id)

const moveIn = async (cli: Cli, format: string, name: string, options: ImportOptions): Promise<void> => {
  const { variables, print, printError } = cli
  const [known, domains] = [formatOf(format), domainsOf(options.domain)]
  const address = (options.to ?? `http://localhost:${readConfig(variables).PORT}`).replace(/\/$/, '')
  const key = variables['LINKLEDGER_KEY'] ?? (await readHiddenLine(cli, 'API key of the account (it is not shown):'))
  if (key === '') throw new BadCommand('an API key of the account is needed: set LINKLEDGER_KEY')
  const counts: Record<Outcome, number> = { created: 0, kept: 0, renamed: 0, skipped: 0, failed: 0 }
  const file = options.report === undefined ? undefined : await openReport(options.report)
  const write = (cells: readonly string[]) => file?.write(`${csvLine(cells)}\r\n`)
  write(['place', 'alias', 'url', 'outcome', 'message', 'left out'])
  const leftOut = new Map<string, number>()
  let printed = 0
  const report = (line: Reported) => {
    const { alias = '', left = [], message, outcome, url = '' } = line
    for (const field of left) leftOut.set(field, (leftOut.get(field) ?? 0) + 1)
    if (outcome !== 'noted') counts[outcome]++
    write([placeOf(line), alias, url, outcome, message, left.join(' ')])
    if (message === '' || ++printed > shown + 1) return
    printError(
      printed <= shown ? `${placeOf(line)}: ${outcome}. ${message}` : 'Further lines are in the file of --report.',
    )
  }
  const bytes = name === standard ? ((cli.input ?? process.stdin) as AsyncIterable<Uint8Array>) : readBytes(name)
  try {
    await uploadRecords(readFile(known, bytes, { timezone: options.timezone }), {
      ask: asking(address, key),
      source: known === 'auto' ? 'import' : known,
      dryRun: options.dryRun === true,
      onConflict: options.onConflict,
      domains,
      report,
    })
  } catch (error) {
    if (error instanceof UnreadableSource) stop(sentenceOf(error.problem, name))
    if (error instanceof UploadStopped) stop(`${error.message} What is created so far stays; the same command goes on.`)
    throw error
  } finally {
    await new Promise<void>((done) => (file === undefined ? done() : file.end(done)))
    const { created, kept, renamed, skipped, failed } = counts
    for (const [field, n] of leftOut) printError(`Left out of ${n} links, which have no such field here: ${field}.`)
    print(
      `${options.dryRun ? 'Would create' : 'Created'} ${created}, renamed ${renamed}, there already ${kept}, skipped ${skipped}, failed ${failed}.`,
    )
  }
}
