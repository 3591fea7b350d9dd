import { SingleBar } from 'cli-progress'
import type { Command } from 'commander'
import type { Ledger } from '../app/log/ledger.ts'
import { openProjection } from '../app/log/projector.ts'
import { requireAccountKeys } from '../app/log/lostkeys.ts'
import { recordOperation } from '../app/operator/caller.ts'
import { readersOfOldTables } from '../app/dataposition.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import { advanceSequence } from '../postgres/ids.ts'
import { fill } from '../projections/engine/fill.ts'
import { dropTree } from '../projections/proof/tree.ts'
import { noteAgain } from '../store/postgres/reclassified.ts'
import type { Cli } from './cli.ts'
import { withLedger } from './ledger.ts'

/** `linkledger rebuild` */
export const addRebuildCommand = (program: Command, cli: Cli) =>
  program
    .command('rebuild')
    .description('rebuild the read tables from the log, while the service keeps running on the old ones')
    .option('--new-log', 'begin a new log if the event store is empty, and give up the links of the log before')
    .option('--lost-keys', 'rebuild without the texts of accounts whose keys are missing: they are gone then')
    .action(({ newLog = false, lostKeys = false }: { readonly newLog?: boolean; readonly lostKeys?: boolean }) =>
      withLedger(
        cli,
        async (ledger) => {
          if (!lostKeys) await requireAccountKeys(ledger.reader, ledger.store)
          await rebuild(cli, ledger)
        },
        { acceptsEmptyLog: newLog },
      ),
    )

/** Some tables stayed as they were, because an event cannot be applied to the new ones. */
class NotRebuilt extends OperatorError {
  override readonly name = 'NotRebuilt'
  constructor(halted: ReadonlyMap<string, string>) {
    const lines = [...halted].map(([projection, reason]) => `${projection}: ${reason}`)
    super(['these tables are not rebuilt, all others are; see `linkledger projections`', ...lines].join('\n'))
  }
}

/** The tables are rebuilt, but a process goes on without them. */
class NotInUse extends OperatorError {
  override readonly name = 'NotInUse'
  constructor(processes: readonly string[]) {
    super(['the read tables are rebuilt, but these processes do not use them: restart them', ...processes].join('\n'))
  }
}

const rebuild = async (cli: Cli, ledger: Ledger) => {
  const bar = new SingleBar({
    format: '{name} [{bar}] {percentage}% | {value}/{total} | {eta_formatted} left',
    noTTYOutput: false,
  })
  const { db } = openProjection(ledger)
  const { projections } = ledger
  const halted = new Map<string, string>()
  if (ledger.config.EVENTSTORE_URL === undefined) await noteAgain(db)
  for (const filter of ['domain', 'clicks'] as const) {
    bar.start(Number(await ledger.store.head(filter)), 0, { name: filter.padEnd(6) })
    const own = projections.filter((projection) => projection.filter === filter)
    await fill({ ...ledger, db }, own, new AbortController().signal, {
      onProgress: (position, head) => {
        bar.setTotal(Number(head))
        bar.update(Number(position))
      },
      onHalted: ({ projection }, { message }) => void halted.set(projection.name, message),
    })
    bar.update(bar.getTotal())
    bar.stop()
  }
  await raiseSequences(ledger)
  // it grows again from the log, and is compared with the signed checkpoints
  await dropTree(ledger.db)
  const names = projections.map(({ name }) => name).filter((name) => !halted.has(name))
  await recordOperation(ledger.store, { type: 'TablesRebuilt', data: { projections: names } }, ledger.config)
  if (halted.size > 0) throw new NotRebuilt(halted)
  const others = await readersOfOldTables(ledger)
  if (others.length > 0) throw new NotInUse(others)
  cli.print('The read tables are rebuilt and in use.')
}

/** Raises the sequences to the highest ids in the log. */
const raiseSequences = async ({ db, tables }: Ledger) => {
  await tables.refresh()
  for (const [kind, table] of [
    ['account', 'accounts'],
    ['link', 'links'],
  ] as const) {
    const { rows } = await db.raw<{ rows: { max: string | null }[] }>(`select max(id) from ${tables.name(table)}`)
    if (rows[0]?.max) await advanceSequence(db, kind, Number(rows[0].max))
  }
}
