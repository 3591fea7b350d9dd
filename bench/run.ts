// npm run bench [-- redirect append create project visible list]: runs all benchmarks, or the named ones.
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../src/postgres/embedded.ts'
import { append } from './append.ts'
import { create } from './create.ts'
import { type Bench, type Line, openBench, stopAll } from './kit.ts'
import { list } from './list.ts'
import { project } from './project.ts'
import { redirect } from './redirect.ts'
import { visible } from './visible.ts'

const parts: Readonly<Record<string, (bench: Bench) => Promise<Line[]>>> = {
  redirect,
  append,
  create,
  project,
  visible,
  list,
}
const named = process.argv.slice(2)
const unknown = named.filter((name) => !(name in parts))
if (unknown.length > 0)
  throw new Error(`unknown benchmark ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`)

// the built program is measured, because it is what runs in production
execFileSync('npm', ['run', '--silent', 'build'], { cwd: new URL('..', import.meta.url), stdio: 'inherit' })

const dir = await mkdtemp(join(tmpdir(), 'linkledger-bench-'))
const postgres = await startEmbedded({ dir, log: () => {} })
try {
  const admin = new pg.Client(postgres.connection)
  await admin.connect()
  const { rows } = await admin.query<{ server_version: string }>('show server_version')
  await admin.end()
  const [cpu] = cpus()
  console.log(
    `${cpus().length} cores (${cpu?.model}), Node ${process.version}, PostgreSQL ${rows[0]?.server_version}\n`,
  )

  const bench = openBench(dir, postgres.connection)
  for (const [name, part] of Object.entries(parts)) {
    if (named.length > 0 && !named.includes(name)) continue
    for (const { what, result, target, met } of await part(bench))
      console.log(`${what.padEnd(52)} ${target.padEnd(14)} ${met ? 'met   ' : 'MISSED'} ${result}`)
  }
} finally {
  stopAll()
  await postgres.stop()
  await rm(dir, { recursive: true, force: true })
}
