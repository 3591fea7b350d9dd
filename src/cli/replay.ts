import { setTimeout as sleep } from 'node:timers/promises'
import { SingleBar } from 'cli-progress'
import type { Command } from 'commander'
import { type Replay, startReplay, type Until } from '../app/replay/replay.ts'
import { momentForms, parseMoment } from '../http/api/past/moment.ts'
import { timestamp } from '../lib/fields.ts'
import { accountForms, accountName } from './account/name.ts'
import { BadCommand, type Cli } from './cli.ts'
import { withLedger } from './ledger.ts'
import { untilStopped } from './untilstopped.ts'

interface Options {
  readonly until: string
  readonly port: string
  readonly account?: string
}

/** `linkledger replay` */
export const addReplayCommand = (program: Command, cli: Cli) =>
  program
    .command('replay')
    .description('serve the whole API as it was at an earlier moment, from tables of its own; nothing can be changed')
    .requiredOption(
      '--until <moment>',
      '"2026-03-01 12:00:00" (UTC), 2026-03-01 (its end), 2026-03-01T12:00:00+01:00, or event:123456',
    )
    .option('--port <port>', 'port to listen on; 0 picks a free one', '4000')
    .option('--account <account>', `print an API key that reads this account in the replay: ${accountForms}`)
    .addHelpText(
      'after',
      '\nIt works next to a running service, and ends with Ctrl-C: its tables are dropped then.' +
        '\nAn API key works if it worked at that moment and still works today.',
    )
    .action((options: Options) => replay(cli, options))

const untilOf = (text: string): Until => {
  const moment = parseMoment(text)
  if (!moment) throw new BadCommand(`--until must be ${momentForms}, not ${JSON.stringify(text)}`)
  return moment.kind === 'time' ? { moment: moment.at } : { event: moment.ordinal }
}

const portOf = (text: string) => {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new BadCommand(`--port must be a number from 0 to 65535, not ${JSON.stringify(text)}`)
}

/** Shows on standard error, if that is a terminal, how many events are replayed, and how fast. */
const progressBar = () => {
  const bar = new SingleBar({
    format: 'replay [{bar}] {percentage}% | {value}/{total} events | {rate} events/s | {eta_formatted} left',
    noTTYOutput: false,
  })
  const began = performance.now()
  const rateAt = (replayed: number) => Math.round(replayed / Math.max(0.001, (performance.now() - began) / 1000))
  bar.start(1, 0, { rate: 0 })
  return {
    show: (replayed: number, all: number) => {
      bar.setTotal(all)
      bar.update(replayed, { rate: rateAt(replayed) })
    },
    stop: () => bar.stop(),
    seconds: () => (performance.now() - began) / 1000,
  }
}

/** Returns what the command prints once it serves. */
export const introduction = (
  { address, moment, event, key }: Pick<Replay, 'address' | 'moment' | 'event' | 'key'>,
  seconds: number,
) => {
  const [events, rate] = [event + 1, Math.round((event + 1) / seconds)].map((n) => n.toLocaleString('en'))
  return [
    `Replayed ${events} events in ${seconds.toFixed(1)} s (${rate} events/s).`,
    `The service as it was at ${timestamp(moment)} UTC (event:${event}) is at ${address}, its API at ${address}/docs.`,
    'Nothing can be changed there, no click is recorded, and nothing is sent.',
    '',
    ...(key === undefined
      ? ['  KEY=…  # an API key of that moment that still works; --account makes one for the replay']
      : [`  KEY=${key}   # works only here, until the replay ends`]),
    `  curl ${address}/api/urls -H "Authorization: Bearer $KEY"`,
    `  curl -i ${address}/ALIAS   # where a short link led; -H 'Host: go.example.com' for one on a branded domain`,
    '',
    'Stop it with Ctrl-C: its tables are dropped.',
  ].join('\n')
}

/** longer than any replay is served; a timer keeps the process running */
const ages = 2 ** 31 - 1

const replay = async (cli: Cli, { until: text, port, account }: Options) => {
  const until = untilOf(text)
  const [wanted, name] = [portOf(port), account === undefined ? undefined : accountName(account)]
  await withLedger(cli, async (ledger) => {
    await untilStopped(async (signal) => {
      const bar = progressBar()
      const served = await startReplay(ledger, {
        until,
        port: wanted,
        account: name,
        onProgress: bar.show,
        onHalted: (projection, reason) => cli.printError(`${projection} has only what comes before: ${reason}`),
        signal,
      }).finally(bar.stop)
      try {
        cli.print(introduction(served, bar.seconds()))
        await sleep(ages, undefined, { signal: AbortSignal.any([signal, served.ended]) }).catch(() => {})
        served.ended.throwIfAborted()
      } finally {
        await served.close()
      }
    })
  })
  cli.print('Stopped. Nothing is left of the replay.')
}
