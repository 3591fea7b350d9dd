import type { Logger } from 'pino'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClassifierOptions, createClassifier } from '../../clicks/classify.ts'
import { type TopicRecorder, startTopicRecorder } from '../../clicks/kafka/consumer.ts'
import { createTopicProducer } from '../../clicks/kafka/producer.ts'
import { type KafkaSink, kafkaSink } from '../../clicks/kafka/sink.ts'
import { createSentReader } from '../../clicks/kafka/sent.ts'
import { type Log, logTo, problemsTo } from '../../clicks/report.ts'
import type { Admitted } from '../../cache/admitted.ts'
import { backOff } from '../../lib/async/backoff.ts'
import { type ClickRecord, openClickRecord } from '../../clicks/record.ts'
import { createRelays, type Relays } from '../../clicks/deliver.ts'
import { logSink, logSinkOf } from '../../clicks/sink.ts'
import { openEarlier } from '../../clicks/spool/earlier.ts'
import { findRoutes, isSameRoute, localRoute, spoolDir } from '../../clicks/spool/folders.ts'
import type { Route } from '../../clicks/spool/segment.ts'
import { openSpool, type Spool } from '../../clicks/spool/spool.ts'
import { spooledUpTo } from '../../clicks/spool/journal.ts'
import { type ClicksState, problemsOf } from '../../clicks/state.ts'
import type { EventStore } from '../../events/store.ts'
import type { Keyring } from '../../security/seal.ts'
import type { KafkaSettings } from './kafka.ts'

/** The click pipeline of one process: its spool, and what takes the clicks from there to the event log. */
export interface Clicks {
  /** Adds a visit to the spool. */
  readonly add: Spool['add']
  /** Starts to deliver this process's spool, and what earlier settings left behind, to Kafka or into the event log. */
  readonly startRelay: () => Promise<void>
  /** Starts to record from Kafka; does nothing without Kafka. */
  readonly startRecorder: () => void
  readonly state: () => ClicksState
  /** Returns what keeps clicks from being counted, for an operator to read. */
  readonly problems: () => readonly string[]
  readonly close: () => Promise<void>
}

export interface ClicksOptions extends ClassifierOptions {
  readonly store: EventStore
  readonly keyring: Keyring
  readonly logger: Logger
  readonly dataDir: string
  /** undefined: the relay writes straight into the event log */
  readonly kafka: KafkaSettings | undefined
  /** ms that closing waits for the clicks to leave the spool */
  readonly drainMs: number
  /** learns when clicks are recorded */
  readonly admitted?: Admitted
  /** learns that the event log has lost its end */
  readonly onWentBack?: () => void
}

/**
 * ms that closing waits for a delivery to Kafka; what is not confirmed by then is delivered again after the next start
 */
const deliveryTimeout = 2000

/** ms that a start on a full disk waits to be able to count visits; then redirects go first */
const prepareMs = 10_000

/** Keeps what makes a topic less safe, and logs what is new. */
const createWeaknesses = (logger: Logger) => {
  let known: readonly string[] = []
  return {
    all: () => known,
    found: (found: readonly string[]) => {
      for (const weakness of found) if (!known.includes(weakness)) logger.warn(weakness)
      known = found
    },
  }
}

const sinkOf = (
  kafka: KafkaSettings,
  record: ClickRecord,
  log: Log,
  onTopicChecked: (found: readonly string[]) => void,
) => {
  const connection = { ...kafka, log, onTopicChecked }
  return kafkaSink({
    topic: kafka.topic,
    record,
    createProducer: () => createTopicProducer({ ...connection, record }),
    readSent: createSentReader(connection, record),
    log,
  })
}

