import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import pg from 'pg'
import { openDatabase } from '../../src/postgres/database.ts'
import { migrate, migrationNames } from '../../src/postgres/migrate.ts'
import { typesSince } from '../releases/changes.ts'
import { freshDatabase } from '../support/database.ts'

const sqlOf = (name: string) => readFile(new URL(`../../src/postgres/migrations/${name}`, import.meta.url), 'utf8')

/** What is in the schemas `log` and `state`, a row for each thing: on which table it is, its name, and how it is made. */
const catalog = `
  with own as (select oid, nspname from pg_namespace where nspname in ('log', 'state')),
    tables as (select c.oid, own.nspname || '.' || c.relname as name, c.relkind from pg_class c join own on own.oid = c.relnamespace)
  select 'table' as kind, name as "table", name, relkind::text as made from tables where relkind in ('r', 'p', 'v', 'S')
  union all
  select 'column', t.name, a.attname, format_type(a.atttypid, a.atttypmod) || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') || case when a.attnotnull then ' not null' else '' end
  from pg_attribute a join tables t on t.oid = a.attrelid left join pg_attrdef d on (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
  where a.attnum > 0 and not a.attisdropped and t.relkind in ('r', 'p')
  union all
  select 'rule', t.name, c.conname, pg_get_constraintdef(c.oid) from pg_constraint c join tables t on t.oid = c.conrelid where c.contype <> 'n'
  union all
  select 'rule', t.name, i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid)
  from pg_index i join tables t on t.oid = i.indrelid where i.indisunique
  union all
  select 'rule', t.name, g.tgname, pg_get_triggerdef(g.oid) from pg_trigger g join tables t on t.oid = g.tgrelid where not g.tgisinternal
  union all
  select 'function', own.nspname, p.oid::regprocedure::text, pg_get_functiondef(p.oid) from pg_proc p join own on own.oid = p.pronamespace
  order by 1, 2, 3`

interface Thing {
  readonly kind: 'table' | 'column' | 'rule' | 'function'
  readonly table: string
  readonly name: string
  readonly made: string
}
const textOf = ({ kind, table, name, made }: Thing) => `${kind} ${name} of ${table}: ${made}`

/** Whether a rule is a trigger for events that no older release writes. */
const isOfNewEvents = (made: string) => {
  const [types] = /WHEN \(\(new\.type = (?:ANY \(ARRAY\[[^\]]*\]\)|'\w+'::text)\)\)/.exec(made) ?? []
  const named = types?.match(/(?<=')\w+(?='::)/g) ?? []
  return named.length > 0 && named.every((type) => typesSince.includes(type))
}

/** Returns what an older release meets that it did not know of: it writes a row without the new columns of its tables. */
const narrowing = (before: readonly Thing[], after: readonly Thing[]) => {
  const known = new Set(before.map(textOf))
  const tables = new Set(before.filter(({ kind }) => kind === 'table').map(({ name }) => name))
  const harms = ({ kind, made }: Thing) =>
    (kind === 'rule' && !isOfNewEvents(made)) ||
    (kind !== 'rule' && !made.includes(' default ') && made.endsWith(' not null'))
  return after.filter((thing) => !known.has(textOf(thing)) && tables.has(thing.table) && harms(thing)).map(textOf)
}

describe('migrations', function () {
  this.timeout(300_000)
  let db: pg.Client
  const connect = async () => {
    const connection = await freshDatabase()
    db = new pg.Client(connection)
    await db.connect()
    return connection
  }
  afterEach(() => db.end())
  const select = async <Row extends object>(sql: string) => (await db.query<Row>(sql)).rows
  const names = async (table: string) =>
    (await select<{ name: string }>(`select name from ${table} order by 1`)).map(({ name }) => name)
  const run = async (connection: Awaited<ReturnType<typeof connect>>) => {
    const knex = openDatabase(connection, { name: 'spec', max: 2, timeout: 30_000, onError: () => {} })
    try {
      await migrate(knex)
    } finally {
      await knex.destroy()
    }
  }

  /** Applies migrations and records them in knex's table, as release 0.1.0 does. */
  const applyAsKnex = async (applied: readonly string[]) => {
    await db.query(`create schema state;
      create table state.knex_migrations (id serial primary key, name varchar(255), batch integer, migration_time timestamptz)`)
    for (const name of applied) {
      await db.query(await sqlOf(name))
      await db.query('insert into state.knex_migrations (name, batch, migration_time) values ($1, 1, now())', [name])
    }
  }

  it('add missing objects to a database of an older release, and do not touch names that this release reads', async () => {
    const connection = await connect()
    const [first = '', second = ''] = await migrationNames()
    await applyAsKnex([first, second])
    await run(connection)
    expect(await names('state.knex_migrations')).to.deep.equal([first, second])
    expect(await names('state.migrations')).to.deep.equal(await migrationNames())
  })

  it('give a new database the names that release 0.1.0 reads, and no others', async () => {
    await run(await connect())
    const [last, ...others] = (await names('state.knex_migrations')).toReversed()
    expect([last, others.length]).to.deep.equal(['013_snapshots.sql', 16])
  })

  it('start on a database that a newer release has opened, and change nothing there', async () => {
    const connection = await connect()
    await run(connection)
    await db.query(`insert into state.migrations (name) values ('999_later.sql')`)
    const before = await select(catalog)
    await run(connection)
    expect(await select(catalog)).to.deep.equal(before)
    expect(await names('state.migrations')).to.include('999_later.sql')
  })

  it('are all applied, or none of them when one fails', async () => {
    const connection = await connect()
    // the third creates a table of this name
    await db.query('create schema state; create table state.images (id int)')
    await run(connection).then(
      () => expect.fail('it was applied'),
      (error: unknown) => expect(String(error)).to.include('"images" already exists'),
    )
    expect(await select(`select from pg_namespace where nspname = 'log'`)).to.have.length(0)
  })

  it('only add, each since release 0.1.0: tables and columns of an older release stay as they were', async () => {
    await connect()
    const all = await migrationNames()
    await applyAsKnex(all.filter((name) => name < '014'))
    for (const name of all.filter((later) => later >= '014')) {
      const before = await select<Thing>(catalog)
      const sql = await sqlOf(name)
      await db.query(sql)
      const after = await select<Thing>(catalog)
      expect(after.map(textOf), name).to.include.members(before.map(textOf))
      expect(narrowing(before, after), `${name} makes a row impossible that an older release writes`).to.deep.equal([])
      expect(sql, `${name} changes rows`).not.to.match(/^\s*(delete|update|truncate)\b/im)
    }
  })

  it('that restrict the writes of an older release are found', async () => {
    await connect()
    await applyAsKnex((await migrationNames()).filter((name) => name < '014'))
    const before = await select<Thing>(catalog)
    for (const sql of [
      'alter table state.webhook_tail add column must text not null',
      'alter table state.sessions add check (account > 5)',
      'create unique index one on state.sessions (account)',
    ]) {
      await db.query(`begin; ${sql}`)
      expect(narrowing(before, await select<Thing>(catalog)), sql).to.have.length(1)
      await db.query('rollback')
    }
    await db.query(`alter table state.sessions add column may text, add column filled text not null default ''`)
    expect(narrowing(before, await select<Thing>(catalog))).to.deep.equal([])
  })
})
