import { createInterface } from 'node:readline'
import { lockDataDir } from '../../src/lib/folderlock.ts'
import { startEmbedded } from '../../src/postgres/embedded.ts'

/**
 * A process of its own around the code under test: `start-embedded.ts <embedded|datadir|leave> <dir>`. It says in lines of JSON what happens;
 * `stop` on its input stops it, and `leave` does not stop it at all.
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
      const asked = performance.now()
      void stop().then(() => say({ stopped: Math.round(performance.now() - asked) }))
    })
  }
} catch (error) {
  say({ refused: error instanceof Error ? error.message : String(error) })
  process.exitCode = 1
}
