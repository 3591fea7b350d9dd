import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { FoundImport } from '../../../src/http/imports/contract.ts'
import { importFolder } from '../../../src/http/imports/file.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'

type Own = Awaited<ReturnType<TestApp['register']>>
type Details = FoundImport['details']

describe('imports from other services', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp()
  })
  after(() => app.close())

  const send = (own: Own, file: string, query = '', on = app) =>
    on.post(`/api/import?${query}`, {
      ...own,
      body: file,
      headers: { 'Content-Type': 'application/octet-stream' },
    })
  const detailsOf = async (own: Own, id: string, on = app) =>
    (await on.get(`/api/import/${id}`, own)).json['details'] as unknown as Details
  const ended = (own: Own, id: string, on = app) =>
    until(
      () => detailsOf(own, id, on),
      ({ state }) => !['checking', 'running', 'undoing'].includes(state),
      150_000,
    )
  const bring = async (own: Own, file: string, query = '', on = app) => {
    const { status, json } = await send(own, file, query, on)
    expect(status, JSON.stringify(json)).to.equal(200)
    return ended(own, json['id'] as string, on)
  }
  const links = async (own: Own, on = app) =>
    (await on.get('/api/urls?limit=1000&archived=all&fields=id,alias,longurl,clicks,date,title', own)).json['data']
      .urls as { id: number; alias: string; longurl: string; clicks: number }[]
  /** What the account answers now, without what is about the answer itself. */
  const sumOf = async (own: Own) => {
    const paths = [
      '/api/account',
      '/api/urls?limit=1000&archived=all',
      '/api/tags',
      '/api/campaigns',
      '/api/urls?order=click',
    ]
    const answers = await Promise.all(paths.map(async (path) => (await app.get(path, own)).json))
    return createHash('sha256').update(JSON.stringify(answers)).digest('hex')
  }
  const table = (n: number, prefix = 'm') =>
    ['alias,url,title,created,clicks']
      .concat(
        Array.from(
          { length: n },
          (_, i) => `${prefix}${i},https://example.com/${prefix}/${i},Title ${i},2021-01-01T00:00:0${i % 10}Z,${i}`,
        ),
      )
      .join('\n')

  it('creates the links of a file in the background, and reports the result for each', async () => {
    const own = await app.register()
    const details = await bring(own, `${table(1200, 'bg')}\n,not an address,x,,\n`, 'name=links.csv')
    expect(details).to.include({ state: 'done', format: 'csv', created: 1200, failed: 1, name: 'links.csv' })
    expect(details.notes.map(({ place, outcome }) => [place, outcome])).to.deep.equal([['line 1202', 'failed']])
    const found = await links(own)
    expect(found.find(({ alias }) => alias === 'bg7')).to.include({ clicks: 7, date: '2021-01-01 00:00:07' })
    const { text } = await app.get(`/api/import/${details.id}/report`, own)
    expect(text.split('\r\n')).to.have.length(1203)
    const { imports } = (await app.get('/api/imports', own)).json['data'] as { imports: object[] }
    expect(imports).to.have.length(1)
    expect(imports[0]).to.include({ id: details.id, format: 'csv', links: 1200, undone: '' })
  })

  it('gives a link all the addresses that it has there, and takes them back with it', async () => {
    const own = await app.register()
    const before = await sumOf(own)
    const links = [
      {
        ...{ id: 'bit.ly/main-1', link: 'https://bit.ly/main-1', long_url: 'https://example.com/a' },
        // two hosts that are one here
        custom_bitlinks: ['more-1', 'more-2', 'taken-1']
          .map((name) => `https://bit.ly/${name}`)
          .concat('https://go.example/more-1'),
      },
      { id: 'bit.ly/main-2', link: 'https://bit.ly/main-2', long_url: 'https://example.com/b', custom_bitlinks: [] },
    ]
    const other = await app.register()
    await app.post('/api/url/add', { ...other, body: { url: 'https://example.org/', custom: 'taken-1' } })
    const file = JSON.stringify({ links })
    const outcomes = async (id: string) =>
      (await app.get(`/api/import/${id}/report`, own)).text
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(',').flatMap((cell, n) => (n === 1 || n === 3 ? [cell] : [])))
    const expected = [
      ['more-1', 'created'],
      ['more-2', 'added'],
      ['taken-1', 'conflict'],
      ['more-1', 'kept'],
      ['main-1', 'added'],
      ['main-2', 'created'],
    ]
    expect(await outcomes((await bring(own, file, 'dryRun=true')).id)).to.deep.equal(expected)
    const details = await bring(own, file)
    expect(await outcomes(details.id)).to.deep.equal(expected)
    expect(details).to.include({ created: 2, conflicts: 1 })
    const [main] = (await app.get('/api/urls?short=more-2', own)).json['data'].urls
    expect(main).to.include({ alias: 'more-1', longurl: 'https://example.com/a' })
    expect(main.addresses.map(({ alias }: { alias: string }) => alias)).to.deep.equal(['more-1', 'more-2', 'main-1'])
    for (const alias of ['main-1', 'more-1', 'more-2'])
      expect((await app.visit(`/${alias}`)).headers.get('Location')).to.equal('https://example.com/a')
    const again = expected.map(([alias, outcome]) => [alias, outcome === 'conflict' ? outcome : 'kept'])
    expect(await outcomes((await bring(own, file)).id)).to.deep.equal(again)
    // one that was visited stays, unless that is wanted
    const { status } = await app.ask('DELETE', `/api/import/${details.id}/delete?force=true`, own)
    expect(status).to.equal(200)
    await ended(own, details.id)
    expect(await sumOf(own)).to.equal(before)
    expect((await app.visit('/more-1')).status).to.equal(404)
  })

  it('changes nothing when the same file comes again, also of links without an alias', async () => {
    const own = await app.register()
    const file =
      'url,alias\nhttps://example.com/a,again-1\nexample.com/b,again-2\nhttps://example.com/c,\nhttps://example.com/c,\nhttps://example.com/d,admin\n'
    const query = 'conflict=rename'
    expect(await bring(own, file, query)).to.include({ created: 4, renamed: 1, existing: 0 })
    const before = await links(own)
    expect(await bring(own, file, query)).to.include({ created: 0, renamed: 0, existing: 5 })
    expect(await links(own)).to.deep.equal(before)
  })

  it('only reports the results in a dry run, and imports the links once it is started', async () => {
    const own = await app.register()
    const checked = await bring(own, table(3, 'dry'), 'dryRun=true')
    expect(checked).to.include({ state: 'checked', created: 3, done: 3, total: 3 })
    expect(await links(own)).to.deep.equal([])
    expect((await app.get('/api/imports', own)).json['data']).to.include({ result: 0 })
    expect((await app.post(`/api/import/${checked.id}/start`, { ...own, body: {} })).status).to.equal(200)
    expect(await ended(own, checked.id)).to.include({ state: 'done', created: 3 })
    expect(await links(own)).to.have.length(3)
  })

  it('is undone: addresses respond as before, and history shows the import', async () => {
    const own = await app.register()
    await app.post('/api/url/add', { ...own, body: { url: 'https://example.com/own', custom: 'undo-own' } })
    const before = await sumOf(own)
    const { id } = await bring(own, table(10, 'undo'))
    expect(await sumOf(own)).not.to.equal(before)
    await app.del(`/api/import/${id}/delete`, own)
    expect(await ended(own, id)).to.include({ state: 'undone', kept: 0 })
    expect(await sumOf(own)).to.equal(before)
    const { events } = (await app.get('/api/account/history?limit=100', own)).json['data'] as {
      events: { type: string }[]
    }
    expect(events.map(({ type }) => type)).to.include.members(['ImportStarted', 'ImportFinished', 'ImportUndone'])
    expect(await bring(own, table(10, 'undo')), 'the addresses can be imported again').to.include({ created: 10 })
  })

  it('keeps links that were changed or visited since when it is undone, without their imported counts', async () => {
    const own = await app.register()
    const { id } = await bring(own, table(4, 'kept'))
    const [first, second] = (await links(own)).toSorted((a, b) => a.alias.localeCompare(b.alias))
    await app.put(`/api/url/${second!.id}/update`, { ...own, body: { url: second!.longurl, title: 'Mine now' } })
    await app.visit(`/${first!.alias}`)
    await until(
      async () => (await app.get(`/api/url/${first!.id}`, own)).json['data'] as { clicks: number },
      ({ clicks }) => clicks === 1,
    )
    await app.del(`/api/import/${id}/delete`, own)
    expect(await ended(own, id)).to.include({ state: 'undone', kept: 2 })
    expect((await links(own)).map(({ alias, clicks }) => [alias, clicks])).to.have.deep.members([
      [first!.alias, 1],
      [second!.alias, 0],
    ])
    await app.del(`/api/import/${id}/delete?force=true`, own)
    expect(await ended(own, id)).to.include({ state: 'undone', kept: 0 })
    expect(await links(own)).to.deep.equal([])
  })

  it('keeps links that were visited, also where the statistics are behind, when it is taken back', async () => {
    const own = await app.register()
    const { id } = await bring(own, table(2, 'late'))
    const { db } = app.app.ledger
    const rowsOf = async (sql: string) => (await db.raw<{ rows: { n: string }[] }>(sql)).rows
    const clicks = () => rowsOf(`select count(*) as n from log.events where type = 'LinkClicked'`)
    await db.transaction(async (tx) => {
      const tables = `select relname as n from pg_class where relname ~ '^link_stats_v[0-9]+_[0-9]+$' and relkind = 'r'`
      for (const { n } of await rowsOf(tables)) await tx.raw(`lock table read.${n} in exclusive mode`)
      const [before] = await clicks()
      await app.visit('/late1')
      await until(clicks, ([now]) => now?.n !== before?.n)
      await app.del(`/api/import/${id}/delete`, own)
      await pause(1000)
    })
    expect(await ended(own, id)).to.include({ state: 'undone', kept: 1 })
    expect((await links(own)).map(({ alias }) => alias)).to.deep.equal(['late1'])
  })

  it('imports one file of an account at a time, and shows no other account anything', async () => {
    const [own, other] = [await app.register(), await app.register()]
    const first = await send(own, table(1000, 'one'))
    const second = await send(own, table(1, 'two'))
    expect([first.status, second.status, second.json['code']]).to.deep.equal([200, 409, 'still_running'])
    const id = first.json['id'] as string
    for (const path of ['', '/report']) expect((await app.get(`/api/import/${id}${path}`, other)).status).to.equal(404)
    expect((await app.del(`/api/import/${id}/delete`, other)).status).to.equal(404)
    expect((await app.post(`/api/import/${id}/start`, { ...other, body: {} })).status).to.equal(404)
    expect(await ended(own, id)).to.include({ created: 1000 })
  })

  it('reports records that cannot be imported, and why it ended', async () => {
    const own = await app.register()
    expect(await bring(own, 'no links at all')).to.deep.include({ state: 'failed', created: 0 })
    const { json, status } = await send(own, table(1), 'conflict=never')
    expect([status, json['field']]).to.deep.equal([400, 'conflict'])
    expect((await send(own, table(1), 'columns=wish=x')).json['field']).to.equal('columns')
    const mapped = await bring(own, 'Ziel;Kurz\nhttps://example.com/ziel;kurz-1\n', 'columns=url=Ziel,alias=Kurz')
    expect(mapped).to.include({ created: 1 })
    const ends = await bring(own, 'url,alias\nhttps://example.com/x,kurz-1\n', 'conflict=fail')
    expect(ends).to.include({ state: 'failed', conflicts: 1 })
    expect(ends.problem).to.include({ code: 'taken' })
  })

  it('continues after records and columns with texts that cannot be stored, and reports them without the texts', async () => {
    const own = await app.register()
    const table =
      'url,alias,o\0dd\nhttps://example.com/1,nul-1,x\nhttps://example.com/2,a\0b,\nhttps://example.com/3,nul-3,\n'
    const csv = await bring(own, table, 'format=csv')
    expect(csv).to.include({ state: 'done', created: 2, failed: 1 })
    expect(csv.notes.map(({ place, message }) => [place, message])).to.deep.include.members([
      ['line 3', '`alias` must not contain NUL characters or lone surrogates.'],
      ['line 1', 'The column "o\ufffddd" is not known, and is left out.'],
    ])
    const rows = ['\ud800', 'a\0b', 'https://bit.ly/a%00b'].map((id, n) => ({
      id,
      link: id,
      long_url: `https://example.com/${n}`,
      'k\0': 1,
    }))
    const json = await bring(own, JSON.stringify({ links: rows }), 'format=bitly')
    expect(json).to.include({ state: 'done', failed: 2, conflicts: 1 })
    const { status } = await send(own, table, 'domain=a%00b=c.example')
    expect(status).to.equal(400)
  })

  it('says first what did not come, also where each of a hundred links before has a field that is left out', async () => {
    const own = await app.register()
    const rows = Array.from({ length: 120 }, (_, n) => `https://example.com/${n},many-${n},192.0.2.1`)
    const { notes } = await bring(own, `url,alias,ip\n${rows.join('\n')}\nnot a url,wrong,192.0.2.1\n`, 'format=csv')
    expect(notes).to.have.length(100)
    expect(notes[0]).to.include({ place: 'line 122', outcome: 'failed' })
    expect(notes.slice(1).every(({ left }) => left.join() === 'ip')).to.equal(true)
  })

  it('has the links of an API at their addresses also when it is started after a dry run', async () => {
    const own = await app.register()
    const link = (alias: string) => ({
      ...{
        kind: 'link',
        place: { id: alias },
        addresses: [{ host: 'kutt.example', alias }],
        url: 'https://example.com',
      },
      ...{ clicks: 3, left: ['updated_at'] },
    })
    const lines = [{ kind: 'format', format: 'kutt' }, link('api-one'), link('api-two')].map((one) =>
      JSON.stringify(one),
    )
    const { id, format } = await bring(own, `${lines.join('\n')}\n`, 'format=records&dryRun=true')
    expect(format).to.equal('kutt')
    await app.post(`/api/import/${id}/start`, { ...own, body: {} })
    expect(await ended(own, id)).to.include({ state: 'done', format: 'kutt', created: 2 })
    expect((await links(own)).map(({ alias, clicks }) => [alias, clicks])).to.have.deep.members([
      ['api-one', 3],
      ['api-two', 3],
    ])
  })

  it('is started or deleted after a dry run, and not both', async () => {
    const own = await app.register()
    for (let n = 0; n < 12; n++) {
      const { id } = await bring(own, table(3, `race${n}`), 'dryRun=true')
      const start = () => app.post(`/api/import/${id}/start`, { ...own, body: {} })
      const [first, deleted, second] = await Promise.all([start(), app.del(`/api/import/${id}/delete`, own), start()])
      const isDeleted = deleted.json['message'] === 'The file has been deleted: nothing of it was imported.'
      const isGone = (await app.get(`/api/import/${id}`, own)).status === 404
      expect([isDeleted, first.status !== 200 && second.status !== 200]).to.deep.equal([isGone, isGone])
      if (!isGone) await ended(own, id)
    }
    const { imports } = (await app.get('/api/imports', own)).json['data'] as { imports: { finished: string }[] }
    expect(imports.filter(({ finished }) => finished === '')).to.deep.equal([])
  })

  it('shortens long texts in its report', async () => {
    const own = await app.register()
    const long = 'x'.repeat(100_000)
    const names = Array.from({ length: 150 }, (_, n) => `field${n}${'y'.repeat(500)}`)
    const record = { id: long, link: `https://bit.ly/${long}`, long_url: `https://${long}` }
    const more = Object.fromEntries(names.map((name) => [name, 1]))
    const { id, notes } = await bring(own, JSON.stringify({ links: [{ ...record, ...more }] }), 'format=bitly')
    const [{ alias, url, place, message, left }] = notes as [(typeof notes)[number]]
    expect([alias, url, place].map(({ length }) => length)).to.deep.equal([301, 2001, 300])
    expect(message.length).to.be.within(1, 2001)
    expect([left.length, left.at(-1), left[0]?.length]).to.deep.equal([101, '…', 301])
    expect((await app.get(`/api/import/${id}/report`, own)).text.length).to.be.below(50_000)
  })

  it('keeps no file that cannot be imported, and of others that have failed the newest', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'linkledger-failed-'))
    const on = await startTestApp({ DATA_DIR: dir })
    const kept = () => readdir(importFolder(dir))
    try {
      const own = await on.register()
      for (const query of ['', 'dryRun=true'])
        expect(await bring(own, 'no links at all', query, on)).to.include({ state: 'failed' })
      expect(await kept()).to.deep.equal([])
      const headers = { 'Content-Type': 'text/csv', 'Idempotency-Key': 'once' }
      for (const file of [table(1), table(1), table(2)]) await on.post('/api/import', { ...own, body: file, headers })
      await on.post('/api/import', {
        ...own,
        body: table(1),
        headers: { ...headers, 'If-Match': '"1"', 'Idempotency-Key': 'x' },
      })
      await until(kept, (names) => names.length === 0)
      const file = 'url,alias\nhttps://example.com/x,m0\n'
      const ids: string[] = []
      for (let n = 0; n < 3; n++) ids.push((await bring(own, file, 'conflict=fail', on)).id)
      await until(kept, (names) => names.join() === ids[2])
      const start = async (id?: string) => (await on.post(`/api/import/${id}/start`, { ...own, body: {} })).json
      expect((await start(ids[0]))['code']).to.equal('stale')
      expect(await start(ids[2])).to.include({ error: 0 })
      await ended(own, ids[2]!, on)
    } finally {
      await on.close()
      await rm(dir, { recursive: true, force: true })
    }
  })

  it('resumes after any number of restarts of the service, and creates each link once', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'linkledger-imports-'))
    let on = await startTestApp({ DATA_DIR: dir })
    try {
      const own = await on.register()
      const aliased = table(1000, 'kill')
      const file = `${aliased}\n${Array.from({ length: 1000 }, (_, i) => `,https://example.com/plain/${i % 200},,,`).join('\n')}\n`
      const { json } = await send(own, file, '', on)
      const id = json['id'] as string
      let interrupted = 0
      for (let n = 0; n < 10; n++) {
        const { done, state } = await detailsOf(own, id, on)
        if (state === 'done') break
        await until(
          () => detailsOf(own, id, on),
          (now) => now.done > done || now.state === 'done',
          150_000,
        )
        await on.close()
        on = await startTestApp({ DATA_DIR: dir }, on.connection)
        if ((await detailsOf(own, id, on)).state !== 'interrupted') break
        interrupted++
        expect((await on.post(`/api/import/${id}/start`, { ...own, body: {} })).status).to.equal(200)
      }
      expect(interrupted, 'ends while it imports').to.be.greaterThan(0)
      expect(await ended(own, id, on)).to.include({ state: 'done', created: 2000, conflicts: 0, existing: 0 })
      expect((await on.get('/api/urls?limit=1', own)).json['data']).to.include({ result: 2000 })
    } finally {
      await on.close()
      await rm(dir, { recursive: true, force: true })
    }
  })
})
