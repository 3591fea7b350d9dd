import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { intoLog, intoLogWithoutHoles, openRecording } from '../clicks/record.ts'
import { type Relay, startRelay } from '../clicks/relay.ts'
import type { Config } from '../config.ts'
import type { ClickSink, Visit } from '../clicks/visit.ts'
import { startTopicRecorder, type TopicRecorder } from '../clicks/kafka/consumer.ts'
import { kafkaSink } from '../clicks/kafka/sink.ts'
import { type Route, segmentNumber } from '../clicks/spool/segment.ts'
import { openSpool } from '../clicks/spool/spool.ts'
import type { Ledger } from './ledger.ts'
import { classifier } from '../clicks/classify.ts'

export interface Clicks {
  /** Resolves when the visit can be lost no longer. */
  readonly add: (visit: Visit) => Promise<void>
  /** From this process's spool to Kafka; without Kafka straight into the log. */
  readonly startRelay: () => Promise<void>
  /** From Kafka into the log; without Kafka there is nothing to do. */
  readonly startRecorder: () => void
  readonly state: () => {
    readonly spool: ReturnType<Awaited<ReturnType<typeof openSpool>>['stats']>
    /** the spool's, then those of spools that earlier settings left behind */
    readonly relays: readonly ReturnType<Relay['state']>[]
    readonly recorder: ReturnType<TopicRecorder['state']> | undefined
  }
  /** What keeps clicks from being counted, for an operator to read. */
  readonly problems: () => readonly string[]
  readonly close: () => Promise<void>
}
export interface ClicksOptions {
  readonly ledger: Ledger
  readonly countryOf: (address: string) => string
  readonly isOurs: (host: string) => boolean
}

/** Without Kafka the spool is the click log; its one partition is the stream `clicks-local-0`. */
const local: Route = { log: 'local', partitions: 1 }
const routeOf = ({ KAFKA_BROKERS, KAFKA_TOPIC, KAFKA_PARTITIONS }: Config): Route =>
  KAFKA_BROKERS.length > 0 ? { log: KAFKA_TOPIC, partitions: KAFKA_PARTITIONS } : local
const nameOf = ({ log, partitions }: Route) => `${log}-${partitions}`
const dirOf = (spools: string, route: Route) =>
  route.log === local.log ? spools : join(spools, 'kafka', nameOf(route))
const openAt = ({ log }: Pick<Ledger, 'log'>, spools: string, route: Route) =>
  openSpool({ dir: dirOf(spools, route), route, log: (level, message, details) => log[level](details, message) })

/** The routes that clicks in a folder of spools are to take. */
const routesIn = async (spools: string): Promise<Route[]> => {
  const names = existsSync(join(spools, 'kafka')) ? await readdir(join(spools, 'kafka')) : []
  const routes = names.flatMap((name): Route[] => {
    const [, of, partitions] = /^(.+)-(\d+)$/.exec(name) ?? []
    return of === undefined ? [] : [{ log: of, partitions: Number(partitions) }]
  })
  const isLeft = (await readdir(spools)).some((name) => segmentNumber(name) > 0)
  return [...(isLeft ? [local] : []), ...routes]
}

/** A spool that nobody adds to any more, and where what it holds goes. */
const openLeft = async (ledger: Ledger, spools: string, route: Route) => {
  const spool = await openAt(ledger, spools, route)
  // nothing is added: reading ends with what there is
  await spool.close()
  const recording = openRecording({ store: ledger.store, ...route })
  return { spool, sink: route.log === local.log ? intoLog(recording) : intoLogWithoutHoles(recording) }
}

/**
 * Records what a folder of spools holds, of a machine that is gone, say; the folder stays as it is, and whatever is recorded already is
 * passed over. Answers how many clicks were new. Rejects with what keeps clicks from being recorded.
 */
export const importClicks = async ({ ledger, countryOf, isOurs }: ClicksOptions, spools: string): Promise<number> => {
  let taken = 0
  for (const route of await routesIn(spools)) {
    const { spool, sink } = await openLeft(ledger, spools, route)
    const counting: ClickSink = {
      reached: sink.reached,
      take: async (entries) => {
        await sink.take(entries)
        taken += Object.values(entries).flat().length
      },
    }
    await new Promise<void>((resolve, reject) => {
      const relay = startRelay({
        spool: { ...spool, release: async () => {} },
        sink: counting,
        keyring: ledger.keys,
        classify: (visit, hash) => classifier({ countryOf, isOurs, hash })(visit),
        onProblem: (error) => {
          reject(error)
          void relay.stop()
        },
      })
      void relay.ended.then(resolve)
    })
  }
  return taken
}

/** The click log of one process: its spool, and what takes the clicks on from there. */
export const openClicks = async ({ ledger, countryOf, isOurs }: ClicksOptions): Promise<Clicks> => {
  const { config, log, store, keys } = ledger
  const spools = join(config.DATA_DIR, 'spool')
  const route = routeOf(config)
  const kafka = {
    brokers: config.KAFKA_BROKERS,
    topic: config.KAFKA_TOPIC,
    log: (level: 'debug' | 'warn' | 'error', message: string, details: object) => log[level](details, message),
  }
  const spool = await openAt(ledger, spools, route)
  const relays: Relay[] = []
  let recorder: TopicRecorder | undefined
  let sink: ReturnType<typeof kafkaSink> | undefined
  let visits = 0
  const onProblem = (error: unknown, what: string) => log.error({ err: error }, what)
  const relay = (from: typeof spool, into: ClickSink) => {
    const classify = (visit: Visit, hash: (account: number, text: string) => string) =>
      classifier({ countryOf, isOurs, hash })(visit)
    relays.push(startRelay({ spool: from, sink: into, keyring: keys, classify, onProblem, arrived: () => visits }))
  }

  /** What this process may have left behind under other settings. */
  const relayLeft = async () => {
    for (const other of await routesIn(spools)) {
      if (nameOf(other) === nameOf(route)) continue
      const left = await openLeft(ledger, spools, other)
      relay(left.spool, left.sink)
    }
  }

  return {
    add: (visit) => {
      visits++
      return spool.add(visit)
    },
    startRelay: async () => {
      const record = openRecording({ store, ...route })
      if (route !== local) sink = kafkaSink({ ...kafka, record })
      relay(spool, sink ?? intoLog(record))
      await relayLeft()
    },
    startRecorder: () => {
      if (route === local) return
      recorder = startTopicRecorder({ ...kafka, record: openRecording({ store, ...route }), onProblem })
    },
    state: () => ({ spool: spool.stats(), relays: relays.map(({ state }) => state()), recorder: recorder?.state() }),
    problems: () => {
      const { halted = [], problem } = recorder?.state() ?? {}
      return [
        ...relays.flatMap(({ state }) => {
          const { problem: why, lag } = state()
          return why === undefined ? [] : [`${lag} clicks wait in the spool: ${why}`]
        }),
        ...(problem === undefined ? [] : [`clicks wait in Kafka: ${problem}`]),
        ...halted.map(({ partition, reason }) => `partition ${partition} of ${kafka.topic} is halted: ${reason}`),
      ]
    },
    close: async () => {
      await spool.close()
      const stopped = Promise.all(relays.map(({ stop }) => stop()))
      // what is on its way to Kafka may arrive, or goes again after the next start
      if (sink) await Promise.race([stopped, sleep(2000, undefined, { ref: false })])
      await Promise.all([stopped, sink?.close(), recorder?.stop()])
    },
  }
}
