import type { Command } from 'commander'
import { operatorContext } from '../app/operator/caller.ts'
import type { Ledger } from '../app/log/ledger.ts'
import { formerAddresses } from '../cache/formeraddresses.ts'
import { block, type BlockCommand } from '../commands/operator/block.ts'
import { streamOf } from '../commands/decider.ts'
import { listBlocks } from '../queries/operator/block.ts'
import { BadSubject, blockSubjects } from '../queries/operator/subject.ts'
import { BadCommand, type Cli } from './cli.ts'
import { type Confirmation, confirm, requireAnswerable, withConfirmation } from './confirm.ts'
import { withTables } from './ledger.ts'
import { oneLine } from './oneline.ts'

type Word = keyof typeof blockSubjects
interface BlockOptions extends Confirmation {
  readonly reason?: string
}

const subjects: readonly (readonly [word: Word, argument: string, form: string, description: string])[] = [
  ['link', '<link>', 'address or alias, or id:7 (bio:7, campaign:7)', 'a short link, a bio page or a campaign'],
  ['host', '<host>', 'for example evil.example', 'all destinations on a host and on every host below it'],
  ['pattern', '<pattern>', 'host and path with *, for example sites.example/view/evil*', 'destinations by a pattern'],
  ['domain', '<host>', 'for example go.example.com', 'a branded domain, with everything on it'],
]

/** `linkledger block …` and `linkledger unblock …` */
export const addBlockCommands = (program: Command, cli: Cli) => {
  const blocks = program.command('block').description('block links, destinations and branded domains')
  for (const [word, argument, form, description] of subjects)
    withConfirmation(blocks.command(word).description(`block ${description}`).argument(argument, form))
      .option('--reason <text>', 'why; accounts that use a blocked destination read it (required)')
      .action((text: string, options: BlockOptions) => blockSubject(cli, word, text, options))
  blocks
    .command('list')
    .description('list what is blocked, newest first')
    .action(() => list(cli))

  const unblocks = program.command('unblock').description('undo `block`')
  for (const [word, argument, form, description] of subjects)
    withConfirmation(unblocks.command(word).description(`unblock ${description}`).argument(argument, form)).action(
      (text: string, options: Confirmation) => unblockSubject(cli, word, text, options),
    )
}

/** Appends, tells the processes of the service, and waits for the tables. */
const change = async (
  { handler, config, notify, instance }: Ledger,
  command: BlockCommand,
  waitUntilProjected: (position: bigint) => Promise<void>,
) => {
  const { position } = await handler.handle(block, command, operatorContext(config, null))
  // the projector may be late: until then the others read the stream
  await notify({ kind: 'pending', from: instance, stream: streamOf(block, command), position })
  await waitUntilProjected(position)
}

const placesOf = ({ reader, config }: Ledger) => ({ reader, baseUrl: config.BASE_URL })

/** Reads what is meant before anything is opened. Throws `BadCommand`. */
const readSubject = (word: Word, text: string) => {
  try {
    return blockSubjects[word](text)
  } catch (error) {
    throw error instanceof BadSubject ? new BadCommand(error.message) : error
  }
}

const blockSubject = (cli: Cli, word: Word, text: string, { reason, ...options }: BlockOptions) => {
  const find = readSubject(word, text)
  const why = oneLine(reason ?? '').trim()
  if (why === '' || why.length > 500)
    throw new BadCommand('--reason must say in at most 500 characters why this is blocked: it is stored in the log')
  requireAnswerable(cli, options)
  return withTables(cli, async (ledger, waitUntilProjected) => {
    const { called, kind, value } = await find(placesOf(ledger), { mustExist: true })
    await confirm(cli, options, `${called} will be blocked. Reason: ${why}`)
    const addresses = await formerAddresses(ledger, { kind, value })
    await change(ledger, { type: 'Block', kind, value, reason: why, addresses }, waitUntilProjected)
    cli.print('Blocked.')
  })
}

const unblockSubject = (cli: Cli, word: Word, text: string, options: Confirmation) => {
  const find = readSubject(word, text)
  requireAnswerable(cli, options)
  return withTables(cli, async (ledger, waitUntilProjected) => {
    const { called, kind, value } = await find(placesOf(ledger), { mustExist: false })
    await confirm(cli, options, `${called} will be unblocked.`)
    await change(ledger, { type: 'Unblock', kind, value }, waitUntilProjected)
    cli.print('Unblocked.')
  })
}

const written = (kind: string, value: string) => {
  if (kind === 'link') return `link id:${value}`
  return kind === 'bio' || kind === 'campaign' ? `link ${kind}:${value}` : `${kind} ${value}`
}

const list = (cli: Cli) =>
  withTables(cli, async ({ reader }) => {
    const found = await listBlocks(reader)
    if (found.length === 0) return cli.print('Nothing is blocked by a command.')
    const line = (since: string, operator: string, what: string, reason: string) =>
      cli.print(`${since.padEnd(16)}  ${operator.padEnd(20)}  ${what.padEnd(40)}  ${reason}`)
    line('since (UTC)', 'operator', 'blocked', 'reason')
    for (const { kind, value, reason, operator, changed } of found) {
      const what = written(kind, value)
      line(changed.toISOString().slice(0, 16).replace('T', ' '), operator, what, reason ?? '')
    }
  })
