import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Ledger } from '../app/log/ledger.ts'
import { recordOperation } from '../app/operator/caller.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import { type Halt, haltsOf, loadHalts } from '../projections/engine/halts.ts'
import { projectionsWith } from '../projections/index.ts'
import { loadLive } from '../projections/engine/members.ts'
import { loadParked, projectionStream } from '../projections/engine/parked.ts'
import type { Projection } from '../projections/engine/projection.ts'
import { BadCommand, type Cli } from './cli.ts'
import { withLedger, withTables } from './ledger.ts'

interface ParkOptions {
  readonly reason?: string
}

/** ms to wait for the outcome of a retry, and between two looks at it */
const [timeoutMs, interval] = [10_000, 100]

/** Projections are still halted after a retry. */
class StillHalted extends OperatorError {
  override readonly name = 'StillHalted'
}

const projections = projectionsWith({ withPast: true })

/** `linkledger projections …` */
export const addProjectionCommands = (program: Command, cli: Cli) => {
  const group = program
    .command('projections')
    .description('inspect the read tables, and decide about events that cannot be applied to them')
  group
    .command('list')
    .description('list all projections, how far each is, and which are halted')
    .action(() => list(cli))
  group
    .command('inspect')
    .description('show why a projection is halted, and which events are parked')
    .argument('<projection>', 'name, as `projections list` prints it')
    .action((name: string) => inspect(cli, name))
  group
    .command('retry')
    .description('try halted projections again now; they are also tried again by themselves')
    .argument('[projection]', 'name of one of them; all when not given')
    .action((name?: string) => retry(cli, name))
  group
    .command('park')
    .description('skip the event at which a projection is halted, for good: every rebuild skips it, too')
    .argument('<projection>', 'name, as `projections list` prints it')
    .option('--reason <text>', 'why; it is stored in the log (required)')
    .action((name: string, options: ParkOptions) => park(cli, name, options))
}

const named = (name: string): Projection => {
  const found = projections.find((one) => one.name === name)
  if (!found)
    throw new BadCommand(`there is no projection ${name}; use one of ${projections.map((one) => one.name).join(', ')}`)
  return found
}

const eventOf = ({ position, type, stream, revision }: Halt) =>
  type === null ? `position ${position}` : `event ${position} (${type}, ${stream}@${revision})`

const stateOf = (position: bigint | undefined, halt: Halt | undefined) => {
  if (!halt) return position === undefined ? 'being filled' : 'running'
  return position !== undefined && position >= BigInt(halt.position) && halt.type !== null
    ? 'catching up'
    : `halted at ${eventOf(halt)}`
}

/** Returns how far each projection is. */
const look = async ({ db, store }: Ledger, of: readonly Projection[]) => {
  const live = await loadLive(db, of)
  const halts = haltsOf(await loadHalts(db), of)
  const heads = new Map<string, bigint>()
  for (const { filter } of of) if (!heads.has(filter)) heads.set(filter, await store.head(filter))
  return of.map((projection) => {
    const checkpoint = live.find((one) => one.projection === projection)?.checkpoint
    const halt = halts.find((one) => one.projection === projection.name)
    const position = checkpoint && BigInt(checkpoint.position)
    const state = stateOf(position, halt)
    return { projection, position, halt, state, head: heads.get(projection.filter) ?? 0n }
  })
}

const list = (cli: Cli) =>
  withLedger(cli, async (ledger) => {
    const line = (name: string, position: string, head: string, state: string) =>
      `${name.padEnd(10)}  ${position.padStart(12)}  ${head.padStart(12)}  ${state}`
    cli.print(line('projection', 'position', 'of', 'state'))
    for (const { projection, position, head, state } of await look(ledger, ledger.projections))
      cli.print(line(projection.name, position?.toString() ?? '-', head.toString(), state))
  })

const inspect = (cli: Cli, name: string) =>
  withLedger(cli, async (ledger) => {
    const projection = named(name)
    const [found] = await look(ledger, [projection])
    const print = (label: string, text: string) => cli.print(`${label.padEnd(10)}  ${text}`)
    print('projection', `${projection.name}, version ${projection.version}`)
    print('position', `${found?.position ?? '-'} of ${found?.head}`)
    print('state', found?.state ?? '')
    if (found?.halt) {
      print('reason', found.halt.reason)
      print('since', `${found.halt.since.toISOString()}, ${found.halt.attempts} attempts`)
    }
    for await (const { type, data, metadata } of ledger.store.read(projectionStream(name)))
      if (type === 'EventParked')
        print('parked', `${data.type}, ${data.stream}@${data.revision}, at ${metadata.at}: ${data.reason}`)
  })

/** Tries projections again and waits until each runs, or `isOver` holds of its halt. Returns the halts that remain. */
const retryUntil = async (
  { db }: Ledger,
  tried: readonly Halt[],
  again: () => Promise<unknown>,
  isOver: (now: Halt, before: Halt) => boolean,
): Promise<readonly Halt[]> => {
  const remaining = async () => {
    const now = await loadHalts(db)
    return tried.flatMap((before) => {
      const halt = now.find(({ projection, version }) => projection === before.projection && version === before.version)
      return halt ? [{ halt, over: isOver(halt, before) }] : []
    })
  }
  await again()
  const end = performance.now() + timeoutMs
  let left = await remaining()
  while (left.some(({ over }) => !over) && performance.now() < end) {
    await sleep(interval)
    left = await remaining()
  }
  return left.map(({ halt }) => halt)
}

const retry = (cli: Cli, name: string | undefined) => {
  const wanted = name === undefined ? projections : [named(name)]
  return withTables(cli, async (ledger, _, again) => {
    const halts = haltsOf(await loadHalts(ledger.db), wanted)
    if (halts.length === 0) return cli.print(`${name ?? 'No projection'} is ${name ? 'not ' : ''}halted.`)
    const left = await retryUntil(ledger, halts, again, (now, before) => now.attempts > before.attempts)
    const still = new Set(left.map(({ projection }) => projection))
    for (const { projection } of halts) if (!still.has(projection)) cli.print(`${projection} runs again.`)
    if (left.length > 0)
      throw new StillHalted(left.map(({ projection, reason }) => `${projection} is still halted: ${reason}`).join('\n'))
  })
}

const park = (cli: Cli, name: string, { reason }: ParkOptions) => {
  const projection = named(name)
  if (!reason?.trim()) throw new BadCommand('--reason must say why the event is skipped: it is stored in the log')
  return withTables(cli, async (ledger, _, again) => {
    const { store, config, db } = ledger
    const [halt] = haltsOf(await loadHalts(db), [projection])
    if (!halt) throw new OperatorError(`${name} is not halted, so there is no event to park`)
    const { event_id: event, type, stream, revision } = halt
    if (event === null || type === null || stream === null)
      throw new OperatorError(`${name} is not halted by an event: ${halt.reason}`)
    if (!(await loadParked(store, name)).has(event)) {
      const data = { projection: name, event, type, stream, revision: Number(revision), reason: reason.trim() }
      await recordOperation(store, { type: 'EventParked', data }, config, projectionStream(name))
    }
    const [left] = await retryUntil(ledger, [halt], again, (now) => now.event_id !== event)
    cli.print(`${name} skips ${eventOf(halt)} from now on.`)
    if (!left) return cli.print(`${name} runs again.`)
    if (left.event_id === event) return cli.print(`${name} is catching up: see \`linkledger projections list\`.`)
    throw new StillHalted(`${name} is halted again: ${left.reason}`)
  })
}
