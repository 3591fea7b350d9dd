/**
 * Stores data as the present release writes it, for later releases to be tested with:
 *
 *     npx tsx test/releases/write.ts
 *
 * makes the folder test/releases/<version in package.json>. Run it once, just before a release is tagged, and commit the folder;
 * a folder that is there already is never written again.
 */
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pngOf } from '../../src/qr/logo.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { randomFrom } from '../support/faults.ts'
import { noise } from '../support/qr.ts'
import { stopServer } from '../support/server.ts'
import { readEvents, readState, readTableNames, readTables, schemaSql, withClient } from './database.ts'
import { foldAll } from './folds.ts'
import { apiQuestions, ask, publicQuestions, wordsIn } from './questions.ts'
import { readLines, type Release, releases, settingsOf, startOn } from './release.ts'
import { type Account, ownHost, tellStory, visitOnce } from './story.ts'

const root = new URL('../../', import.meta.url)
const migrations = new URL('src/postgres/migrations/', root)

const json = (value: unknown) => `${JSON.stringify(value, null, 1)}\n`
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

/** The lock under which events are appended: while another session has it, visits stay in the spool. */
const appendLock = 7275463

/** Each entry of a spool file is a checksum and JSON. */
const spoolOf = async (dir: string): Promise<Release['spool']> => {
  const files = (await readdir(dir)).filter((name) => name.endsWith('.spool')).sort()
  const texts = await Promise.all(files.map((name) => readFile(join(dir, name), 'utf8')))
  const entries = texts
    .flatMap((text) => text.split('\n').filter(Boolean))
    .map((line) => JSON.parse(line.slice(9)) as { spool?: string; seq?: number })
  const id = entries.find(({ spool }) => spool !== undefined)?.spool
  if (id === undefined) throw new Error(`${dir} holds no spool`)
  return { id, last: Math.max(...entries.map(({ seq = 0 }) => seq)) }
}

/** What is in the log of the spool's visits. */
const recorded = (app: TestApp, id: string) =>
  withClient(app.connection, async (client) => {
    const { rows } = await client.query<{ n: number | null }>(
      "select max((data->'upTo'->>$1)::int) as n from log.events where stream = 'clicks-local-0'",
      [id],
    )
    return rows[0]?.n ?? 0
  })

/** Stores log, state and spool as a killed process leaves them: the newest visits are in the spool alone. */
const storeData = async (app: TestApp, dir: string, identity: Omit<Release, 'spool'>) => {
  const spoolDir = join(app.dir, 'spool')
  const before = await spoolOf(spoolDir)
  if (
    (await until(
      () => recorded(app, before.id),
      (n) => n >= before.last,
      60_000,
    )) < before.last
  )
    throw new Error('the visits of the story were not recorded')
  await withClient(app.connection, async (client) => {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [appendLock])
    await visitOnce(app)
    await cp(spoolDir, join(dir, 'spool'), { recursive: true })
    const release: Release = { ...identity, spool: await spoolOf(join(dir, 'spool')) }
    if (release.spool.last <= before.last) throw new Error('no visit was left in the spool')
    await writeFile(join(dir, 'release.json'), json(release))
    await writeFile(join(dir, 'schema.sql'), await schemaSql(migrations))
    await writeFile(join(dir, 'log.jsonl'), lines(await readEvents(client)))
    await writeFile(join(dir, 'state.json'), json(await readState(client)))
    await client.query('rollback')
  })
}

/** Public addresses of an account's QR codes. */
const qrPaths = async (app: TestApp, accounts: readonly Account[]) => {
  const lists = await Promise.all(accounts.slice(0, 4).map(({ key }) => app.get('/api/qr', { key })))
  return lists
    .flatMap(({ json: list }) => (list['data']?.qrs ?? []) as { link: string }[])
    .map(({ link }) => new URL(link).pathname)
}

/** Stores what the service makes of the data: states, rows and responses. */
const storeMeaning = async (dir: string) => {
  const { app, release, close } = await startOn(dir)
  try {
    const { ledger } = app.app
    const streams = [...new Set((await readLines(dir, 'log.jsonl')).map(({ stream }) => String(stream)))]
    await writeFile(join(dir, 'folds.json'), json(await foldAll(ledger, streams)))
    const names = await readTableNames(app.connection)
    await writeFile(join(dir, 'tables.json'), json(await readTables(app.connection, names, ledger.tables.name)))

    const answers = []
    for (const question of apiQuestions(release.accounts))
      answers.push({ question, reply: await ask(app.address, question, release.accounts) })
    const words = wordsIn(answers.map(({ reply }) => reply.json))
    // visits are recorded: pages come last
    for (const question of publicQuestions(await qrPaths(app, release.accounts)))
      answers.push({ question, reply: await ask(app.address, question, release.accounts, words) })
    await writeFile(join(dir, 'answers.jsonl'), lines(answers))
  } finally {
    await close()
  }
}

const write = async () => {
  const { version } = JSON.parse(await readFile(new URL('package.json', root), 'utf8')) as { version: string }
  const [dir, unfinished] = [join(releases, version), join(releases, `.${version}`)]
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished)
  const identity = { version, baseUrl: `http://${ownHost}`, secret: 'a secret that is stored with test data' }
  const app = await startTestApp(settingsOf(identity))
  try {
    const logo = `data:image/png;base64,${pngOf(noise(20, 20, randomFrom(7))).toString('base64')}`
    const accounts = await tellStory(app, logo)
    await storeData(app, unfinished, { ...identity, accounts })
  } finally {
    await app.close()
  }
  await storeMeaning(unfinished)
  await rename(unfinished, dir)
}

try {
  await write()
} finally {
  await stopServer()
}
