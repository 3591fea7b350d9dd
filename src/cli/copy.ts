import type { Command } from 'commander'
import { recordOperation } from '../app/operator/caller.ts'
import { withSecret } from '../app/log/secret.ts'
import { ForeignKeys, requireFittingKeys } from '../app/log/servicekey.ts'
import { type Config, readConfig } from '../config.ts'
import { eventStoreProblem, prefixProblem } from '../app/settings/storage.ts'
import type { EventStore } from '../events/store.ts'
import type { Database } from '../postgres/database.ts'
import { copyImages } from '../postgres/images.ts'
import { partsOf } from '../postgres/reach.ts'
import { beginRestore, copyPlaces, copyState, finishRestore, refuseUnfinishedRestore } from '../postgres/state.ts'
import { openKeyring, openKeys } from '../security/keyring.ts'
import { copyLog } from '../store/copy.ts'
import type { Opening } from '../store/open.ts'
import { BadCommand, type Cli } from './cli.ts'
import { databaseOpener, endAt, openGaps, progressBar, withCleanup, withGaps } from './engines.ts'

const places = 'embedded, postgres://user:password@host:5432/database, or esdb://host:2113?tls=false'

interface CopyOptions {
  readonly from: string
  readonly to: string
  readonly fromPrefix?: string
  readonly toPrefix?: string
  readonly withGaps?: boolean
}

/** `linkledger log copy` */
export const addCopyCommand = (log: Command, cli: Cli) =>
  log
    .command('copy')
    .description('copy the event log, with its images, keys and sequences, to another engine, and verify the copy')
    .requiredOption('--from <place>', places)
    .requiredOption('--to <place>', 'the same; it must be empty, or hold a part of this copy')
    .option('--from-prefix <prefix>', 'EVENTSTORE_PREFIX of the log at --from')
    .option('--to-prefix <prefix>', 'EVENTSTORE_PREFIX of the log at --to')
    .option(...withGaps)
    .action((options: CopyOptions) => copy(cli, options))

const copy = (cli: Cli, { from, to, fromPrefix, toPrefix, withGaps: isWithGaps = false }: CopyOptions) => {
  requirePrefix('--from', from, fromPrefix)
  requirePrefix('--to', to, toPrefix)
  const config = readConfig(cli.variables)
  const databases = { from: databaseOf('--from', from, config), to: databaseOf('--to', to, config) }
  return withCleanup(config, async (cleanup) => {
    const open = databaseOpener(config, cleanup)
    const source = endAt(from, fromPrefix, await open(databases.from, '--from'), cleanup)
    const target = endAt(to, toPrefix, await open(databases.to, '--to'), cleanup)
    const isEventStoreDb = to.startsWith('esdb')
    const gaps = openGaps(target.db, isWithGaps, isEventStoreDb)
    await refuseUnfinishedRestore(source.db)
    const original = await source.openStore()
    await requireKeys(original, source.db, config, placeOf(from, databases.from, config))
    // the keys come first here, with which a service would start on a part of the log
    await beginRestore(target.db, original.logId)
    await copyState(source.db, target.db)
    await withSecret(config, 'command', (secret) => openKeys(target.db, secret))
    // before the events that name them
    await copyImages(source.db, target.db)
    const copied = await target.openStore(await openingOf(original))
    const engine = isEventStoreDb ? 'eventstoredb' : 'postgres'
    if (copied.logId === original.logId)
      await recordOperation(original, { type: 'LogCopyStarted', data: { to: engine } }, config)
    const { show, stop } = progressBar()
    const count = await copyLog(original, copied, show, gaps.store).finally(stop)
    if (target.db !== source.db) await copyPlaces(source.db, target.db)
    await finishRestore(target.db)
    const copiedAll = `${count} events, the keys, the sequences and the images are copied and verified.`
    for (const line of [copiedAll, ...gaps.report()]) cli.print(line)
  })
}

/** Throws when a prefix is none, or is not that of an EventStoreDB. */
const requirePrefix = (option: string, place: string, prefix: string | undefined) => {
  if (prefix === undefined) return
  const problem = prefixProblem(prefix)
  if (problem !== undefined) throw new BadCommand(`${option}-prefix ${problem}`)
  if (!place.startsWith('esdb')) throw new BadCommand(`${option}-prefix needs an EventStoreDB as ${option}`)
}

/**
 * Returns which database holds the keys of an end, `embedded` or an address. An EventStoreDB has none, so its keys are
 * in the service's.
 */
const databaseOf = (option: string, place: string, { DATABASE_URL }: Config): string => {
  if (place === 'embedded' || /^postgres(ql)?:\/\//.test(place)) return place
  const problem = eventStoreProblem(place)
  if (problem !== undefined) throw new BadCommand(`${option} ${problem}; or ${places}`)
  return DATABASE_URL ?? 'embedded'
}

/** Returns where the keys of an end are looked for, without a password. */
const placeOf = (place: string, database: string, { DATA_DIR }: Config): string => {
  if (database === 'embedded') return `DATA_DIR (${DATA_DIR})`
  const setting = place === database ? '--from' : 'DATABASE_URL'
  const { host, port, database: name } = partsOf(database, setting)
  return `${setting} (${name} on ${host}:${port})`
}

/**
 * Throws `ForeignKeys` unless the database has the keys of the log, and `WrongSecret` when SECRET does not open them.
 */
const requireKeys = async (log: EventStore, db: Database, config: Config, where: string) => {
  const keyring = await withSecret(config, 'command', (secret) => openKeyring(db, secret))
  await requireFittingKeys(log, keyring).catch((error: unknown) => {
    if (!(error instanceof ForeignKeys)) throw error
    throw new ForeignKeys(`${error.message} The keys were looked for in ${where}.`)
  })
}

const openingOf = async (store: EventStore): Promise<Opening> => {
  const first = await store.last('log')
  if (first?.type !== 'LogOpened') throw new Error('the log has no LogOpened')
  return first
}
