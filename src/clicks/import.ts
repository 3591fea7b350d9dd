import type { EventStore } from '../events/store.ts'
import type { Keyring } from '../security/seal.ts'
import { type ClassifierOptions, createClassifier } from './classify.ts'
import { openLeftover } from './leftover.ts'
import type { Log } from './report.ts'
import { type RelayOptions, startRelay } from './relay.ts'
import { findRoutes } from './spool/folders.ts'

export interface ImportOptions extends ClassifierOptions {
  readonly store: EventStore
  readonly keyring: Keyring
  readonly log: Log
}

/**
 * Records the clicks in a folder of spools, for example of a machine that is gone. The folder keeps its files; clicks that are
 * already recorded are skipped, so the import can be repeated. Returns how many clicks were new. Rejects with the first problem
 * that keeps clicks from being recorded.
 */
export const importClicks = async (options: ImportOptions, spools: string): Promise<number> => {
  const { store, keyring, log } = options
  const classify = createClassifier(options)
  let imported = 0
  for (const route of await findRoutes(spools)) {
    const { spool, sink } = await openLeftover({ store, log, spools, route })
    await relayAll({
      spool: { ...spool, release: async () => {} },
      sink: {
        ...sink,
        deliver: async (entries) => {
          await sink.deliver(entries)
          imported += Object.values(entries).flat().length
        },
      },
      keyring,
      classify,
    })
  }
  return imported
}

/** Resolves when everything in a closed spool is delivered; rejects with the first problem. */
const relayAll = (options: Omit<RelayOptions, 'onProblem'>) =>
  new Promise<void>((resolve, reject) => {
    const relay = startRelay({
      ...options,
      onProblem: (error) => {
        reject(error)
        void relay.stop()
      },
    })
    void relay.ended.then(resolve)
  })
