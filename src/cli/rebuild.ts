import { SingleBar } from 'cli-progress'
import type { Command } from 'commander'
import type { Ledger } from '../app/ledger.ts'
import { openProjection } from '../app/projector.ts'
import { recordOperation } from '../app/operator.ts'
import { advanceSequence } from '../postgres/ids.ts'
import { projections } from '../projections/index.ts'
import { fill } from '../projections/fill.ts'
import type { Cli } from './cli.ts'
import { withLedger } from './ledger.ts'

/** `linkledger rebuild` */
export const addRebuildCommand = (program: Command, cli: Cli) =>
  program
    .command('rebuild')
    .description('rebuild the read tables from the log, while the service keeps running on the old ones')
    .action(() => rebuild(cli))

const rebuild = (cli: Cli) =>
  withLedger(cli, async (ledger) => {
    const bar = new SingleBar({
      format: '{name} [{bar}] {percentage}% | {value}/{total} | {eta_formatted} left',
      noTTYOutput: false,
    })
    const { db } = openProjection(ledger)
    for (const projection of projections) {
      bar.start(Number(await ledger.store.head(projection.filter)), 0, { name: projection.name.padEnd(10) })
      await fill({ ...ledger, db }, projection, new AbortController().signal, (position, head) => {
        bar.setTotal(Number(head))
        bar.update(Number(position))
      })
      bar.update(bar.getTotal())
      bar.stop()
    }
    await raiseSequences(ledger)
    const names = projections.map(({ name }) => name)
    await recordOperation(ledger.store, { type: 'TablesRebuilt', data: { projections: names } }, ledger.config)
    cli.print('The read tables are rebuilt and in use.')
  })

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
