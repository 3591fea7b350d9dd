import { readdirSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from 'pg'
import { openDatabase } from '../../src/postgres/database.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { projections } from '../../src/projections/index.ts'
import { openKeys } from '../../src/security/keyring.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { type Json, restore, type State, withClient } from './database.ts'
import type { Account } from './resources.ts'

/** The folder of the stored releases. Each has a subfolder named by its version. */
export const releases = new URL('./', import.meta.url).pathname

/** The versions of the stored releases. */
export const versions = readdirSync(releases, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && /^\d/.test(entry.name))
  .map(({ name }) => name)

/** A partition of a spool: the click stream its visits are recorded in, and the number of its newest visit. */
export interface StoredSpool {
  readonly id: string
  readonly stream: string
  readonly last: number
}

/** What a service needs to continue with the data of a release. */
export interface Release {
  readonly version: string
  readonly baseUrl: string
  readonly secret: string
  readonly spools: readonly StoredSpool[]
  readonly accounts: readonly Account[]
}

export const readJson = async <T>(dir: string, name: string) => JSON.parse(await readFile(join(dir, name), 'utf8')) as T
export const readLines = async (dir: string, name: string) =>
  (await readFile(join(dir, name), 'utf8'))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Json)

/** Returns the settings of a service that uses the data of a stored release. */
export const settingsOf = ({ baseUrl, secret }: Pick<Release, 'baseUrl' | 'secret'>) => ({
  BASE_URL: baseUrl,
  SECRET: secret,
  TRUST_PROXY: '1',
  REGISTRATION: 'open',
})

/** Returns whether the log has every visit of these spools. */
export const isRecorded = async (client: Client, spools: readonly StoredSpool[]) => {
  for (const { id, stream, last } of spools) {
    const { rows } = await client.query<{ n: number | null }>(
      "select max((data->'upTo'->>$1)::int) as n from log.events where stream = $2",
      [id, stream],
    )
    if ((rows[0]?.n ?? 0) < last) return false
  }
  return true
}

/** Returns whether all read tables are up to date with the log. */
const isProjected = async (client: Client) => {
  const { rows } = await client.query<{ behind: boolean }>(
    `with head as (select type = 'LinkClicked' as clicks, max(position) as position from log.events group by 1)
     select exists (
       select 1 from read.checkpoints c
       where c.live and c.position < (select position from head where clicks = (c.projection = any ($1)))) as behind`,
    [projections.filter(({ filter }) => filter === 'clicks').map(({ name }) => name)],
  )
  return rows[0]?.behind === false
}

const isCaughtUp = async ({ app, connection }: TestApp, { spools }: Release) => {
  if ((await fetch(`${app.address}/readyz`)).status !== 200) return false
  return withClient(connection, async (client) => (await isRecorded(client, spools)) && (await isProjected(client)))
}

/** Returns a new database with a stored log and state. */
export const restored = async (dir: string) => {
  const connection = await freshDatabase()
  const schema = await readFile(join(dir, 'schema.sql'), 'utf8')
  await restore(connection, schema, await readLines(dir, 'log.jsonl'), await readJson<State>(dir, 'state.json'))
  return connection
}

/** Opens the keys that decrypt the sealed fields of a stored log. */
export const openKeysOf = async (dir: string) => {
  const { secret } = await readJson<Release>(dir, 'release.json')
  const db = openDatabase(await restored(dir), { name: 'spec', max: 1, timeout: 30_000, onError: () => {} })
  await migrate(db)
  return { keys: await openKeys(db, secret), close: () => db.destroy() }
}

/** Starts the current service on a copy of a stored release; resolves when it has recorded and projected everything. */
export const startOn = async (dir: string) => {
  const release = await readJson<Release>(dir, 'release.json')
  const connection = await restored(dir)
  const data = await mkdtemp(join(tmpdir(), 'linkledger-release-'))
  await cp(join(dir, 'spool'), join(data, 'spool'), { recursive: true })
  const app = await startTestApp({ ...settingsOf(release), DATA_DIR: data }, connection)
  const close = async () => {
    await app.close()
    await rm(data, { recursive: true, force: true })
  }
  try {
    if (!(await until(() => isCaughtUp(app, release), Boolean, 60_000)))
      throw new Error(`the service did not record and project everything that ${release.version} had stored`)
    return { app, release, close }
  } catch (error) {
    await close()
    throw error
  }
}
