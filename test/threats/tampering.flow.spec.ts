import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Connection } from '../../src/postgres/database.ts'
import { startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { query } from '../support/faults.ts'
import { runCommand } from '../support/process.ts'

const secret = 'a secret for tests only'

/** Events of the log by their ordinals: those that the cases change. */
interface Events {
  readonly created: number
  readonly updated: number
  readonly clicked: number
  /** the last one that is in a checkpoint */
  readonly signed: number
  /** the last one */
  readonly last: number
}

describe('a log that an attacker with access to the database changes', function () {
  this.timeout(300_000)
  let original: Connection
  let dir = ''
  let kept = ''
  let events: Events
  let receipt = ''
  /** the names of the read tables that the service uses */
  let tables: Readonly<Record<string, string>> = {}

  /** Returns the newest checkpoint, once it has every event. */
  const signed = async (app: TestApp) => {
    const size = await app.app.ledger.ordinals.head()
    const newest = () =>
      query<{ size: string; note: string }>(
        app.connection,
        'select * from state.checkpoints order by size desc limit 1',
      )
    return (await until(newest, ([found]) => Number(found?.size) >= size))[0]?.note ?? ''
  }
  const ordinalOf = async (app: TestApp, type: string) => {
    const [row] = await query<{ position: string }>(
      app.connection,
      `select max(position) as position from log.events where type = '${type}'`,
    )
    return Number(row?.position) - 1
  }
  const clicksOf = async (app: TestApp, key: string, clicks: number) =>
    until(
      () => app.get('/api/url/1', { key }),
      ({ json }) => Number(json['data'].clicks) >= clicks,
    )

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkledger-tampered-'))
    const app = await startTestApp({ CHECKPOINT_SECONDS: '1', SECRET: secret, DATA_DIR: dir })
    const { key } = await app.register()
    await app.post('/api/url/add', { key, body: { url: 'https://example.com/spring', custom: 'offer' } })
    const { json: code } = await app.post('/api/qr/add', { key, body: { type: 'link', data: 'https://example.com/' } })
    await app.visit('/offer')
    await app.visit(`${new URL(String(code['link'])).pathname}/go`)
    await clicksOf(app, key, 1)
    kept = join(dir, 'kept.txt')
    await writeFile(kept, await signed(app))
    await app.put('/api/url/1/update', { key, body: { url: 'https://example.org/elsewhere' } })
    await app.visit('/offer')
    await clicksOf(app, key, 2)
    await app.post('/api/pixel/add', { key, body: { type: 'gtmpixel', name: 'last', tag: 'GTM-1' } })
    await signed(app)
    const found = {
      created: await ordinalOf(app, 'LinkCreated'),
      updated: await ordinalOf(app, 'LinkUpdated'),
      clicked: await ordinalOf(app, 'LinkClicked'),
    }
    receipt = (await app.get(`/api/events/${found.created}/proof`, { key })).text
    const named = ['links', 'link_stats', 'clicks', 'past_links', 'accounts']
    tables = Object.fromEntries(named.map((name) => [name, app.app.ledger.tables.name(name)]))
    original = app.connection
    await app.close()
    const [row] = await query<{ last: string; signed: string }>(
      original,
      'select max(position) as last, (select max(size) from state.checkpoints) as signed from log.events',
    )
    events = { ...found, signed: Number(row?.signed) - 1, last: Number(row?.last) - 1 }
  })
  after(() => rm(dir, { recursive: true, force: true }))

  /** Returns the settings of a changed copy. */
  const tampered = async (sql: string) => {
    const copy = await freshDatabase(original)
    await query(copy, sql)
    return { DATABASE_URL: urlOf(copy), DATA_DIR: dir, SECRET: secret }
  }
  const verify = async (sql: string, ...more: string[]) => runCommand(['verify', ...more], await tampered(sql))
  const verifyAll = (sql: string) => verify(sql, '--tables', '--checkpoint', kept)
  const at = (ordinal: number) => `where position = ${ordinal + 1}`

  /** What is found in any case: an exit code, and sentences that no defect of the program has written. */
  const expectFound = ({ code, err }: { readonly code: number; readonly err: string }, ...sentences: RegExp[]) => {
    expect(code, err).to.equal(1)
    expect(err).not.to.match(/\n +at /)
    for (const sentence of sentences) expect(err, err).to.match(sentence)
  }

  it('signs nothing with another key when the signing key is gone, and names the missing key', async () => {
    const copy = await freshDatabase(original)
    await query(copy, `delete from state.keys where name = 'proof'`)
    const settings = { DATABASE_URL: urlOf(copy), DATA_DIR: await mkdtemp(join(dir, 'keyless-')), SECRET: secret }
    const run = (...args: string[]) => runCommand(args, settings)
    const missing = /the key `proof`, which has signed .* restore that row from a backup/
    for (const args of [['verify'], ['proof', 'key'], ['proof', 'restart', '--yes']])
      expectFound(await run(...args), missing)
    const app = await startTestApp({ CHECKPOINT_SECONDS: '1', SECRET: secret }, copy)
    try {
      const { key } = await app.register()
      await until(
        async () => String((await app.operator.get('/readyz')).json['problems']),
        (problems) => missing.test(problems),
      )
      const [row] = await query<{ n: string }>(copy, 'select max(size) - 1 as n from state.checkpoints')
      expect(Number(row?.n)).to.equal(events.signed)
      expect((await app.get('/api/proof', { key })).status).to.equal(503)
    } finally {
      await app.close()
    }
    const { code, out, err } = await run('proof', 'restart', '--new-key', '--yes')
    expect(code, err).to.equal(0)
    expect(out)
      .to.include('\n— linkledger/log/')
      .and.to.match(/The new key: linkledger\/log\//)
    expectFound(await run('proof', 'restart', '--new-key', '--yes'), /there is none to replace/)
    expect((await run('verify')).code).to.equal(0)
  }).timeout(300_000)

  it('holds while nothing is changed, and white space is no change', async () => {
    for (const sql of ['select 1', `update log.events set data = replace(data::text, '":', '" : ')::json`]) {
      const { code, out, err } = await verifyAll(sql)
      expect([code, err], err).to.deep.equal([0, ''])
      expect(out)
        .to.include('The log holds')
        .and.to.match(/tables +exact/)
    }
  })

  /** Ways to change one event, each on its own. */
  const changes: Readonly<Record<string, (of: Events) => string>> = {
    'a byte of its data': ({ updated }) =>
      `update log.events set data = replace(data::text, 'elsewhere', 'elsewherf')::json ${at(updated)}`,
    'its time': ({ updated }) => `update log.events set at = at - interval '1 ms' ${at(updated)}`,
    'its time, which is none then': ({ updated }) => `update log.events set at = 'infinity' ${at(updated)}`,
    'its type': ({ updated }) => `update log.events set type = 'LinkArchived' ${at(updated)}`,
    'its revision': ({ updated }) => `update log.events set revision = 7 ${at(updated)}`,
    'its stream': ({ updated }) => `update log.events set stream = 'link-9' ${at(updated)}`,
    'its id': ({ updated }) => `update log.events set id = gen_random_uuid() ${at(updated)}`,
    'who has caused it': ({ updated }) =>
      `update log.events set metadata = jsonb_set(metadata::jsonb, '{actor}', '{"kind":"service"}')::json ${at(updated)}`,
    'its data, which is empty then': ({ updated }) => `update log.events set data = '{}' ${at(updated)}`,
    'a name in its metadata': ({ updated }) =>
      `update log.events set metadata = replace(metadata::text, '"kind"', '"sort"')::json ${at(updated)}`,
    'its metadata, which are gone': ({ updated }) => `update log.events set metadata = 'null' ${at(updated)}`,
    'the link of a click': ({ clicked }) =>
      `update log.events set data = replace(data::text, '"link":1,', '"link":2,')::json ${at(clicked)}`,
    'the number of its clicks': ({ clicked }) =>
      `update log.events set data = jsonb_set(data::jsonb, '{clicks}', '[]')::json ${at(clicked)}`,
    'its destinations': ({ clicked }) =>
      `update log.events set data = jsonb_set(data::jsonb, '{destinations}', '["https://example.net/"]')::json ${at(clicked)}`,
    'its clicks, which are no list then': ({ clicked }) =>
      `update log.events set data = '{"clicks": 5}' ${at(clicked)}`,
  }
  /** those after which no table can be made from the event */
  const unreadable = [
    'its data, which is empty then',
    'a name in its metadata',
    'its metadata, which are gone',
    'its clicks, which are no list then',
  ]
  for (const [what, change] of Object.entries(changes))
    it(`names the event when ${what} was changed, also when the tables agree with the change`, async () => {
      const sql = change(events)
      const ordinal = sql.endsWith(at(events.clicked)) ? events.clicked : events.updated
      const event = `event ${ordinal} \\(Link.* of .*\\)`
      const found = await verifyAll(sql)
      expectFound(
        found,
        new RegExp(`^The log does not hold:\n[^]*${event} is not the one that was added to the tree`),
        /the log was changed between event \d+ and event \d+/,
        ...(unreadable.includes(what) ? [new RegExp(`${event} cannot be read, so .* cannot be made .*: \\w`)] : []),
      )
    })

  it('says of as many of the newest events that they are unsigned when an earlier one was changed', async () => {
    const unsigned = async (sql: string) => /unsigned .*/.exec((await verify(sql)).out)?.[0]
    expect(await unsigned(changes['a byte of its data']!(events))).to.equal(await unsigned('select 1'))
    expect(await unsigned('delete from state.checkpoints where size > 12')).to.match(/^unsigned +\d+, the newest/)
  })

  it('misses an event that was deleted, in the middle and at the end', async () => {
    expectFound(
      await verifyAll(`delete from log.events ${at(events.updated)}`),
      new RegExp(`event ${events.updated} \\(.*\\) is not the one that was added`),
    )
    expectFound(
      await verifyAll(`delete from log.events where position > ${events.signed}`),
      new RegExp(`event ${events.signed} is missing: the log ends before it`),
    )
  })

  it('finds an event that was added at the end of a stream with a jump in its revisions', async () => {
    const added = (revision: number) =>
      `insert into log.events
       select ${events.last + 2}, e.stream, ${revision}, gen_random_uuid(), e.type, e.data, newest.metadata, newest.at
       from (select * from log.events ${at(events.updated)}) e, (select * from log.events order by position desc limit 1) newest`
    expectFound(
      await verify(added(57)),
      new RegExp(`event ${events.last + 1} \\(LinkUpdated of link 1, .*revision 57`),
      /link 1 .*revisions 2 to 56/,
    )
    expect((await verify(added(2))).code, 'as the service would store it').to.equal(0)
  })

  it('finds a log that was changed together with its tree, between two checkpoints', async () => {
    const { code, err } = await verifyAll(`${changes['a byte of its data']!(events)}; truncate read.tree, read.tiles`)
    expect([code, err], err).to.deep.equal([1, err])
    expect(err).to.match(/the log was changed between event \d+ and event \d+/)
  })

  it('refuses a kept checkpoint with another root', async () => {
    const { code, err } = await verifyAll(
      `update state.checkpoints set note = regexp_replace(note, '\\n[A-Za-z0-9+/]{43}=', E'\\n' || repeat('A', 43) || '=')`,
    )
    expect(code).to.equal(1)
    expect(err).to.match(/the checkpoint of \d+ events is not signed by the key of this log/)
  })

  const damages: Readonly<Record<string, string>> = {
    'a hash of an event': `update read.tiles set hashes = set_byte(hashes, 40, (get_byte(hashes, 40) + 1) % 256) where level = 0`,
    'its tiles, which are gone': 'delete from read.tiles where level = 0',
  }
  for (const [what, sql] of Object.entries(damages)) {
    it(`does not call an event changed when ${what} was changed, and names the cure`, async () => {
      const found = await verify(sql)
      expectFound(found, /the tree over the log .*was changed/i, /`linkledger rebuild`/)
      expect(found.err).not.to.match(/is not the one that was added|The log does not hold/)
      expect(found.out).to.include('The log holds')
    })

    it(`gives no receipt while ${what} is changed, and returns 503`, async () => {
      const settings = await tampered(sql)
      const { code, err } = await runCommand(['proof', 'event', String(events.created)], settings)
      expect(code).to.equal(1)
      expect(err)
        .to.include('the tree over the log')
        .and.to.include('linkledger rebuild')
        .and.not.to.match(/\n +at /)
    })
  }

  it('names a row by a name that users know, and a click by its id', async () => {
    const click = `${events.clicked}-0`
    const seq = (events.clicked + 1) * 1000
    const changed = await verifyAll(`
      update ${tables['link_stats']} set clicks = clicks + 1 where link < 0;
      update ${tables['links']} set url = 'https://example.net/';
      update ${tables['past_links']} set url = 'https://example.net/';
      update ${tables['clicks']} set minute = minute - 1 where seq = ${seq}`)
    expectFound(
      changed,
      /link_stats: the row of QR code 1 .*: clicks/,
      /links: the row of link 1 .*: url/,
      new RegExp(`past_links: the row of link 1, as it was from event \\d+ on .*: url`),
      new RegExp(`clicks: the row of click ${click} `),
      /`linkledger rebuild` makes the tables again/,
    )
    expect(changed.out).to.include('The log holds')
    expectFound(
      await verifyAll(
        `delete from ${tables['links']}; delete from ${tables['link_stats']} where link = 1; delete from ${tables['clicks']} where seq = ${seq}`,
      ),
      /links: the row of link 1 is missing/,
      /link_stats: the row of link 1 is missing/,
      new RegExp(`clicks: the row of click ${click} is missing`),
    )
  })

  it('compares tables that are marked as those of another log, and leaves them as they are', async () => {
    const settings = await tampered(
      `update ${tables['links']} set url = 'https://example.net/'; update read.origin set log_id = gen_random_uuid()`,
    )
    for (let n = 0; n < 2; n++)
      expectFound(
        await runCommand(['verify', '--tables'], settings),
        /the tables say that they were filled from another log or engine/,
        /links: the row of link 1 .*: url/,
      )
  })

  it('does not say of tables that are not marked as live that they are exact', async () => {
    const { code, out, err } = await verifyAll(`update read.checkpoints set live = false`)
    expectFound({ code, err }, /links has no tables to compare/)
    expect(out).not.to.include('exact')
  })

  it('names the row of an account that the log does not have, and needs no key for it', async () => {
    expectFound(
      await verifyAll(
        `update ${tables['accounts']} set id = 9; update ${tables['links']} set url = 'https://x.example/'`,
      ),
      /accounts: the row of account 1 is missing/,
      /links: the row of link 1 .*: url/,
    )
  })

  it('misses checkpoints that were deleted: all of them, the newest, or one in between', async () => {
    for (const where of [
      'true',
      'size = (select max(size) from state.checkpoints)',
      'size = (select min(size) from state.checkpoints)',
    ]) {
      const { code, err } = await verify(`delete from state.checkpoints where ${where}`)
      expect([code, err], where).to.deep.equal([1, err])
      expect(err, where).to.match(/checkpoints? (?:is|are) missing/)
    }
  })

  it('still proves the former log by an earlier receipt and checkpoint', async () => {
    const file = join(dir, 'receipt.json')
    await writeFile(file, receipt)
    const settings = await tampered(changes['a byte of its data']!(events))
    const { out: key } = await runCommand(['proof', 'key'], settings)
    const { code, out } = await runCommand(['proof', 'verify', file, '--key', key.trim()], settings)
    expect([code, out.startsWith('Valid: ')], out).to.deep.equal([0, true])
  })
})
