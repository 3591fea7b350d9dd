import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Unreadable } from '../../events/codec.ts'
import { streamId } from '../../events/streams.ts'
import { writeFileOr } from '../../lib/streamfile.ts'
import {
  checkpointNumbers,
  keepNextSeries,
  type Numbered,
  numberCheckpoints,
  readNextSeries,
  unnumbered,
} from '../../postgres/checkpointnumbers.ts'
import type { Database } from '../../postgres/database.ts'
import { checkpointSeals, type Seals } from '../../security/checkpointseals.ts'
import type { Ledger } from '../log/ledger.ts'
import { recordOperation } from '../operator/caller.ts'
import type { Finding } from './finding.ts'

const restarts = streamId('log', 'checkpoints')
/** The series of a log whose count was never begun again. */
const firstSeries = '00000000-0000-0000-0000-000000000000'
/** ms from which on only the last checkpoint of an hour has to be there: see `keepCheckpoint` */
const thinnedAfter = 47 * 3_600_000

const hourOf = ({ signed_at }: Pick<Numbered, 'signed_at'>) => Math.floor(signed_at.getTime() / 3_600_000)
const partsOf = ({ series, size, signed_at, number, before }: Omit<Numbered, 'seal'>) =>
  ['checkpoint', series ?? '', size, signed_at.toISOString(), number, before] as const

/** Counts the checkpoints of a log, so that those which are deleted are missed. */
export interface Counter {
  /** Numbers the checkpoints that have no number yet. The table must be locked. Returns what `note` keeps. */
  readonly number: (tx: Database) => Promise<Last>
  /** Notes in DATA_DIR how many there were. */
  readonly note: (last: Last) => Promise<void>
  /** Returns whether DATA_DIR knows of later checkpoints than the database: it was put back to an older state. */
  readonly isAhead: (db: Database) => Promise<boolean>
  /** Returns which checkpoints are missing. */
  readonly check: (db: Database) => Promise<readonly Finding[]>
  /** Begins to count again, with an event. */
  readonly restart: (db: Database) => Promise<void>
  /** Notes that a backup was restored: the next checkpoint begins to count again, with an event. */
  readonly noteRestored: (db: Database) => Promise<void>
}
interface Last {
  readonly series: string
  readonly number: number
}

type Parts = Pick<Ledger, 'config' | 'store' | 'keys'>

/** Returns the series of now, those that have begun, and how many events pretend to begin one. */
const readSeries = async ({ store }: Pick<Parts, 'store'>, { isSealed }: Seals) => {
  const seen = new Set([firstSeries])
  let [series, forged] = [firstSeries, 0]
  try {
    for await (const { type, data } of store.read(restarts)) {
      if (type !== 'CheckpointCountRestarted') continue
      if (!seen.has(data.series) && isSealed(data.seal, 'series', data.series)) series = data.series
      else forged++
      seen.add(data.series)
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    forged++
  }
  return { series, seen, forged }
}

/** Returns the numbers of checkpoints that follow on another: `before` is that of the last one of the hour before. */
const numbered = (
  { seal }: Seals,
  series: string,
  last: Pick<Numbered, 'number' | 'before' | 'signed_at'> | undefined,
  after: readonly Numbered[],
): readonly Numbered[] => {
  let previous = last
  return after.map(({ size, signed_at }) => {
    const number = (previous?.number ?? 0) + 1
    const isSameHour = previous !== undefined && hourOf(previous) === hourOf({ signed_at })
    const before = isSameHour ? previous!.before : (previous?.number ?? 0)
    const next = { size, signed_at, series, number, before }
    previous = next
    return { ...next, seal: seal(...partsOf(next)) }
  })
}

const finding = (text: string): Finding => ({ of: 'checkpoints', ordinal: 0, text })
const howMany = (n: number) => (n === 1 ? '1 checkpoint is missing' : `${n} checkpoints are missing`)

const lostText = ({ size }: { readonly size: number }) =>
  `the checkpoint of ${size} events has lost its number, and there are later ones`
/** `n` is undefined where only the last checkpoint of each hour has to be there. */
const missingText = (n: number | undefined, before: { readonly size: number }, after: { readonly size: number }) => {
  const what = n === undefined ? 'at least 1 checkpoint is missing' : howMany(n)
  return before.size === 0
    ? `${what} before that of ${after.size} events`
    : `${what} between that of ${before.size} events and that of ${after.size}`
}

/** Compares the numbers of the checkpoints that are kept with what the service has sealed. */
const compare = (
  { isSealed }: Seals,
  series: string,
  all: readonly Numbered[],
  noted: number,
  now: number,
): readonly Finding[] => {
  const own = all.filter((one) => one.series === series)
  const others = all.filter((one) => one.series !== series)
  const findings: Finding[] = []
  let previous = { number: 0, size: 0 }
  for (const one of own) {
    const { size, number, before, signed_at, seal } = one
    if (!isSealed(seal, ...partsOf(one)))
      findings.push(finding(`the checkpoint of ${size} events has not the number that this service has given it`))
    const missing = number - previous.number - 1
    // one that an older release has signed at the same time never had a number, and leaves none out
    const [lost] = others.filter((other) => other.size > previous.size && other.size < size)
    // of older ones, only the last of each hour has to be there
    const isOld = signed_at.getTime() < now - thinnedAfter
    if (missing > 0 && (!isOld || before > previous.number))
      findings.push(finding(lost ? lostText(lost) : missingText(isOld ? undefined : missing, previous, one)))
    previous = one
  }
  const after = others.filter((other) => other.size > previous.size)
  const missing = noted - previous.number - after.length
  if (missing > 0)
    findings.push(
      finding(
        `${howMany(missing)}, the newest: DATA_DIR/checkpoints has the number ${noted}. After the database was restored from an older backup: \`linkledger proof restart\``,
      ),
    )
  return findings
}

const readText = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })

