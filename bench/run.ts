// npm run bench [-- --quick] [-- redirect append …]: runs all benchmarks, or the named ones. `--quick` does little
// work, so that a few minutes show that each runs and counts right. Otherwise the results are also written to
// bench/results.
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { entryOf } from '../bin/checkout.js'
import { startEmbedded } from '../src/postgres/embedded.ts'
import { append } from './append.ts'
import { busy } from './busy.ts'
import { clicks } from './clicks.ts'
import { create } from './create.ts'
import { dashboard } from './dashboard.ts'
import { hasScale } from './dataset.ts'
import { eventstoredb } from './eventstoredb.ts'
import { history } from './history.ts'
import { type Bench, type Line, openBench, stopAll } from './kit.ts'
import { list } from './list.ts'
import { log } from './log.ts'
import { members } from './members.ts'
import { misses } from './misses.ts'
import { past } from './past.ts'
import { peers } from './peers/peers.ts'
import { project } from './project.ts'
import { proof } from './proof.ts'
import { rebuild } from './rebuild.ts'
import { redirect } from './redirect.ts'
import { rehearse } from './rehearse.ts'
import { scale } from './scale.ts'
import { start } from './start.ts'
import { streams } from './streams.ts'
import { sustained } from './sustained.ts'
import { uncached } from './uncached.ts'
import { visible } from './visible.ts'
import { visitlist } from './visitlist.ts'

const parts: Readonly<Record<string, (bench: Bench) => Promise<Line[]>>> = {
  redirect,
  sustained,
  uncached,
  busy,
  misses,
  append,
  create,
  eventstoredb,
  project,
  clicks,
  scale,
  start,
  dashboard,
  log,
  proof,
  visible,
  visitlist,
  list,
  members,
  history,
  past,
  peers,
  rehearse,
  streams,
  // it takes longest, and the tree over the log grows again after it
  rebuild,
}
/** parts that share a data set, and change it one after another */
const ofDataset: ReadonlySet<string> = new Set(['uncached', 'scale', 'rebuild', 'start'])

const {
  values: { quick },
  positionals: named,
} = parseArgs({ allowPositionals: true, options: { quick: { type: 'boolean', default: false } } })
const unknown = named.filter((name) => !(name in parts))
if (unknown.length > 0)
  throw new Error(`unknown benchmark ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`)

// the built program is measured, because it is what runs in production
const root = new URL('..', import.meta.url).pathname
entryOf(new URL('..', import.meta.url), { say: console.log, runsSources: false })

/**
 * Returns a function that writes the results so far to a file, which names the commit and the machine: a run takes
 * hours, and may be ended.
 */
const openResults = (machine: string) => {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const commit = git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '-changed')
  const at = new Date().toISOString()
  const file = join(root, 'bench/results', `${at.slice(0, 16).replaceAll(':', '')}-${commit}.json`)
  const write = async (results: readonly Line[]) => {
    await mkdir(join(root, 'bench/results'), { recursive: true })
    await writeFile(file, `${JSON.stringify({ at, commit, machine, results }, null, 2)}\n`)
  }
  return { file, write }
}

/** Returns whether a goal is met, for a line that has one. Little work says nothing about that. */
const verdictOf = ({ target, met }: Line) => (target === '' || quick ? '      ' : met ? 'met   ' : 'MISSED')

const dir = await mkdtemp(join(tmpdir(), 'linkledger-bench-'))
const postgres = await startEmbedded({ dir, log: () => {} })
try {
  const admin = new pg.Client(postgres.connection)
  await admin.connect()
  const { rows } = await admin.query<{ server_version: string }>('show server_version')
  await admin.end()
  const [cpu] = cpus()
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB`
  const machine = `${cpus().length} cores (${cpu?.model}), ${memory}, Node ${process.version}, PostgreSQL ${rows[0]?.server_version}`
  console.log(`${machine}\n`)

  const bench = openBench(dir, postgres.connection, quick)
  // writing a million links takes long, so it is only done when it is asked for
  const isUsual = (name: string) => name !== 'scale' || quick || hasScale(bench)
  const wanted = Object.keys(parts).filter((name) => (named.length > 0 ? named.includes(name) : isUsual(name)))
  const stored = quick ? undefined : openResults(machine)
  const results: Line[] = []
  const run = async (name: string) => {
    for (const line of await parts[name]!(bench)) {
      const { what, result, target } = line
      results.push(line)
      console.log(`${what.padEnd(52)} ${target.padEnd(14)} ${verdictOf(line)} ${result}`)
    }
    await stored?.write(results)
  }
  // the others go on
  const failures: string[] = []
  const report = (name: string) => (error: unknown) => {
    console.error(`${name} failed:`, error)
    failures.push(`${name} failed: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
    // what it has started would slow down the next ones
    if (!quick) stopAll()
  }
  const runAll = async (names: readonly string[]) => {
    for (const name of names) await run(name).catch(report(name))
  }
  // with little work, parts wait most of the time for what they start, so two of them share the machine
  const inOrder = wanted.filter((name) => !quick || ofDataset.has(name))
  const waiting = [inOrder, ...wanted.filter((name) => !inOrder.includes(name)).map((name) => [name])]
  const runWaiting = async () => {
    for (let names = waiting.shift(); names; names = waiting.shift()) await runAll(names)
  }
  await Promise.all(Array.from({ length: quick ? 2 : 1 }, runWaiting))
  if (stored) console.log(`\nwritten to ${stored.file}`)
  // of a long output, only the end may be kept
  for (const text of failures) console.error(text)
} finally {
  stopAll()
  await postgres.stop()
  await rm(dir, { recursive: true, force: true })
}
