import { createInterface } from 'node:readline'
import { lockDataDir } from '../../src/lib/folderlock.ts'
import { startEmbedded } from '../../src/postgres/embedded.ts'

/**
 * Runs the code under test in a separate process: `start-embedded.ts <embedded|datadir|leave> <dir>`. It reports what
 * happens as lines of JSON. A line on its input stops it. With `leave`, nothing stops PostgreSQL.
 */
const [what, dir = ''] = process.argv.slice(2)
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

try {
  const began = performance.now()
  const { connection, stop } =
    what === 'datadir'
      ? { connection: undefined, stop: (await lockDataDir(dir)).release }
      : await startEmbedded({
          dir,
          log: (line) => process.stderr.write(`${line}\n`),
          onCrash: (crash) => say({ crash }),
        })
  say({ started: Math.round(performance.now() - began), connection })
  if (what !== 'leave') {
    createInterface({ input: process.stdin }).on('line', () => {
      process.stdin.destroy()
      const stopping = performance.now()
      void stop().then(() => say({ stopped: Math.round(performance.now() - stopping) }))
    })
  }
} catch (error) {
  say({ refused: error instanceof Error ? error.message : String(error) })
  process.exitCode = 1
}