/** Opens the spool; the relay and the recorder are started separately, as the process's roles demand. */
export const openClicks = async (options: ClicksOptions): Promise<Clicks> => {
  const { store, keyring, logger, dataDir, kafka } = options
  const log = logTo(logger)
  const onProblem = problemsTo(logger)
  if (kafka?.sasl?.mechanism === 'plain' && !kafka.ssl)
    logger.warn('KAFKA_SASL_PASSWORD is sent unencrypted: set KAFKA_SSL=true, or KAFKA_SASL_MECHANISM=scram-sha-512')
  const spools = join(dataDir, 'spool')
  const route = kafka ? { log: kafka.topic, partitions: kafka.partitions } : localRoute
  const dir = spoolDir(spools, route)
  const spool = await openSpool({ dir, route, logId: store.logId, log })
  let recorder: TopicRecorder | undefined
  let sink: KafkaSink | undefined
  let visits = 0
  const closing = new AbortController()
  const weaknesses = createWeaknesses(logger)

  const relays = createRelays({
    store,
    log,
    keyring,
    classify: createClassifier(options),
    onProblem,
    answeredVisits: () => visits,
  })

  const state = (): ClicksState => ({
    spool: spool.stats(),
    relays: relays.states(),
    aside: relays.aside(),
    recorder: recorder?.state(),
  })

  return {
    add: (visit, mustBeWritten) => {
      visits++
      return spool.add(visit, mustBeWritten)
    },
    startRelay: async () => {
      const record = openOwnRecord(options, route, spool.id)
      if (kafka) sink = sinkOf(kafka, record, log, weaknesses.found)
      const own = { dir, route, earlier: spool.earlier, own: spool, sink: sink ?? logSink(record), record }
      const delivered = relays.add(own)
      if (!kafka) void followAdmitted(options, spool, delivered, closing.signal)
      await addOtherRoutes(relays, options, { spools, route, log })
      // earlier spools make room as they are delivered
      for (let left = prepareMs; left > 0 && !(await spool.prepare()); left -= 500) await sleep(500)
    },
    startRecorder: () => {
      if (!kafka) return
      const record = openClickRecord({ store, ...route, onWentBack: options.onWentBack })
      recorder = startTopicRecorder({ ...kafka, record, log, onProblem, onTopicChecked: weaknesses.found })
    },
    state,
    problems: () => [...problemsOf(state(), route.log), ...weaknesses.all()],
    close: async () => {
      closing.abort()
      await spool.close()
      await drain(relays, options, spools)
      const stopped = relays.stop()
      if (sink) await Promise.race([stopped, sleep(deliveryTimeout, undefined, { ref: false })])
      await Promise.all([stopped, sink?.close(), recorder?.stop()])
    },
  }
}

/** Opens the record of a spool's clicks, which says when they are in the log. */
const openOwnRecord = ({ store, admitted, onWentBack }: ClicksOptions, route: Route, spool: string) =>
  openClickRecord({
    store,
    ...route,
    onWentBack,
    onRecorded: (partition, upTo, position) => admitted?.recorded({ partition, seq: upTo[spool] ?? 0 }, position),
  })

/**
 * Lets those who count people follow the spool, and says from where on the tables have the clicks of earlier processes,
 * once all of those are recorded.
 */
const followAdmitted = async (
  { store, admitted }: ClicksOptions,
  { stats }: Pick<Spool, 'stats'>,
  delivered: Promise<void>,
  signal: AbortSignal,
) => {
  if (!admitted) return
  admitted.follow((link) => spooledUpTo(link, localRoute, stats().lastSeq))
  await delivered
  const retries = backOff({ from: 100, to: 5000, signal })
  while (!signal.aborted) {
    const position = await store.head('clicks', signal).catch(() => undefined)
    if (position !== undefined) return admitted.startAt(position)
    await retries.pause()
  }
}

interface Folders {
  readonly spools: string
  /** the route of this process's own spool */
  readonly route: Route
  readonly log: Log
}

/** Relays what earlier settings left behind. */
const addOtherRoutes = async (relays: Relays, { store }: ClicksOptions, { spools, route, log }: Folders) => {
  for (const other of await findRoutes(spools)) {
    if (isSameRoute(other, route)) continue
    const record = openClickRecord({ store, ...other })
    const dir = spoolDir(spools, other)
    void relays.add({ dir, route: other, earlier: await openEarlier(dir, log), sink: logSinkOf(other, record), record })
  }
}

/** Lets the clicks leave the spool, which is on a disk that may go away with this process. */
const drain = async (relays: Relays, { logger, drainMs }: ClicksOptions, spools: string) => {
  const left = await relays.drain(drainMs)
  if (left > 0) {
    logger.warn(
      { clicks: left, dir: spools },
      'clicks are left in the spool: the next start with this folder delivers them, or `linkledger spool import` elsewhere',
    )
    return
  }
  await relays.retireOwn().catch((error: unknown) => logger.debug({ err: error }, 'the spool could not be retired'))
}
