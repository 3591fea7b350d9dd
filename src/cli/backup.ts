import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { collectState, imagesIn, type Restored, stateEntries } from '../app/log/backup.ts'
import { openCounter } from '../app/proof/counter.ts'
import { registerErasures } from '../app/log/erasures.ts'
import { openLedger } from '../app/log/ledger.ts'
import { loadSecret, withSecret } from '../app/log/secret.ts'
import { requireFittingKeys } from '../app/log/servicekey.ts'
import { type Config, readConfig } from '../config.ts'
import { resourceKinds } from '../events/kinds.ts'
import type { EventStore } from '../events/store.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import type { ReadableFile } from '../lib/streamfile.ts'
import { createLogger } from '../logger.ts'
import type { Database } from '../postgres/database.ts'
import { lostIds } from '../postgres/ids.ts'
import { writeImages } from '../postgres/images.ts'
import { beginRestore, finishRestore, refuseOtherState, writeState } from '../postgres/state.ts'
import { appendErasures, type Erasure, readNamedErasures } from '../security/erasures.ts'
import { openKeyring } from '../security/keyring.ts'
import { isWrappedUnder, WrongSecret } from '../security/wrapping.ts'
import { type Archive, eventEntries, headerEntry, sourceIn, WrongArchive } from '../store/archive.ts'
import { copyEvents, sourceOf } from '../store/copy.ts'
import { BadCommand, type Cli } from './cli.ts'
import { openGaps, openSource, openTarget, progressBar, refuseGaps, withCleanup, withGaps } from './engines.ts'
import { checkWithBar, fileToRead, fileToWrite, printerFor, withArchive, writeArchive } from './export.ts'
import { version } from '../lib/version.ts'

interface RestoreOptions {
  readonly erasures?: string
  readonly withGaps?: boolean
}

/** `linkledger backup` and `linkledger restore` */
export const addBackupCommands = (program: Command, cli: Cli) => {
  program
    .command('backup')
    .description('write the log, the keys, the sequences and the images to a file, while the service runs')
    .argument('<file>', fileToWrite)
    .action((file: string) => backup(cli, file))
  program
    .command('restore')
    .description('read a backup into an empty DATA_DIR or database; run again after an interruption, it continues')
    .argument('<file>', fileToRead.replace('%', 'linkledger backup'))
    .option('--erasures <file>', 'the newest register of erased accounts: DATA_DIR/erasures of the old installation')
    .option(...withGaps)
    .action((file: string, options: RestoreOptions) => restore(cli, file, options))
}

const secretOf = ({ DATA_DIR, SECRET }: Config) =>
  SECRET === undefined ? join(DATA_DIR, 'secret') : 'the value of SECRET'

const backup = (cli: Cli, file: string) => {
  const config = readConfig(cli.variables)
  return withCleanup(config, async (cleanup) => {
    const { db, store } = await openSource(config, cleanup)
    cli.yieldCpu?.()
    // a backup that this secret does not open would be found out when it is needed
    const keyring = await withSecret(config, 'command', (secret) => openKeyring(db, secret))
    await requireFittingKeys(store, keyring)
    const { show, stop } = progressBar()
    const created = new Date().toISOString()
    let count = 0
    const entries = async function* () {
      yield [headerEntry({ kind: 'backup', log: store.logId, created, release: version() })]
      for await (const events of eventEntries(await sourceOf(store), (progress) => show('saved', progress))) {
        count += events.length
        yield events
      }
      yield* stateEntries(db, config.DATA_DIR)
    }
    await writeArchive(cli, file, entries()).finally(stop)
    const print = printerFor(cli, file)
    print(`${count} events, the keys, the sequences and the images are saved.`)
    print(`The backup can be used only with ${secretOf(config)}: keep that, too, in another place.`)
    await refuseGaps(config, db, 'backup')
  })
}

const restore = (cli: Cli, name: string, options: RestoreOptions) => {
  const { erasures: register, withGaps: isWithGaps = false } = options
  const config = readConfig(cli.variables)
  if (register !== undefined && !existsSync(register)) throw new BadCommand(`there is no file ${register}`)
  return withArchive(cli, name, async (file) => {
    const { add, restored } = collectState(file)
    const archive = await checkWithBar(file, add)
    if (archive.header.kind !== 'backup')
      throw new WrongArchive(`${file.name} has only a log: import it with \`linkledger log import\``)
    const state = restored()
    requireSecret(config, state)
    const erasures = register === undefined ? [] : await readNamedErasures(register)
    const { count, gaps } = await fill(config, file, { archive, state, erasures, isWithGaps })
    const erased = await openRestored(config)
    cli.print(`${count} events, the keys, the sequences and the images are restored and verified.`)
    for (const line of gaps) cli.print(line)
    if (register !== undefined && erasures.length === 0) cli.print(`${register} is empty: it names no erased account.`)
    cli.print(`Accounts in it that are erased: ${erased}. The service fills its read tables when it starts.`)
  })
}

