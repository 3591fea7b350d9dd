import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { startDouble } from '../support/eventstoredb.ts'
import { type Expected, memoryLog, type Proposed } from '../support/eventstoredb/log.ts'

/**
 * `standin.ts <port> <file>`: the stand-in for EventStoreDB as a server of its own, whose log is in a file and so
 * outlives it.
 */
const [port, file] = [Number(process.argv[2]), process.argv[3]!]

interface Line extends Omit<Proposed, 'data' | 'metadata'> {
  readonly stream: string
  readonly data: string
  readonly metadata: string
}

const log = memoryLog()
const restore = ({ stream, data, metadata, ...event }: Line) =>
  log.append(stream, 'any', [
    { ...event, data: Buffer.from(data, 'base64'), metadata: Buffer.from(metadata, 'base64') },
  ])
// a kill can cut off the last line, whose append was never answered
const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
for (const line of lines) restore(JSON.parse(line) as Line)

const append = (stream: string, expected: Expected, events: readonly Proposed[]) => {
  const before = log.all.length
  const outcome = log.append(stream, expected, events)
  const added = log.all.slice(before).map(({ id, type, contentType, data, metadata }) => {
    const line = { stream, id, type, contentType, data: toBase64(data), metadata: toBase64(metadata) } satisfies Line
    return `${JSON.stringify(line)}\n`
  })
  appendFileSync(file, added.join(''))
  return outcome
}
const toBase64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

mkdirSync(dirname(file), { recursive: true })
await startDouble({ log: { ...log, append }, port, host: '0.0.0.0' })
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0))
