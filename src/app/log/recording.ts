import type { Logger } from 'pino'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClassifierOptions, createClassifier } from '../../clicks/classify.ts'
import { type TopicRecorder, startTopicRecorder } from '../../clicks/kafka/consumer.ts'
import { createTopicProducer } from '../../clicks/kafka/producer.ts'
import { type KafkaSink, kafkaSink } from '../../clicks/kafka/sink.ts'
import { createSentReader } from '../../clicks/kafka/sent.ts'
import { type Log, logTo, problemsTo } from '../../clicks/report.ts'
import { type ClickRecord, openClickRecord } from '../../clicks/record.ts'
import { createRelays, type Relays } from '../../clicks/deliver.ts'
import { logSink, logSinkOf } from '../../clicks/sink.ts'
import { openEarlier } from '../../clicks/spool/earlier.ts'
import { findRoutes, isSameRoute, spoolDir } from '../../clicks/spool/folders.ts'
import type { RelayedSpool } from '../../clicks/spool/earlier.ts'
import type { ClicksState } from '../../clicks/state.ts'
import { leaveOutIds } from '../proof/lostids.ts'
import { type KafkaSettings, kafkaSettings } from './kafka.ts'
import type { Ledger } from './ledger.ts'
import { routeOf } from './spool.ts'

/** What takes the clicks of a process from its spool to the event log. */
export interface Recording {
  readonly state: () => Omit<ClicksState, 'spool'> & {
    /** what makes the Kafka topic less safe */
    readonly weaknesses: readonly string[]
  }
  /** Lets the clicks leave the closed spool, then stops. */
  readonly close: () => Promise<void>
}

export interface RecordingOptions extends ClassifierOptions {
  readonly spool: RelayedSpool
  /** Called when the log has the entries of a partition of the spool up to a sequence number, at a position. */
  readonly onRecorded: (partition: number, seq: number, position: bigint) => void
  /** Called when all visits that earlier processes left in the folder are delivered. */
  readonly onDelivered: () => void
}

/**
 * ms that closing waits for a delivery to Kafka; what is not confirmed by then is delivered again after the next start
 */
const deliveryTimeout = 2000

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

/**
 * Starts what the process's roles demand: to deliver its spool, and what earlier settings left behind, to Kafka or into
 * the event log; and to record from Kafka.
 */
export const startRecording = async (
  ledger: Pick<Ledger, 'config' | 'db' | 'keys' | 'log' | 'store'>,
  options: RecordingOptions,
): Promise<Recording> => {
  const { config, keys, log: logger, store } = ledger
  const { ROLES } = config
  const { spool } = options
  const log = logTo(logger)
  const onProblem = problemsTo(logger)
  const { route, dir } = routeOf(config)
  const kafka = kafkaSettings(config)
  if (kafka?.sasl?.mechanism === 'plain' && !kafka.ssl)
    logger.warn('KAFKA_SASL_PASSWORD is sent unencrypted: set KAFKA_SSL=true, or KAFKA_SASL_MECHANISM=scram-sha-512')
  const weaknesses = createWeaknesses(logger)
  const relays = createRelays({ store, log, keyring: keys, classify: createClassifier(options), onProblem })
  let recorder: TopicRecorder | undefined
  let sink: KafkaSink | undefined

  if (ROLES.has('relay')) {
    const record = openOwnRecord(ledger, options)
    if (kafka) sink = sinkOf(kafka, record, log, weaknesses.found)
    const own = { dir, route, earlier: spool.earlier, own: spool, sink: sink ?? logSink(record), record }
    void relays.add(own).then(options.onDelivered)
    await addOtherRoutes(relays, ledger, log)
  }
  if (ROLES.has('recorder') && kafka) {
    const record = openClickRecord({ store, ...route, onWentBack: () => void leaveOutIds(ledger) })
    recorder = startTopicRecorder({ ...kafka, record, log, onProblem, onTopicChecked: weaknesses.found })
  }
  return {
    state: () => ({
      relays: relays.states(),
      aside: relays.aside(),
      recorder: recorder?.state(),
      weaknesses: weaknesses.all(),
    }),
    close: async () => {
      await drain(relays, ledger)
      const stopped = relays.stop()
      if (sink) await Promise.race([stopped, sleep(deliveryTimeout, undefined, { ref: false })])
      await Promise.all([stopped, sink?.close(), recorder?.stop()])
    },
  }
}

/** Opens the record of a spool's clicks, which says when they are in the log. */
const openOwnRecord = (
  ledger: Pick<Ledger, 'config' | 'db' | 'log' | 'store'>,
  { spool, onRecorded }: Pick<RecordingOptions, 'spool' | 'onRecorded'>,
): ClickRecord =>
  openClickRecord({
    store: ledger.store,
    ...routeOf(ledger.config).route,
    onWentBack: () => void leaveOutIds(ledger),
    onRecorded: (partition, upTo, position) => onRecorded(partition, upTo[spool.id] ?? 0, position),
  })

/** Relays what earlier settings left behind. */
const addOtherRoutes = async (relays: Relays, { config, store }: Pick<Ledger, 'config' | 'store'>, log: Log) => {
  const { route, spools } = routeOf(config)
  for (const other of await findRoutes(spools)) {
    if (isSameRoute(other, route)) continue
    const record = openClickRecord({ store, ...other })
    const dir = spoolDir(spools, other)
    void relays.add({ dir, route: other, earlier: await openEarlier(dir, log), sink: logSinkOf(other, record), record })
  }
}

/** Says that clicks stay in the spool: its disk may go away with this process. */
export const reportLeft = ({ config, log }: Pick<Ledger, 'config' | 'log'>, clicks: number) => {
  if (clicks === 0) return
  log.warn(
    { clicks, dir: routeOf(config).spools },
    'clicks are left in the spool: the next start with this folder delivers them, or `linkledger spool import` elsewhere',
  )
}

/** Lets the clicks leave the spool, which is on a disk that may go away with this process. */
const drain = async (relays: Relays, { config, log }: Pick<Ledger, 'config' | 'log'>) => {
  const left = await relays.drain(config.DRAIN_TIMEOUT_SECONDS * 1000)
  if (left > 0) return reportLeft({ config, log }, left)
  await relays.retireOwn().catch((error: unknown) => log.debug({ err: error }, 'the spool could not be retired'))
}