/** Throws before anything is stored. */
const requireSecret = (config: Config, { keys }: Restored) => {
  const { DATA_DIR, SECRET } = config
  const file = join(DATA_DIR, 'secret')
  if (SECRET === undefined && !existsSync(file))
    throw new OperatorError(`there is no ${file}: put the secret of the backup there, or set SECRET to it`)
  const secret = loadSecret(config, 'command')
  const service = keys.find((key) => key.name === 'service')
  if (service && !isWrappedUnder(secret, service))
    throw new WrongSecret(
      `${secretOf(config)} does not open the keys of this backup: use the secret of the time when it was made`,
    )
}

interface Contents {
  readonly archive: Archive
  readonly state: Restored
  /** of a newer register than the one in the backup */
  readonly erasures: readonly Erasure[]
  readonly isWithGaps: boolean
}

/**
 * Fills the log and the state. The keys come last: without them the service refuses a log, so that it never starts on a
 * part of one. Returns the number of events, and lines that say where some are missing.
 */
const fill = (config: Config, file: ReadableFile, { archive, state, erasures, isWithGaps }: Contents) =>
  withCleanup(config, async (cleanup) => {
    const { db, openStore } = await openTarget(config, cleanup)
    const gaps = openGaps(db, isWithGaps, config.EVENTSTORE_URL !== undefined)
    await refuseOtherState(db, state)
    const notBegun = await beginRestore(db, archive.header.log)
    const store = await openStore(archive.opening).catch(async (error: unknown) => {
      await notBegun()
      throw error
    })
    const { show, stop } = progressBar()
    const count = await copyEvents(sourceIn(file, archive), store, show, gaps.store).finally(stop)
    for await (const images of imagesIn(file)) await writeImages(db, images)
    await noteErasures(config, store, [...state.erasures, ...erasures], state)
    // of another log, or of more of this one; the service fills new tables
    await db.raw('drop schema if exists read cascade')
    // a checkpoint may have been signed while the backup was written
    const checkpoints = state.checkpoints.filter(({ size }) => size <= count)
    // a webhook may have come further than the log that was read before
    const webhooks = state.webhooks.map((one) => ({
      ...one,
      ...(one.next > count ? { next: count, part: 0 } : {}),
      ...((one.back ?? 0) > count ? { back: count, back_part: 0 } : {}),
    }))
    // what was created after the backup is lost, and its ids are not given again
    const sequences = resourceKinds.map((kind) => ({
      kind,
      last: (state.sequences.find((one) => one.kind === kind)?.last ?? 0) + lostIds,
    }))
    await writeState(db, { ...state, checkpoints, webhooks, sequences })
    await finishRestore(db)
    return { count, gaps: gaps.report() }
  })

/**
 * Notes all erasures in DATA_DIR, also those that came after the log was read: their keys are destroyed in the state.
 */
const noteErasures = async (
  config: Config,
  store: EventStore,
  erasures: readonly Erasure[],
  { destroyed }: Restored,
) => {
  await appendErasures(config.DATA_DIR, erasures)
  const accounts = destroyed.flatMap(({ name }) => /^account-(\d+)$/.exec(name)?.[1] ?? [])
  await registerErasures({ config, store }, accounts.map(Number))
}

/**
 * Opens what was restored as every command does, which compares keys and log and applies the register. Returns the
 * number of erased accounts.
 */
const openRestored = async (config: Config): Promise<number> => {
  const ledger = await openLedger(config, createLogger({ LOG_LEVEL: 'error' }), 'command')
  try {
    await (await openCounter(ledger)).noteRestored(ledger.db)
    return await countDestroyed(ledger.db)
  } finally {
    await ledger.close()
  }
}

const countDestroyed = async (db: Database) => {
  const { rows } = await db.raw<{ rows: { count: string }[] }>('select count(*) from state.destroyed_keys')
  return Number(rows[0]?.count ?? 0)
}
