/**
 * Stores data as the current release writes it, as test data for later releases:
 *
 *     npx tsx test/releases/write.ts
 *
 * creates the folder test/releases/<version in package.json>. Run it once, just before a release is tagged, and commit
 * the folder. It refuses to overwrite an existing folder.
 */
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSpool } from '../../src/clicks/spool/spool.ts'
import { pngOf } from '../../src/qr/logo.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { randomFrom } from '../support/faults.ts'
import { closeSharedImages } from '../support/images.ts'
import { noise } from '../support/qr.ts'
import { stopServer } from '../support/server.ts'
import { visit } from '../support/spool.ts'
import { readEvents, readState, readTableNames, readTables, schemaSql, withClient } from './database.ts'
import { foldAll } from './folds.ts'
import { apiQuestions, ask, publicQuestions, wordsIn } from './questions.ts'
import { isRecorded, readLines, type Release, releases, settingsOf, startOn, type StoredSpool } from './release.ts'
import { provingResolver, topic } from './operator.ts'
import { populate } from './populate.ts'
import type { Account } from './resources.ts'
import { ownHost, visitOnce } from './visits.ts'

const root = new URL('../../', import.meta.url)
const migrations = new URL('src/postgres/migrations/', root)

const json = (value: unknown) => `${JSON.stringify(value, null, 1)}\n`
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

/** The advisory lock that every append takes: while another session holds it, visits stay in the spool. */
const appendLock = 7275463

interface Line {
  readonly spool?: string
  readonly route?: { readonly log: string }
  readonly partition?: number
  readonly seq?: number
}

/**
 * Returns the partitions of the spool in a folder. Each line of its files is a checksum and JSON: headers first, then
 * visits.
 */
const spoolIn = async (dir: string): Promise<StoredSpool[]> => {
  const files = (await readdir(dir)).filter((name) => name.endsWith('.spool')).sort()
  const texts = await Promise.all(files.map((name) => readFile(join(dir, name), 'utf8')))
  const entries = texts
    .flatMap((text) => text.split('\n').filter(Boolean))
    .map((line) => JSON.parse(line.slice(9)) as Line)
  const [header] = entries
  if (header?.spool === undefined) throw new Error(`${dir} holds no spool`)
  const last = new Map<number, number>()
  for (const { partition, seq = 0 } of entries) if (partition !== undefined) last.set(partition, seq)
  const { spool: id, route } = header
  return [...last].map(([partition, seq]) => ({ id, stream: `clicks-${route?.log}-${partition}`, last: seq }))
}

/** Leaves a spool as it remains when Kafka is switched off while the spool still has visits for it. */
const leaveKafkaSpool = async (dir: string, { id: account }: Account) => {
  const spool = await openSpool({ dir, route: { log: topic.log, partitions: topic.partitions }, log: () => {} })
  for (let n = 1; n <= 12; n++) await spool.add(visit(n, { account, link: 3 + (n % 3) }))
  await spool.close()
}

/** Returns whether the service has cleared its files of the account that was erased: later, that would be an event more. */
const isErasedOnDisk = ({ connection }: TestApp) =>
  withClient(
    connection,
    async (client) => (await client.query(`select from log.events where type = 'AccountErasedOnDisk'`)).rowCount === 1,
  )

/** Stores log, state and spools as a killed process leaves them: only the spools have the newest visits. */
const storeData = async (app: TestApp, dir: string, identity: Omit<Release, 'spools'>) => {
  const [from, to] = [join(app.dir, 'spool'), join(dir, 'spool')]
  const before = await spoolIn(from)
  if (!(await until(() => withClient(app.connection, (client) => isRecorded(client, before)), Boolean, 60_000)))
    throw new Error('the visits were not recorded')
  if (!(await until(() => isErasedOnDisk(app), Boolean, 120_000)))
    throw new Error('the files of the database were not cleared')
  await withClient(app.connection, async (client) => {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [appendLock])
    await visitOnce(app)
    await cp(from, to, { recursive: true })
    const kafka = join(to, 'kafka', `${topic.log}-${topic.partitions}`)
    await leaveKafkaSpool(kafka, identity.accounts[0]!)
    const spools = [...(await spoolIn(to)), ...(await spoolIn(kafka))]
    if (await isRecorded(client, spools.slice(0, 1))) throw new Error('no visit was left in the spool')
    await writeFile(join(dir, 'release.json'), json({ ...identity, spools }))
    await writeFile(join(dir, 'schema.sql'), await schemaSql(migrations))
    await writeFile(join(dir, 'log.jsonl'), lines(await readEvents(client)))
    await writeFile(join(dir, 'state.json'), json(await readState(client)))
    await client.query('rollback')
  })
}

/** Returns the public paths of the QR codes of the first four accounts. */
const qrPaths = async (app: TestApp, accounts: readonly Account[]) => {
  const lists = await Promise.all(accounts.slice(0, 4).map(({ key }) => app.get('/api/qr', { key })))
  return lists
    .flatMap(({ json: list }) => (list['data']?.qrs ?? []) as { link: string }[])
    .map(({ link }) => new URL(link).pathname)
}

/** Stores what the service derives from the data: states, rows and responses. */
const storeExpectations = async (dir: string) => {
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
    // last, because visits to public pages are recorded
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
  if (existsSync(dir)) throw new Error(`${dir} exists: a stored release is never overwritten`)
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished)
  const identity = { version, baseUrl: `http://${ownHost}`, secret: 'a secret that is stored with test data' }
  const resolver = provingResolver(() => app.app.ledger)
  const app: TestApp = await startTestApp(settingsOf(identity), await freshDatabase(), { resolver })
  try {
    const logo = `data:image/png;base64,${pngOf(noise(20, 20, randomFrom(7))).toString('base64')}`
    const accounts = await populate(app, logo)
    await storeData(app, unfinished, { ...identity, accounts })
  } finally {
    await app.close()
  }
  await storeExpectations(unfinished)
  await rename(unfinished, dir)
}

// contains the database of this run
const home = await mkdtemp(join(tmpdir(), 'linkledger-write-'))
process.env['LINKLEDGER_TEST_DIR'] = home
try {
  await write()
} finally {
  await closeSharedImages()
  await stopServer()
  await rm(home, { recursive: true, force: true })
}
