import { randomUUID } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import type { Context } from '../../commands/context.ts'
import type { Config } from '../../config.ts'
import { type Actor, systemMetadata } from '../../events/event.ts'
import type { Event } from '../../events/index.ts'
import type { EventStore, ExpectedRevision } from '../../events/store.ts'
import { streamId } from '../../events/streams.ts'

const operations = streamId('log', 'operations')
const attempts = 50

const user = (): string => {
  try {
    return userInfo().username
  } catch {
    // a container may run under an id without a name
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

/** Returns who runs a command, as the events record it: OPERATOR, or the user and host of the system. */
export const operatorOf = ({ OPERATOR }: Pick<Config, 'OPERATOR'>): Actor => ({
  kind: 'operator',
  name: OPERATOR ?? `${user()}@${hostname()}`,
})

/** Returns the context of a command by the operator. `account` owns what it is about; null when no account does. */
export const operatorContext = (config: Pick<Config, 'OPERATOR'>, account: number | null): Context => ({
  account,
  actor: operatorOf(config),
  request: 'command line',
  command: randomUUID(),
  at: new Date().toISOString(),
})

type Operation = Event<
  'TablesRebuilt' | 'SpoolImported' | 'LogCopyStarted' | 'SecretRotated' | 'EventParked' | 'CheckpointCountRestarted'
>

/** Appends what an operator did, to the stream of operations unless another one is given. */
export const recordOperation = async (
  store: Pick<EventStore, 'append' | 'last'>,
  operation: Operation,
  config: Pick<Config, 'OPERATOR'>,
  stream = operations,
): Promise<void> => {
  const event = { ...operation, id: randomUUID(), metadata: { ...systemMetadata(), actor: operatorOf(config) } }
  let expected: ExpectedRevision = (await store.last(stream))?.revision ?? 'no_stream'
  for (let n = 0; n < attempts; n++) {
    const appended = await store.append([{ stream, expected, events: [event] }])
    if (appended.ok) return
    expected = appended.actual
  }
  throw new Error(`${operation.type} could not be appended: too many operations at once`)
}
