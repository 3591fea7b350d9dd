import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { type Json, restore, type State, withClient } from './database.ts'
import type { Account } from './story.ts'

/** Where the stored releases are: a folder each, named by its version. */
export const releases = new URL('./', import.meta.url).pathname

/** What has to be known of a release to go on with its data. */
export interface Release {
  readonly version: string
  readonly baseUrl: string
  readonly secret: string
  /** the spool folder's id, and the number of its newest visit: what is recorded once all of it is */
  readonly spool: { readonly id: string; readonly last: number }
  readonly accounts: readonly Account[]
}

export const readJson = async <T>(dir: string, name: string) => JSON.parse(await readFile(join(dir, name), 'utf8')) as T
export const readLines = async (dir: string, name: string) =>
  (await readFile(join(dir, name), 'utf8'))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Json)

/** Settings of a service that works on a stored release. */
export const settingsOf = ({ baseUrl, secret }: Pick<Release, 'baseUrl' | 'secret'>) => ({
  BASE_URL: baseUrl,
  SECRET: secret,
  TRUST_PROXY: '1',
  REGISTRATION: 'open',
})

/** Every visit of the spool is in the log, and all read tables have all of the log. */
const caughtUp = ({ app, connection }: TestApp, { id, last }: Release['spool']) =>
  withClient(connection, async (client) => {
    const { rows } = await client.query<{ done: boolean }>(
      `with head as (select type = 'LinkClicked' as clicks, max(position) as position from log.events group by 1)
       select coalesce((select max((data->'upTo'->>$1)::int) from log.events where stream = 'clicks-local-0'), 0) >= $2
         and not exists (
           select 1 from read.checkpoints c
           where c.live and c.position < (select position from head where clicks = (c.projection = 'stats'))) as done`,
      [id, last],
    )
    const ready = await fetch(`${app.address}/readyz`)
    return rows[0]?.done === true && ready.status === 200
  })

/** Starts today's service on a copy of a stored release; resolves when it has recorded and projected everything. */
export const startOn = async (dir: string) => {
  const release = await readJson<Release>(dir, 'release.json')
  const schema = await readFile(join(dir, 'schema.sql'), 'utf8')
  const connection = await freshDatabase()
  await restore(connection, schema, await readLines(dir, 'log.jsonl'), await readJson<State>(dir, 'state.json'))
  const data = await mkdtemp(join(tmpdir(), 'linkledger-release-'))
  await cp(join(dir, 'spool'), join(data, 'spool'), { recursive: true })
  const app = await startTestApp({ ...settingsOf(release), DATA_DIR: data }, connection)
  const close = async () => {
    await app.close()
    await rm(data, { recursive: true, force: true })
  }
  try {
    if (!(await until(() => caughtUp(app, release.spool), Boolean, 60_000)))
      throw new Error(`the service did not record and project everything that ${release.version} had stored`)
    return { app, release, close }
  } catch (error) {
    await close()
    throw error
  }
}
