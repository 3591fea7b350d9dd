import type { Actor } from '../events/event.ts'
import type { EventStore } from '../events/store.ts'
import type { Keyring } from '../security/seal.ts'
import { entriesIn, reasonToKeepAside } from './aside.ts'
import { type ClassifierOptions, createClassifier } from './classify.ts'
import type { SeqByPartition } from './entry.ts'
import { type ClickRecord, openClickRecord } from './record.ts'
import { type RelayOptions, startRelay } from './relay.ts'
import type { Log } from './report.ts'
import { logSinkOf } from './sink.ts'
import { type EarlierSpool, peekAtSpools } from './spool/earlier.ts'
import { findRoutes, spoolDir } from './spool/folders.ts'
import { OtherPartitions } from './tails.ts'

export interface ImportOptions extends ClassifierOptions {
  readonly store: EventStore
  readonly keyring: Keyring
  readonly log: Log
}

/** A spool in a folder of spools, as a command finds it. */
export interface ListedSpool {
  readonly spool: EarlierSpool
  readonly dir: string
  /** entries in its files that are not recorded, as far as this event log knows */
  readonly waiting: number
  /** why the service does not record it; undefined when it does */
  readonly reason: string | undefined
}

type Reading = Pick<ImportOptions, 'store' | 'log'>

/** Lists the spools below a folder without changing anything, also while a service uses it. */
export const listSpools = async ({ store, log }: Reading, spools: string): Promise<readonly ListedSpool[]> => {
  const listed: ListedSpool[] = []
  for (const route of await findRoutes(spools)) {
    const dir = spoolDir(spools, route)
    for (const spool of await peekAtSpools(dir, log)) {
      const waiting = await countWaiting(openClickRecord({ store, ...spool.route }), spool)
      listed.push({ spool, dir, waiting, reason: reasonToKeepAside(spool, store, route) })
    }
  }
  return listed
}

const countWaiting = async ({ recordedUpTo }: ClickRecord, spool: EarlierSpool): Promise<number> => {
  if (entriesIn(spool) === 0) return 0
  const recorded: SeqByPartition = await recordedUpTo(spool.id).catch((error: unknown) => {
    if (error instanceof OtherPartitions) return {}
    throw error
  })
  const { lastSeq, releasedUpTo } = spool.stats()
  const doneOf = (partition: number) => Math.max(recorded[partition] ?? 0, releasedUpTo[partition] ?? 0)
  return lastSeq.reduce((sum, seq, partition) => sum + Math.max(0, seq - doneOf(partition)), 0)
}

/**
 * Records the clicks in a folder of spools, for example of a machine that is gone. The folder keeps its files; clicks
 * that are already recorded are skipped, so the import can be repeated. Returns how many clicks were new. Rejects with
 * the first problem that keeps clicks from being recorded.
 */
export const importClicks = async (options: ImportOptions, spools: string): Promise<number> => {
  let imported = 0
  for (const route of await findRoutes(spools))
    for (const spool of await peekAtSpools(spoolDir(spools, route), options.log))
      imported += await recordSpool(options, { spool, reason: reasonToKeepAside(spool, options.store, route) })
  return imported
}

/** Records what is new in a spool that no process writes to. Returns how many clicks that were. */
export const recordSpool = async (
  options: ImportOptions,
  { spool, reason }: Pick<ListedSpool, 'spool' | 'reason'>,
): Promise<number> => {
  const { store, keyring } = options
  const record = openClickRecord({ store, ...spool.route })
  const { releasedUpTo, lastSeq } = spool.stats()
  // what was released before is in the other log, and not missing in this one
  if (reason !== undefined) await record.accept(spool.id, releasedUpTo)
  const sink = logSinkOf(spool.route, record)
  let imported = 0
  const deliveredUpTo = await relayAll({
    spool: { ...spool, release: async () => {} },
    sink: {
      ...sink,
      deliver: async (entries) => {
        await sink.deliver(entries)
        imported += Object.values(entries).flat().length
      },
    },
    keyring,
    classify: createClassifier(options),
  })
  await record.retire(spool.id, deliveredUpTo, lastSeq)
  return imported
}

/** Resolves when everything in a spool is delivered, with the last numbers; rejects with the first problem. */
const relayAll = (options: Omit<RelayOptions, 'onProblem'>) =>
  new Promise<Readonly<Record<number, number>>>((resolve, reject) => {
    const relay = startRelay({
      ...options,
      onProblem: (error) => {
        reject(error)
        void relay.stop()
      },
    })
    void relay.ended.then(() => resolve(relay.state().deliveredUpTo))
  })

/**
 * Deletes the files of a spool that is kept aside, and records how many of its clicks are never counted. Returns that
 * number.
 */
export const dropSpool = async (
  { store }: Reading,
  { spool }: Pick<ListedSpool, 'spool'>,
  actor: Actor,
): Promise<number> => {
  const { releasedUpTo, lastSeq } = spool.stats()
  const dropped = await openClickRecord({ store, ...spool.route }).drop(spool.id, releasedUpTo, lastSeq, actor)
  await spool.remove()
  return dropped
}
