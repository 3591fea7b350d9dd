import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** The ports of this process: mocha's workers have numbers, and so have three runs at a time of `.ci/run`. */
const [worker, lane] = [process.env['MOCHA_WORKER_ID'], process.env['TEST_LANE']].map((n) => Number(n ?? 0)) as [
  number,
  number,
]
const count = 1800
const first = 10_000 + count * (3 * (worker % 4) + (lane % 3))
const given = new Set<number>()

const isFree = async (port: number) => {
  const server = createServer().listen(port)
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}

/**
 * Returns a free port of this machine which a server can leave and take again. Systems give ports from 32768 on to
 * everyone who wants any, so such a port may have another owner a moment later.
 */
export const ownPort = async (): Promise<number> => {
  for (;;) {
    const port = first + randomInt(count)
    if (given.has(port)) continue
    given.add(port)
    if (await isFree(port)) return port
  }
}
