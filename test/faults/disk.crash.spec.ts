import { expect } from 'chai'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from 'mocha'
import type { Connection } from '../../src/postgres/database.ts'
import { urlOf } from '../support/app.ts'
import { builtMain } from '../support/build.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { long, note, openStage, query, randomFrom, repeatable, rounds, seed } from '../support/faults.ts'
import { allCounted, listed, makeLinks, visitsTo } from '../support/load.ts'
import type { Service } from '../support/process.ts'
import { skipWithoutMount } from '../support/skip.ts'

describe(`the disk under the spool (${repeatable})`, function () {
  this.timeout(long ? 1_800_000 : 300_000)
  const random = randomFrom(seed)
  const stage = openStage()
  let connection: Connection
  let dir: string
  beforeEach(async () => {
    connection = await freshDatabase()
    dir = await stage.dir()
  })
  afterEach(stage.clear)

  const start = () =>
    stage.start({
      DATABASE_URL: urlOf(connection),
      SECRET: 'a secret for tests only',
      DATA_DIR: dir,
      LOG_LEVEL: 'warn',
    })
  const clicksOf = async (service: Service, key: string, links: readonly { readonly id: number }[]) => {
    await allCounted(service, key)
    const ids = new Set(links.map(({ id }) => id))
    const rows = (await listed(service, key)).filter(({ id }) => ids.has(Number(id)))
    return rows.reduce((sum, { clicks }) => sum + Number(clicks), 0)
  }
  const lossesOf = (type: 'ClicksDropped' | 'ClicksMissing') =>
    query<{ count: number }>(
      connection,
      `select coalesce((data->>'count')::int, (data->>'to')::int - (data->>'from')::int + 1) as count from log.events where type = $1`,
      [type],
    )

  /** Puts a folder on a file system of its own, by default the spool. Returns a function that gives it another size. */
  const smallDisk = async (test: Context, size: string, folder = join(dir, 'spool')) => {
    await mkdir(folder, { recursive: true })
    const mount = (options: string) => spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder])
    const mounted = mount(`size=${size}`)
    if (mounted.status !== 0) skipWithoutMount(test, String(mounted.stderr ?? mounted.error))
    stage.later(() => spawnSync('umount', ['--lazy', folder]))
    return (larger: string) => expect(mount(`remount,size=${larger}`).status).to.equal(0)
  }

  it('is full: every visit is redirected, and the log says exactly how many clicks were lost', async function () {
    const resize = await smallDisk(this, '640k')
    const service = await start()
    const { key } = await service.register()
    const links = await makeLinks(service, key, 5)

    const load = stage.load(service, 50, visitsTo(links, random))
    await load.answers(12_000 + random(1000), undefined, 100_000) // 10,000 are kept in memory
    expect(service.output()).to.include('the spool cannot be written')
    resize('64m')
    const output = await until(
      async () => service.output(),
      (text) => text.includes('the spool can be written again'),
    )
    expect(output).to.include('the spool can be written again')
    await load.answers(500)
    const visits = await load.stop()
    expect(new Set(visits.map(({ status }) => status))).to.deep.equal(new Set([302]))

    const clicks = await clicksOf(service, key, links)
    const dropped = (await lossesOf('ClicksDropped')).reduce((sum, { count }) => sum + count, 0)
    expect(dropped).to.be.greaterThan(0)
    expect(clicks + dropped).to.equal(visits.length)
    expect(await lossesOf('ClicksMissing')).to.deep.equal([])
    note(`${visits.length} answered, ${clicks} counted, ${dropped} recorded as lost`)
  })

  it('is full when the process is killed: every answered visit is counted or recorded as lost', async function () {
    const resize = await smallDisk(this, '640k')
    let service = await start()
    const { key } = await service.register()
    const links = await makeLinks(service, key, 5)
    let answered = 0
    let asked = 0
    for (const _ of rounds(1, 10)) {
      const load = stage.load(service, 30, visitsTo(links, random))
      await until(
        async () => service.output(),
        (text) => text.includes('the spool cannot be written'),
      )
      await load.answers(500 + random(random(2) === 0 ? 1000 : 11_000), undefined, 100_000)
      await service.end('SIGKILL')
      const visits = await load.stop()
      answered += visits.filter(({ status }) => status === 302).length
      asked += visits.length
      service = await start()
    }
    resize('64m')
    const clicks = await clicksOf(service, key, links)
    const losses = await lossesOf('ClicksDropped')
    const lost = losses.reduce((sum, { count }) => sum + count, 0)
    expect(lost).to.be.above(0)
    // a visit whose answer was on its way may be counted
    expect(clicks + lost).to.be.within(answered, asked)
    expect(await lossesOf('ClicksMissing')).to.deep.equal([])
    note(`${answered} answered, ${clicks} counted, ${lost} recorded as lost`)
  })

  it('is full when the process is killed: a link with max_clicks has redirected no visitor whose visit is lost', async function () {
    const resize = await smallDisk(this, '640k')
    let service = await start()
    const { key } = await service.register()
    const [endless, once, twice] = await makeLinks(service, key, 3)
    for (const [link, max_clicks] of [[once, 1] as const, [twice, 2] as const])
      expect(
        (await service.put(`/api/url/${link!.id}/update`, { key, body: { url: 'https://example.com/', max_clicks } }))
          .status,
      ).to.equal(200)
    const visit = async (link = once) => (await service.visit(`/${link!.alias}`)).status
    expect(await visit(twice)).to.equal(302)
    const load = stage.load(service, 30, visitsTo([endless!], random))
    await until(
      async () => service.output(),
      (text) => text.includes('the spool cannot be written'),
    )
    await load.stop()
    expect([await visit(), await visit(twice), await visit(endless)], 'on a full disk').to.deep.equal([503, 503, 302])
    const { json } = await service.operator.get('/readyz')
    expect((json['problems'] as string[]).join()).to.match(/^the disk of DATA_DIR\/spool takes no visits \(ENOSPC: /)
    await service.end('SIGKILL')
    resize('64m')
    service = await start()
    for (const link of [once, twice])
      expect(
        await until(
          () => visit(link),
          (status) => status !== 503,
        ),
      ).to.equal(302)
    expect([await visit(), await visit(twice)], 'no further visit').to.deep.equal([410, 410])
  })

  /** Writes a file that takes all the room of its disk, but for these bytes. */
  const fill = async (path: string, left: number) => {
    const file = await open(path, 'w')
    for (const size of [1024 ** 2, 1024])
      while (
        await file.write(Buffer.alloc(size)).then(
          ({ bytesWritten }) => bytesWritten === size,
          () => false,
        )
      );
    await file.truncate((await file.stat()).size - left)
    await file.close()
  }

  /** Starts a service whose disk is full, after it was stopped, or killed while it had no room. */
  const startFull = async (test: Context, end: 'stopped' | 'killed', left: number) => {
    const data = join(dir, 'data')
    const filler = join(data, 'filler')
    await smallDisk(test, '300m', data)
    const settings = { DATA_DIR: data, SECRET: 'a secret for tests only', PORT: '0', OPERATOR_PORT: '0' }
    const before = await stage.start(settings)
    const { key } = await before.register()
    await makeLinks(before, key, 20)
    if (end === 'killed') await fill(filler, 0)
    await before.end(end === 'killed' ? 'SIGKILL' : 'SIGTERM')
    await until(
      async () => existsSync(join(data, 'postgres', 'data', 'postmaster.pid')),
      (runs) => !runs,
      20_000,
    )
    await fill(filler, left)
    /** Recovery may find room by itself: PostgreSQL removes segments of its WAL that it needs no longer. */
    const isReady = (text: string) => end === 'killed' && text.includes('listens on')
    const starting = async () => {
      let output = ''
      const child = spawn(process.execPath, [await builtMain(), 'start'], {
        env: { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'warn', ...settings },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      stage.later(() => child.kill('SIGKILL'))
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text: Buffer) => (output += text.toString()))
      const exited = once(child, 'exit') as Promise<[number | null]>
      const says = (text: string) =>
        until(
          async () => output,
          (all) => all.includes(text) || isReady(all) || child.exitCode !== null,
          60_000,
        )
      const said = await says('the disk is full: the service starts when there is room')
      if (!isReady(said)) expect(said).to.match(/no space left/i)
      expect(child.exitCode, output).to.equal(null)
      return { says, end: async () => (child.kill('SIGTERM'), (await exited)[0]) }
    }
    expect(await (await starting()).end(), 'stopped while it waits').to.equal(0)
    const waiting = await starting()
    await rm(filler)
    expect(await waiting.says('listens on')).to.include('listens on')
    expect(await waiting.end()).to.equal(0)
  }

  it('is full, with the embedded PostgreSQL on it, when the service starts: it says so, and starts when there is room', async function () {
    await startFull(this, 'stopped', 0)
  })
  it('has room for 8 KB when the service starts after kill -9: it says that the disk is full, and starts when there is room', async function () {
    await startFull(this, 'killed', 8192)
  })

  it('lost power and has a damaged entry: the service starts, counts the readable clicks and records the missing one', async () => {
    let service = await start()
    const { key } = await service.register()
    const links = await makeLinks(service, key, 5)
    let kept = 0
    for (const round of rounds(1, 20)) {
      // nothing can be appended to the log, so all clicks stay in the spool
      const holder = await stage.connect(connection)
      await holder.query('select pg_advisory_lock(7275463)')
      const load = stage.load(service, 20, visitsTo(links, random))
      await load.answers(100 + random(500))
      const visits = (await load.stop()).length
      await service.end('SIGKILL')
      // its connections are cut before the lock is released: their appends must not be executed after all
      await holder.query(
        `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      )
      await holder.end()

      const file = join(
        dir,
        'spool',
        (await readdir(join(dir, 'spool')))
          .filter((name) => /^\d+\.spool$/.test(name))
          .toSorted()
          .at(-1)!,
      )
      const lines = (await readFile(file, 'latin1')).split('\n')
      expect(lines.pop()).to.equal('')
      const [before, mine] = [lines.slice(0, -visits), lines.slice(-visits)]
      const left = mine.slice(0, visits - 1 - random(50))
      const torn = mine[left.length]!
      const bad = 1 + random(left.length - 2)
      const at = 10 + random(left[bad]!.length - 10)
      left[bad] = `${left[bad]!.slice(0, at)}\u0000${left[bad]!.slice(at + 1)}`
      await writeFile(file, [...before, ...left, torn.slice(0, random(torn.length))].join('\n'), 'latin1')
      kept += left.length - 1

      service = await start()
      expect(await clicksOf(service, key, links)).to.equal(kept)
      const missing = await lossesOf('ClicksMissing')
      expect(missing.map(({ count }) => count)).to.deep.equal(Array.from({ length: round + 1 }, () => 1))
      const ready = await until(
        () => service.operator.get('/readyz?of=api'),
        ({ status }) => status === 200,
      )
      expect(ready.status).to.equal(200)
    }
  })
})
