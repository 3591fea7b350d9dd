import { randomBytes } from 'node:crypto'
import { openProofs, originOf, signCheckpoint } from '../src/app/proof/proofs.ts'
import { verifyLog } from '../src/app/proof/verify.ts'
import { asStored } from '../src/events/codec.ts'
import { leafOf } from '../src/events/proof/leaf.ts'
import { Receipt, verifyReceipt } from '../src/events/proof/receipt.ts'
import type { StoredLog } from '../src/events/store.ts'
import { hashLeaf, inclusionRanges, rootByInclusion } from '../src/lib/transparency/merkle.ts'
import { checkpointText, createSigner, parseVerifier } from '../src/lib/transparency/note.ts'
import { createSignal } from '../src/lib/async/signal.ts'
import { tileBytes, tilesOf, tileWidth } from '../src/lib/transparency/tiles.ts'
import { keepCheckpoint } from '../src/postgres/checkpoints.ts'
import { type Database, openDatabase, openPool } from '../src/postgres/database.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { ensureCheckpoints } from '../src/projections/engine/tables.ts'
import { ensureTree, followTree, treeSize } from '../src/projections/proof/tree.ts'
import { rootsOf } from '../src/queries/proof/tree.ts'
import { postgresOrdinals } from '../src/store/ordinals.ts'
import { postgresStore } from '../src/store/postgres.ts'
import { appendClicks, perEvent } from './clickdata.ts'
import { type Bench, count, type Line, quantile } from './kit.ts'

/** Numbers of checkpoints cost nothing that is measured here. */
const uncounted = { number: async () => ({ series: '', number: 0 }), note: async () => {} }
import { openLinkWriter } from './links.ts'

/** A log without a service, and the tree over it. */
const openTree = async (bench: Bench) => {
  const connection = await bench.database()
  const options = { name: 'bench', max: 4, timeout: 60_000, onError: () => {} }
  const db = openDatabase(connection, options)
  await migrate(db)
  await ensureCheckpoints(db)
  await ensureTree(db)
  const pool = openPool(connection, options)
  const stored = await postgresStore(pool, asStored, createSignal())
  const signer = createSigner(originOf(stored.logId), randomBytes(32))
  return {
    ...{ connection, db, stored, signer, verifier: parseVerifier(signer.publicKey)! },
    grow: async () => {
      const done = new AbortController()
      await followTree({ db, store: stored, engine: 'postgres' }, async () => done.abort(), done.signal)
      await signCheckpoint(db, signer, await treeSize(db), uncounted)
    },
    close: async () => {
      await db.destroy()
      await pool.end()
    },
  }
}
type Tree = Awaited<ReturnType<typeof openTree>>

/** Verifies a log, and returns how many there were in a second, by the clock and by the CPU time of this process. */
const timeVerify = async ({ db, stored, verifier }: Tree, of: 'events' | 'clicks', expected: number) => {
  const [started, cpu] = [performance.now(), process.cpuUsage()]
  const found = await verifyLog({ db, stored, verifier })
  const { user, system } = process.cpuUsage(cpu)
  if (found.findings.length > 0) throw new Error(found.findings[0]!.text)
  if (found[of] < expected) throw new Error(`${found[of]} ${of} were verified, not ${expected}`)
  return { perSecond: (found[of] / (performance.now() - started)) * 1000, perCpu: (found[of] / (user + system)) * 1e6 }
}

const verified = (
  what: string,
  found: { readonly perSecond: number; readonly perCpu: number },
  goal: number,
): Line => ({
  what: `   verify, ${what}`,
  result: `${count(Math.round(found.perSecond))}/s, ${count(Math.round(found.perCpu))} per second of CPU`,
  target: `>= ${count(goal)}/s`,
  met: found.perSecond >= goal,
})

const measureDomain = async (bench: Bench): Promise<Line> => {
  const tree = await openTree(bench)
  const links = bench.size(100_000, 1_000)
  const writer = await openLinkWriter(tree.connection)
  await writer.write(7, links)
  await writer.close()
  await tree.grow()
  const found = await timeVerify(tree, 'events', links)
  await tree.close()
  return verified(`${count(links)} domain events`, found, 15_000)
}

const sizeOf = async (db: Database, sql: string) =>
  Number((await db.raw<{ rows: { n: string }[] }>(`select ${sql} as n`)).rows[0]?.n)

