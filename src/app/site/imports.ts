import { importFolder } from '../../http/imports/file.ts'
import type { ImportOptions, ImportServices } from '../../http/imports/job.ts'
import { isUnavailable } from '../../lib/unavailable.ts'
import { openImports } from '../../postgres/jobs/imports.ts'
import type { Ledger } from '../log/ledger.ts'

/** Opens imports from other services: where their files are, and what works on them in the background. */
export const openImporting = (
  { config, db, instance, log }: Pick<Ledger, 'config' | 'db' | 'instance' | 'log'>,
  caughtUp: () => Promise<unknown>,
  visits: ImportServices['imports']['visits'],
): {
  readonly imports: ImportServices['imports']
  readonly endUploads: () => void
  readonly close: () => Promise<void>
} => {
  const [ended, stopping] = [new AbortController(), new AbortController()]
  const running = new Set<Promise<void>>()
  return {
    imports: {
      files: openImports<ImportOptions>(db, instance),
      folder: importFolder(config.DATA_DIR),
      mib: config.IMPORT_MAX_MB,
      stopping: stopping.signal,
      caughtUp,
      visits,
      work: (job) => {
        const done = job(ended.signal)
          .catch((error: unknown) => {
            if (!ended.signal.aborted && !isUnavailable(error)) log.error({ err: error }, 'an import has failed')
          })
          .finally(() => running.delete(done))
        running.add(done)
      },
    },
    /** Files that still come are refused: a stop does not wait for them. */
    endUploads: () => stopping.abort(),
    /** Stops work. It continues when its owner starts it again. */
    close: async () => {
      ended.abort()
      await Promise.all(running)
    },
  }
}
