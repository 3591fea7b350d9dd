import { expect } from 'chai'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Connection } from '../../src/postgres/database.ts'
import { urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { long, openStage, query, randomFrom, repeatable, seed } from '../support/faults.ts'
import { type CreateRequest, creations, expectLedger } from '../support/ledger.ts'
import { expectExactClicks, makeLinks, visitsTo } from '../support/load.ts'
import { runCommand } from '../support/process.ts'

describe(`erasing an account (${repeatable})`, function () {
  this.timeout(long ? 1_800_000 : 300_000)
  const random = randomFrom(seed)
  const stage = openStage()
  afterEach(stage.clear)

  const rows = async (connection: Connection): Promise<{ place: string; text: string }[]> => {
    const tables = await query<{ name: string }>(
      connection,
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    )
    // one statement, because a connection for each table would be more than the server accepts
    const all = tables.map(({ name }) => `select '${name}' as place, t::text as text from ${name} t`)
    return query<{ place: string; text: string }>(connection, all.join(' union all ')).catch((error: unknown) => {
      // the service drops the tables that a rebuild has replaced
      if ((error as { code?: string }).code === '42P01') return rows(connection)
      throw error
    })
  }
  const files = async (dir: string) => {
    const found = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
    return Promise.all(
      found.map(async ({ parentPath, name }) => ({
        place: join(parentPath, name),
        text: await readFile(join(parentPath, name), 'latin1'),
      })),
    )
  }

  for (let round = 0; round < (long ? 5 : 1); round++)
    it('leaves no personal data under load, after a rebuild, and after restoring the key from a backup', async () => {
      const connection = await freshDatabase()
      const dir = await stage.dir()
      const settings = {
        DATABASE_URL: urlOf(connection),
        SECRET: 'a secret for tests only',
        DATA_DIR: dir,
        LOG_LEVEL: 'debug',
      }
      let service = await stage.start(settings)
      let output = ''
      const canary = `canary-${random(1_000_000)}`
      const erased = await service.register(canary, canary)
      expect(erased.username).to.equal(canary)
      const other = await service.register()
      const [theirs] = await makeLinks(service, erased.key, 1)
      expect((await service.visit(`/${theirs!.alias}`)).status).to.equal(302)
      await service.put('/api/account/update', { key: erased.key, body: { email: `${canary}@example.org` } })

      /** Where the personal data can be found, except in the write-ahead log and dead rows of PostgreSQL. */
      const places = async () => {
        const everywhere = [
          ...(await rows(connection)),
          ...(await files(dir)),
          { place: 'output', text: output + service.output() },
        ]
        return [...new Set(everywhere.filter(({ text }) => text.includes(canary)).map(({ place }) => place))]
      }
      // the table of accounts, and the versions of its rows
      expect(await places(), 'before erasing').to.have.length(2)
      const backup = await query<{ name: string; wrapped: string }>(
        connection,
        `select name, wrapped from state.keys where name = $1`,
        [`account-${erased.id}`],
      )
      expect(backup).to.have.length(1)

      const links = await makeLinks(service, other.key, 5)
      const writing = stage.load<CreateRequest>(service, 3, creations(other.key), 10)
      const visiting = stage.load(service, 6, visitsTo(links, random), 10)
      await writing.answers(20)
      const command = await runCommand(['account', 'erase', `id:${erased.id}`, '--yes'], settings)
      expect(command.code, command.err).to.equal(0)
      // what it prints on the operator's terminal says whose account it erases
      output += command.err

      const expectGone = async () => {
        // the service reads what has changed a moment after the command has ended
        const answers = async () => [
          (await service.visit(`/${theirs!.alias}`)).status,
          (await service.get('/api/urls', { key: erased.key })).status,
        ]
        expect(await until(answers, (statuses) => statuses.join() === '404,401')).to.deep.equal([404, 401])
        expect(await places()).to.deep.equal([])
      }
      await expectGone()
      const rebuilt = await runCommand(['rebuild'], settings)
      expect(rebuilt.code, rebuilt.err).to.equal(0)
      output += rebuilt.out + rebuilt.err
      await expectGone()

      await writing.answers(20)
      const [writes, visits] = [await writing.stop(), await visiting.stop()]
      expect(new Set(writes.map(({ status }) => status))).to.deep.equal(new Set([200]))
      expect(new Set(visits.map(({ status }) => status))).to.deep.equal(new Set([302]))

      const keys = () => query(connection, `select name from state.keys where name = $1`, [`account-${erased.id}`])
      expect(await keys()).to.deep.equal([])
      await service.end()
      output += service.output()
      await query(connection, 'insert into state.keys (name, wrapped) values ($1, $2)', [
        backup[0]!.name,
        backup[0]!.wrapped,
      ])
      service = await stage.start(settings)
      expect(await until(keys, ({ length }) => length === 0), 'the restored key').to.deep.equal([])
      await expectGone()
      await expectExactClicks(service, other.key, visits)
      await expectLedger(service, connection, other.key, writes)

      // the username stays taken, the e-mail is free again
      const again = { email: `${canary}@example.org`, password: 'correct horse 1' }
      expect((await service.post('/register', { body: { ...again, username: canary } })).status).to.equal(400)
      const back = await service.post('/register', { body: { ...again, username: `x-${canary}` } })
      expect(back.json).to.include({ error: 0, username: `x-${canary}` })
    })
})
