import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { run } from '../../src/cli/run.ts'
import { startTestApp, urlOf } from '../support/app.ts'
import { freshDatabase } from '../support/database.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { openStage, query } from '../support/faults.ts'
import { runCommand } from '../support/process.ts'

const root = join(import.meta.dirname, '../..')

describe('linkledger log export and import', function () {
  this.timeout(300_000)
  const stage = openStage()
  after(stage.clear)
  let app: Awaited<ReturnType<typeof startTestApp>>
  let key: string
  let dir: string
  before(async () => {
    dir = await stage.dir()
    app = await startTestApp()
    stage.later(app.close)
    key = (await app.register()).key
  })
  const addLinks = async (count: number) => {
    for (let n = 0; n < count; n++)
      expect((await app.post('/api/url/add', { key, body: { url: `https://example.com/${n}` } })).status).to.equal(200)
  }
  const own = () => ({ DATA_DIR: app.dir, DATABASE_URL: urlOf(app.connection) })
  const succeed = async (args: readonly string[], settings: Readonly<Record<string, string>>) => {
    const { code, out, err } = await runCommand(['log', ...args], settings)
    expect([code, err]).to.deep.equal([0, ''])
    return out
  }

  it('carry the log of a running service to another engine and back, byte by byte, and continue when repeated', async () => {
    const [early, late, back] = ['early.ndjson.gz', 'late.ndjson', 'back.ndjson'].map((name) => join(dir, name)) as [
      string,
      string,
      string,
    ]
    await addLinks(3)
    await succeed(['export', early], own())
    await addLinks(3)
    await succeed(['export', late], own())
    expect(await readFile(late, 'utf8')).to.include(
      gunzipSync(await readFile(early))
        .toString()
        .split('\n')[1],
    )

    const server = await startDouble()
    stage.later(server.close)
    const onEventStore = {
      DATA_DIR: await stage.dir(),
      DATABASE_URL: urlOf(await freshDatabase()),
      EVENTSTORE_URL: server.url,
    }
    // the beginning of the log is what an interrupted import leaves
    await succeed(['import', early], onEventStore)
    expect(await succeed(['import', late], onEventStore)).to.match(/^\d+ events are imported and verified\.$/m)
    expect(await succeed(['import', late], onEventStore)).to.match(/^\d+ events are imported and verified\.$/m)
    await succeed(['export', back], onEventStore)
    expect(await readFile(back, 'utf8')).to.equal(await readFile(late, 'utf8'))

    const older = await runCommand(['log', 'import', early], onEventStore)
    expect(older.err).to.match(/^linkledger: the target holds more than this log/)
  })

  it('store nothing of a file with one changed byte', async () => {
    const file = join(dir, 'changed.ndjson')
    await succeed(['export', file], own())
    const text = await readFile(file, 'utf8')
    const lines = text.split('\n')
    await writeFile(file, text.replace('https://example.com/2', 'https://example.com/3'))
    const line = lines.findIndex((one) => one.includes('https://example.com/2')) + 1

    const target = await freshDatabase()
    const refused = await runCommand(['log', 'import', file], {
      DATA_DIR: await stage.dir(),
      DATABASE_URL: urlOf(target),
    })
    expect([refused.code, refused.err]).to.deep.equal([
      1,
      `linkledger: line ${line} of ${file} is damaged: its checksum does not match. Nothing was changed; use another copy of the file\n`,
    ])
    expect(await query(target, `select to_regclass('log.events') as events`)).to.deep.equal([{ events: null }])
  })

  it('use standard output and input for -', async () => {
    const chunks: Buffer[] = []
    const output = new Writable({
      write: (chunk: Buffer, _, done) => {
        chunks.push(chunk)
        done()
      },
    })
    const printed: string[] = []
    const print = (line: string) => void printed.push(`out ${line}`)
    const printError = (line: string) => void printed.push(`err ${line}`)
    const cli = { print, printError }
    expect(await run(['log', 'export', '-'], { ...cli, variables: own(), output })).to.equal(0)
    const target = { DATA_DIR: await stage.dir(), DATABASE_URL: urlOf(await freshDatabase()) }
    const input = Readable.from(chunks)
    expect(await run(['log', 'import', '-'], { ...cli, variables: target, input })).to.equal(0)
    expect(printed).to.have.lengthOf(2)
    expect(printed[0]).to.match(/^err \d+ events are exported\.$/)
    expect(printed[1]).to.match(/^out \d+ events are imported and verified\.$/)
  })

  it('say, as a backup does, that a restore has not finished, before anything else', async () => {
    const restored = await freshDatabase()
    const variables = { DATA_DIR: await stage.dir(), DATABASE_URL: urlOf(restored) }
    const printed: string[] = []
    const print = (line: string) => void printed.push(line)
    const output = new Writable({ write: (_, __, done) => done() })
    const exported = () => run(['log', 'export', '-'], { print, printError: print, variables, output })
    await exported()
    await query(restored, 'insert into state.restores (log) values (gen_random_uuid())')
    expect(await exported()).to.equal(1)
    expect(await run(['backup', '-'], { print, printError: print, variables, output })).to.equal(1)
    for (const line of printed.slice(-2))
      expect(line).to.match(/a restore that began at \S+ has not finished: run `linkledger restore`/)
  })

  it('make files that the program in their description can check', async () => {
    const file = join(dir, 'described.ndjson')
    await succeed(['export', file], own())
    const page = await readFile(join(root, 'docs/archive.md'), 'utf8')
    const program = /```js\n(.*?)```/s.exec(page)?.[1] ?? ''
    const check = () => execFileSync(process.execPath, ['-e', program], { cwd: dir, stdio: 'pipe' }).toString()
    const text = await readFile(file, 'utf8')
    await writeFile(join(dir, 'backup.ndjson'), text)
    expect(check()).to.match(/^\d+ lines are as they were written$/m)
    await writeFile(join(dir, 'backup.ndjson'), text.replace('example.com/2', 'example.com/3'))
    expect(check).to.throw('is damaged')
  })

  it('say of a log that leaves out an event, as a backup does, that it is stored elsewhere on demand only', async () => {
    const secret = { SECRET: 'a secret for tests only' }
    const added = await app.post('/api/url/add', { key, body: { url: 'https://example.com/gap', custom: 'gap' } })
    const id = Number(added.json['id'])
    for (const title of ['one', 'two', 'three'])
      await app.put(`/api/url/${id}/update`, { key, body: { url: 'https://example.com/changed', title } })
    await query(app.connection, 'delete from log.events where stream = $1 and revision in (1, 2)', [`link-${id}`])
    // two events in the place of each other
    const moved = Number(
      (await app.post('/api/url/add', { key, body: { url: 'https://example.com/moved' } })).json['id'],
    )
    await app.put(`/api/url/${moved}/update`, { key, body: { url: 'https://example.com/on' } })
    const place = await query<{ position: string; revision: string }>(
      app.connection,
      'select position, revision from log.events where stream = $1 order by revision',
      [`link-${moved}`],
    )
    await query(app.connection, 'update log.events set position = $1 where position = $2', [1e9, place[0]?.position])
    await query(app.connection, 'update log.events set position = $1 where position = $2', [
      place[0]?.position,
      place[1]?.position,
    ])
    await query(app.connection, 'update log.events set position = $1 where position = $2', [place[1]?.position, 1e9])

    const [file, saved] = [join(dir, 'gap.ndjson'), join(dir, 'gap.backup')]
    for (const command of [
      ['log', 'export', file],
      ['backup', saved],
    ]) {
      const { code, err } = await runCommand(command, { ...own(), ...secret })
      expect([code, err]).to.deep.equal([1, err])
      expect(err).to.match(
        /the log leaves out revisions at 1 of its events.* only with --with-gaps: `linkledger verify`/,
      )
    }
    const restored = await freshDatabase()
    const target = { DATA_DIR: await stage.dir(), DATABASE_URL: urlOf(restored), ...secret }
    const refused = await runCommand(['restore', saved], target)
    expect(refused.err).to.include(`the log leaves out revision 1 of link-${id}`).and.to.include('--with-gaps')
    const { code, out, err } = await runCommand(['restore', saved, '--with-gaps'], target)
    expect([code, err]).to.deep.equal([0, ''])
    expect(out).to.include(
      `are missing or moved: link-${id} at revision 3, link-${moved} at revision 1, link-${moved} at`,
    )
    const events = 'select stream, revision, id, data::text from log.events order by position'
    expect(await query(restored, events)).to.deep.equal(await query(app.connection, events))
    const verified = await runCommand(['verify'], target)
    expect(verified.code, 'the gap stays a finding').to.equal(1)
    expect(verified.err).to.match(new RegExp(`of link ${id},.* leaves out what was before it`))
    const again = await startTestApp({}, restored)
    stage.later(again.close)
    expect((await again.visit('/gap')).headers.get('Location')).to.equal('https://example.com/gap')

    const server = await startDouble()
    stage.later(server.close)
    const onEventStore = { ...target, DATABASE_URL: urlOf(await freshDatabase()), EVENTSTORE_URL: server.url }
    const numbered = await runCommand(['log', 'import', file, '--with-gaps'], onEventStore)
    expect([numbered.code, numbered.err]).to.deep.equal([2, numbered.err])
    expect(numbered.err).to.include('--with-gaps needs a log in PostgreSQL')
  })
})
