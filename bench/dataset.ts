import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { openDatabase } from '../src/postgres/database.ts'
import { type EmbeddedConnection, startEmbedded } from '../src/postgres/embedded.ts'
import { appendClicks } from './clickdata.ts'
import { type Bench, reach, type Started } from './kit.ts'
import { firstLink, openLinkWriter } from './links.ts'

const day = 86_400_000
/** links of the small account */
const few = 1_000
/** the share of the clicks that the first link has */
const hot = 0.2

interface Size {
  readonly links: number
  readonly clicks: number
}
interface Account {
  readonly key: string
  readonly id: number
}
/**
 * A log with many links and clicks. The links of the large account have the aliases `a0`, `a1`, … and all of the
 * clicks.
 */
export interface Dataset extends Size {
  readonly on: EmbeddedConnection
  readonly small: Account
  readonly large: Account
  /** settings of all services and commands that use it */
  readonly settings: Readonly<Record<string, string>>
  /**
   * Waits until the tables have all links and clicks, and the tree over the log all events: a service that catches up
   * would be measured.
   */
  readonly ready: (service: Started) => Promise<void>
  /** Waits until the tables have all links. */
  readonly allLinks: (service: Started) => Promise<void>
  /** Waits until the statistics have all clicks, with so many new ones, which they have from then on. */
  readonly allClicks: (service: Started, added?: number) => Promise<void>
  /** Returns how many clicks the statistics have, with those that runs have added. */
  readonly counted: () => number
  readonly close: () => Promise<void>
}

/** How much the data set of `scale` has: SCALE_LINKS links of one account, and SCALE_CLICKS clicks on them. */
const scaleSize = (bench: Bench): Size => ({
  links: Number(process.env['SCALE_LINKS'] ?? bench.size(1_000_000, 3_000)),
  clicks: Number(process.env['SCALE_CLICKS'] ?? bench.size(10_000_000, 20_000)),
})
const isQuick = (bench: Bench) => bench.size(0, 1) === 1

/** A full run keeps the data set of `scale` in .cache: writing it takes minutes. */
const folderOf = ({ links, clicks }: Size) => join(import.meta.dirname, '../.cache', `scale-${links}-${clicks}`)
const finishedIn = (size: Size) => join(folderOf(size), 'finished')
/** Returns whether an earlier run has written the data set of `scale`. */
export const hasScale = (bench: Bench): boolean => !isQuick(bench) && existsSync(finishedIn(scaleSize(bench)))

/** smaller data sets, which several parts of a run use */
const written = new WeakMap<Bench, EmbeddedConnection>()

const openStored = async (size: Size) => {
  const dir = folderOf(size)
  await mkdir(dir, { recursive: true })
  const buffers = process.env['EMBEDDED_BUFFERS_MB']
  const { connection, stop } = await startEmbedded({ dir, log: () => {}, ...(buffers && { buffers: Number(buffers) }) })
  return { on: connection, close: stop }
}
const openTemporary = async (bench: Bench) => {
  const on = written.get(bench) ?? (await bench.database())
  written.set(bench, on)
  return { on, close: async () => {} }
}

/** What is known about a data set, remembered next to it. */
interface Known {
  readonly small: Account
  readonly large: Account
  /** clicks in the statistics, once all are there */
  readonly counted: number
}

const openKnown = async (on: EmbeddedConnection) => {
  const client = new pg.Client(on)
  await client.connect()
  await client.query('create table if not exists public.bench_data (known json not null)')
  return {
    read: async () => (await client.query<{ known: Known }>('select known from public.bench_data')).rows[0]?.known,
    /** Returns how many events of the log are not in its tree yet. */
    notInTree: async () => {
      const counted = 'select (select count(*) from log.events) - coalesce((select size from read.tree), 0) as n'
      return Number((await client.query<{ n: string }>(counted)).rows[0]?.n)
    },
    write: async (known: Known) => {
      await client.query('begin')
      await client.query('delete from public.bench_data')
      await client.query('insert into public.bench_data values ($1)', [known])
      await client.query('commit')
    },
    close: () => client.end(),
  }
}

/** Writes accounts, links and clicks to the log. */
const write = async (bench: Bench, on: EmbeddedConnection, size: Size, settings: Dataset['settings']) => {
  const { links, clicks } = size
  const service = await bench.start(on, settings)
  const [small, large] = [await service.register('small'), await service.register('large')]
  await service.stop()
  if (!large.id) throw new Error('an earlier run has not finished writing the data: delete .cache/scale-*')
  const writer = await openLinkWriter(on)
  await writer.write(large.id, links)
  await writer.write(small.id, few)
  await writer.close()
  const db = openDatabase(on, { name: 'bench', max: 2, timeout: 60_000, onError: () => {} })
  const [from, to] = [new Date(Date.now() - 90 * day), new Date()]
  const visitors = Math.ceil(clicks / 10)
  await appendClicks(db, { clicks, links, hot, accounts: 1, visitors, from, to, firstLink, account: large.id })
  await db.destroy()
  return { small, large, counted: clicks }
}

/**
 * Opens the data set of `scale`, and writes it if it is not there: with `orSmaller`, a smaller one is written instead,
 * which ends with the run.
 */
export const openDataset = async (bench: Bench, orSmaller: boolean): Promise<Dataset> => {
  const isStored = !isQuick(bench) && (hasScale(bench) || !orSmaller)
  const size =
    isStored || isQuick(bench) ? scaleSize(bench) : { links: bench.size(100_000, 0), clicks: bench.size(1_000_000, 0) }
  const { on, close } = isStored ? await openStored(size) : await openTemporary(bench)
  const settings = { SECRET: 'a secret for benchmarks only', DATA_DIR: join(bench.dir, isStored ? 'scale' : 'smaller') }
  const store = await openKnown(on)
  let known = await store.read()
  if (!known) {
    known = await write(bench, on, size, settings)
    await store.write(known)
    if (isStored) await writeFile(finishedIn(size), '')
  }
  const { small, large } = known
  let { counted } = known
  const dataOf = async ({ get }: Started, path: string) => (await get(path, { key: large.key })).json['data']
  const timeoutMs = bench.size(3_600_000, 60_000)
  const allLinks: Dataset['allLinks'] = (service) =>
    reach('links', size.links, async () => Number((await dataOf(service, '/api/urls?limit=1'))?.result), timeoutMs)
  const allClicks: Dataset['allClicks'] = async (service, added = 0) => {
    const path = '/api/account/stats?from=2020-01-01&interval=month'
    const total = async () => Number((await dataOf(service, path))?.['total']?.['visits'])
    await reach('clicks', counted + added, total, timeoutMs)
    counted += added
    if (added > 0) await store.write({ small, large, counted })
  }
  return {
    ...{ ...size, on, small, large, settings, allLinks, allClicks },
    ready: async (service) => {
      await allLinks(service)
      await allClicks(service)
      await reach('events that are not in the tree', 0, store.notInTree, timeoutMs)
    },
    counted: () => counted,
    close: async () => {
      await store.close()
      await close()
    },
  }
}