/** Returns what is noted in DATA_DIR, and of which series: nothing of the first one when there is no note of ours. */
const readNoted = async (file: string, { isSealed }: Seals): Promise<Last> => {
  const [series = '', number = '', seal = ''] = (await readText(file)).trim().split(' ')
  if (!isSealed(seal, 'noted', series, number)) return { series: firstSeries, number: 0 }
  return { series, number: Number(number) }
}

/** Opens what counts the checkpoints of a log: in their rows, and in DATA_DIR. */
export const openCounter = async (parts: Parts): Promise<Counter> => {
  const seals = checkpointSeals(await parts.keys.proofSeed())
  const file = join(parts.config.DATA_DIR, 'checkpoints')

  const note = ({ series, number }: Last) => {
    const text = `${series} ${number} ${seals.seal('noted', series, number)}\n`
    return writeFileOr(process.stdout, file, Readable.from([text]))
  }
  const notedFor = async (wanted: string): Promise<number> => {
    const { series, number } = await readNoted(file, seals)
    return series === wanted ? number : 0
  }
  const begin = (series: string, why: 'given_up' | 'restored') =>
    recordOperation(
      parts.store,
      { type: 'CheckpointCountRestarted', data: { series, why, seal: seals.seal('series', series) } },
      parts.config,
      restarts,
    )
  /** Returns what `readSeries` does, with the series of the next checkpoint: after a restore, it has not begun yet. */
  const currentSeries = async (db: Database) => {
    const next = await readNextSeries(db)
    const found = await readSeries(parts, seals)
    const isNext = next && !found.seen.has(next.series) && seals.isSealed(next.seal, 'restored', next.series)
    return { ...found, series: isNext ? next.series : found.series }
  }
  const number = async (tx: Database): Promise<Last> => {
    const { series, seen } = await currentSeries(tx)
    if (!seen.has(series)) await begin(series, 'restored')
    const { last, after } = await unnumbered(tx, series)
    const noted = await notedFor(series)
    // those in between were deleted: the next one says that they were there
    const from = isAhead({ noted, last, after: after.slice(1) }) ? gap(noted) : last
    const numbers = numbered(seals, series, from, after)
    await numberCheckpoints(tx, numbers)
    return { series, number: numbers.at(-1)?.number ?? last?.number ?? 0 }
  }
  return {
    number,
    note,
    // the log may be away
    isAhead: async (db) => {
      const { series, number: noted } = await readNoted(file, seals)
      return isAhead({ noted, ...(await unnumbered(db, series)) })
    },
    check: async (db) => {
      const { series, forged } = await currentSeries(db)
      // first what is noted: a checkpoint that is signed meanwhile has its row before it is noted
      const noted = await notedFor(series)
      const found = compare(seals, series, await checkpointNumbers(db), noted, Date.now())
      const pretended = finding('an event begins to count checkpoints again, and this service has not added it')
      return forged > 0 ? [pretended, ...found] : found
    },
    restart: async (db) => {
      await begin(randomUUID(), 'given_up')
      // what a restore has noted is given up, too
      await keepNextSeries(db)
      await note(await db.transaction((tx) => number(tx)))
    },
    noteRestored: (db) => {
      const series = randomUUID()
      return keepNextSeries(db, { series, seal: seals.seal('restored', series) })
    },
  }
}

interface Counted {
  /** the number in DATA_DIR */
  readonly noted: number
  /** the newest checkpoint that has a number, and those after it */
  readonly last: Pick<Numbered, 'number'> | undefined
  readonly after: readonly unknown[]
}
/** Whether there were more checkpoints than there are. */
const isAhead = ({ noted, last, after }: Counted) => noted > (last?.number ?? 0) + after.length

const gap = (number: number) => ({ number, before: number, signed_at: new Date(0) })