const measureClicks = async (bench: Bench): Promise<Line[]> => {
  const tree = await openTree(bench)
  const { db } = tree
  const clicks = bench.size(1_000_000, 10_000)
  // after what the tree began with: earlier times would be a finding
  const [from, to] = [new Date(), new Date(Date.now() + 86_400_000)]
  await appendClicks(db, { clicks, links: 1000, hot: 0.2, accounts: 5, visitors: clicks / 10, from, to })
  await tree.grow()
  const found = await timeVerify(tree, 'clicks', clicks)
  await db.raw('vacuum full read.tiles')
  const own = await sizeOf(db, `pg_total_relation_size('read.tiles')`)
  const log = await sizeOf(db, `pg_total_relation_size('log.events')`)
  const percent = (own / log) * 100
  await tree.close()
  return [
    verified(`${count(clicks)} clicks`, found, 150_000),
    {
      what: `   the tree over ${count(clicks / perEvent)} full batches of clicks, of the log`,
      result: `${percent.toFixed(2)} %`,
      target: '<= 1 %',
      met: percent <= 1,
    },
  ]
}

/**
 * Gives the tree the size of a large log: the tiles that the proof of an event needs are there, and a checkpoint that
 * fits them.
 */
const pretend = async ({ db, signer }: Tree, size: number, index: number, leaf: string) => {
  const ranges = inclusionRanges(index, size)
  for (const { level, number } of tilesOf(ranges)) {
    const hashes = randomBytes(tileBytes)
    if (level === 0 && number === Math.floor(index / tileWidth)) hashLeaf(leaf).copy(hashes, (index % tileWidth) * 32)
    await db('read.tiles').insert({ level, number, hashes }).onConflict(['level', 'number']).merge()
  }
  const root = rootByInclusion(hashLeaf(leaf), index, size, await rootsOf(db, ranges))!
  const note = signer.sign(checkpointText({ origin: signer.name, size, root }))
  await db('state.checkpoints').delete()
  await keepCheckpoint(db, { size, note }, uncounted.number)
}

const firstOf = async (stored: StoredLog, type: string) => {
  for await (const events of stored.subscribe({
    after: 0n,
    filter: 'all',
    limit: 100,
    signal: new AbortController().signal,
  })) {
    const found = events.find((event) => event.type === type)
    if (found) return found
  }
  throw new Error(`the log has no ${type}`)
}

/** Times receipts of a domain event and of a click, in a tree of 20,000,000 events. */
const measureReceipts = async (bench: Bench): Promise<Line[]> => {
  const tree = await openTree(bench)
  const { db, stored, verifier } = tree
  const size = 20_000_000
  // after what the tree began with: earlier times would be a finding
  const [from, to] = [new Date(), new Date(Date.now() + 86_400_000)]
  const writer = await openLinkWriter(tree.connection)
  await writer.write(7, 1)
  await writer.close()
  await appendClicks(db, { clicks: perEvent, links: 100, hot: 0.2, accounts: 5, visitors: 100, from, to })
  const lines: Line[] = []
  for (const type of ['LinkCreated', 'LinkClicked']) {
    const event = await firstOf(stored, type)
    const [index, times, bytes] = [12_345_678, [] as number[], [] as number[]]
    const ordinals = {
      ...postgresOrdinals(db),
      positionOf: async (ordinal: number) => event.position - BigInt(index - ordinal),
      timeOf: async () => event.at,
    }
    await pretend(tree, size, index, leafOf(event, index, event.at))
    const proofs = openProofs({ db, stored, ordinals })
    for (let run = -5; run < bench.size(100, 5); run++) {
      const started = performance.now()
      const receipt = Receipt.parse(
        await (type === 'LinkClicked' ? proofs.ofClick(`${index}-${perEvent - 1 - (run + 5)}`) : proofs.ofEvent(index)),
      )
      if (run >= 0) times.push(performance.now() - started)
      bytes.push(Buffer.byteLength(JSON.stringify(receipt.proof)))
      if (verifyReceipt(receipt, verifier).size !== size) throw new Error('the receipt is of another checkpoint')
    }
    const [p50, most] = [quantile(times, 0.5), Math.max(...bytes)]
    lines.push({
      what: `   receipt of a ${type}, ${count(size)} events`,
      result: `p50 ${p50.toFixed(1)} ms, proof ${most} bytes`,
      target: '<= 20 ms, <= 2,048 bytes',
      met: p50 <= 20 && most <= 2048,
    })
  }
  await tree.close()
  return lines
}

/** Measures receipts, the size of the tree, and how fast a log is verified. */
export const proof = async (bench: Bench): Promise<Line[]> => [
  ...(await measureReceipts(bench)),
  await measureDomain(bench),
  ...(await measureClicks(bench)),
]
