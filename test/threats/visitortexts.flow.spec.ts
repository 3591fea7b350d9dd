import { randomUUID } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { eraseTexts } from '../../src/app/jobs/texterasure.ts'
import { run } from '../../src/cli/run.ts'
import { report } from '../../src/commands/operator/report.ts'
import { answer } from '../../src/commands/pages/answer.ts'
import { systemMetadata } from '../../src/events/event.ts'
import { sealPersonal } from '../../src/security/seal.ts'
import { startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { query } from '../support/faults.ts'

const month = 31 * 86_400_000

describe('the input of a visitor', () => {
  let app: TestApp
  let account: number
  let key: string
  let overlay: number
  const get = (path: string) => app.get(path, { key })
  const ledger = () => app.app.ledger
  /** Returns the tables whose rows have the text. */
  const places = async (text: string) => {
    const tables = await query<{ name: string }>(
      app.connection,
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'log', 'read', 'state')`,
    )
    const having = tables.map(
      ({ name }) => `select '${name}' as name where exists (select from ${name} t where t::text like $1)`,
    )
    const found = await query<{ name: string }>(app.connection, having.join(' union all '), [`%${text}%`])
    return found.map(({ name }) => name)
  }
  const exported = async () => {
    const answer = await fetch(`${app.address}/api/account/export`, { headers: { Authorization: `Bearer ${key}` } })
    expect(answer.status).to.equal(200)
    return gunzipSync(Buffer.from(await answer.arrayBuffer())).toString()
  }
  const answers = async (query = '') => (await get(`/api/overlay/${overlay}/answers?order=oldest${query}`)).json['data']
  const give = async (text: string) => {
    const id = randomUUID()
    const command = { type: 'GiveAnswer', answer: id, overlay, account, link: 0 } as const
    const fields = JSON.stringify({ email: `${text}@example.com` })
    await ledger().handler.handle(answer, { ...command, fields }, systemMetadata(account))
    await until(
      async () => JSON.stringify(await answers()),
      (listed) => listed.includes(text),
    )
    return id
  }
  const send = async (id: string, text: string) => {
    const about = { account, kind: 'link', subject: 1, address: 'go.example/x', reason: 'spam' } as const
    const words = { message: text, email: `${text}@example.com` }
    await ledger().handler.handle(report, { type: 'SendReport', id, ...about, ...words }, systemMetadata(account))
    await until(
      () => places(text),
      (found) => found.length > 0,
    )
  }
  const command = async (...args: string[]) => {
    const printed: string[] = []
    const print = (line: string) => void printed.push(line)
    const variables = { DATABASE_URL: urlOf(app.connection), SECRET: 'a secret for tests only', DATA_DIR: app.dir }
    expect(await run(args, { variables, print, printError: print }), printed.join('\n')).to.equal(0)
    return printed.join('\n')
  }
  const erase = (number: number, as = key) => app.del(`/api/overlay/${overlay}/answers/${number}/delete`, { key: as })
  const keysOf = async (stream: string) =>
    query(app.connection, 'select name from state.keys where name = $1', [stream])
  const runJob = (keptMonths: number | undefined, now = new Date()) => {
    const { handler, keys, reader } = ledger()
    return eraseTexts({ handler, reader, keys: keys.ofStreams, keptMonths, onProblem: () => {} }, now)
  }
  /** Everything the API says of answers, also of a moment when they were not erased. */
  const said = async (at: string) =>
    [
      JSON.stringify(await answers()),
      JSON.stringify(await answers(`&at=${at}`)),
      (await get('/api/events?from=0')).text,
      (await get(`/api/overlay/${overlay}/history`)).text,
      (await get('/api/account/history')).text,
      await exported(),
    ].join('\n')

  beforeEach(async () => {
    app = await startTestApp({ RATE_LIMIT_PER_MINUTE: '0' })
    ;({ key, id: account } = await app.register())
    const body = { type: 'newsletter', name: 'News' }
    overlay = Number((await app.post('/api/overlay/add', { key, body })).json['id'])
  })
  afterEach(() => app.close())

  it('is nowhere once it is erased, also of moments before, while other answers and reports stay', async () => {
    const id = await give('marker-gone')
    await give('marker-kept')
    await send('7kq2m9xd', 'marker-gone')
    await send('7kq2m9xe', 'marker-kept')
    const at = encodeURIComponent(String((await get('/api/overlay')).headers.get('Linkledger-At')))
    expect(await said(at)).to.include('marker-gone')

    expect((await erase(1)).json).to.deep.equal({
      error: 0,
      message: 'Answer 1 has been erased. It cannot come back.',
      undo: null,
    })
    expect(await command('report', 'erase', '7KQ2-M9XD', '--yes')).to.include('Report 7KQ2-M9XD is erased.')
    expect(await keysOf(`answer-${id}`)).to.deep.equal([])
    const expectErased = async () => {
      expect(await places('marker-gone')).to.deep.equal([])
      const all = await said(at)
      expect(all).not.to.include('marker-gone')
      expect(all).to.include('marker-kept').and.include('AnswerErased')
      for (const data of [await answers(), await answers(`&at=${at}`)]) {
        expect(data.result).to.equal(2)
        expect(data.answers.map(({ id, fields }: { id: number; fields: object }) => [id, fields])).to.deep.equal([
          [1, {}],
          [2, { email: 'marker-kept@example.com' }],
        ])
      }
    }
    await expectErased()
    expect((await erase(1)).status).to.equal(404)
    const listed = await command('report', 'list', '--all')
    expect(listed).to.include('marker-kept').and.include('(erased)').and.include('go.example/x (closed)')

    // the log proves what it did before, and the tables are still those that it makes
    expect(await command('verify', '--tables')).to.match(/^The log holds.*^tables +exact /ms)

    // the tables are filled again from a log that has the text sealed, without its key
    await command('rebuild')
    await ledger().tables.refresh()
    await expectErased()
  })

  it('is erased by its owner only', async () => {
    await give('marker-mine')
    const other = await app.register()
    const [theirs, none] = [await erase(1, other.key), await erase(2)]
    expect([theirs.status, theirs.text]).to.deep.equal([404, none.text])
    expect(JSON.stringify(await answers())).to.include('marker-mine')
  })

  it('is erased of a deleted overlay, too', async () => {
    await give('marker-deleted')
    await app.del(`/api/overlay/${overlay}/delete`, { key })
    expect((await erase(1)).status).to.equal(200)
    await app.post(`/api/overlay/${overlay}/restore`, { key, body: {} })
    expect(JSON.stringify(await answers())).to.include('"fields":{}')
    expect(await places('marker-deleted')).to.deep.equal([])
  })

  it('vanishes from every answer when an older release has sealed it under the key of the account', async () => {
    const id = await give('marker-new')
    const { keys } = ledger()
    const text = sealPersonal(
      (await keys.forOpening([account])).get(account)!,
      `${account}/AnswerGiven/fields`,
      JSON.stringify({ email: 'marker-old@example.com' }),
    )
    await query(app.connection, 'delete from state.keys where name = $1', [`answer-${id}`])
    await query(app.connection, 'alter table log.events disable trigger all')
    await query(
      app.connection,
      `update log.events set data = jsonb_set(data::jsonb, '{fields}', to_jsonb($1::text)) where type = 'AnswerGiven'`,
      [text],
    )
    const events = async () => (await get('/api/events?from=0')).text
    expect(await events()).to.include('marker-old')
    expect((await erase(1)).status).to.equal(200)
    expect(await events()).not.to.include('marker-old')
    expect(await exported()).not.to.include('marker-old')
  })

  it('is erased after ANSWER_RETENTION_MONTHS, of reports once they are closed for so long', async () => {
    await give('marker-old')
    await send('7kq2m9xd', 'marker-old')
    await send('7kq2m9xe', 'marker-open')
    await command('report', 'close', '7KQ2-M9XD')
    await runJob(undefined, new Date(Date.now() + 9 * month))
    await runJob(3, new Date(Date.now() + 2 * month))
    expect(await places('marker-old')).not.to.deep.equal([])
    await runJob(3, new Date(Date.now() + 4 * month))
    const found = await until(
      () => places('marker-old'),
      (names) => names.length === 0,
    )
    expect(found).to.deep.equal([])
    expect(await places('marker-open')).not.to.deep.equal([])
    expect(await query(app.connection, `select name from state.keys where name like 'answer-%'`)).to.deep.equal([])
  })

  it('loses its key also when the process is killed after the event', async () => {
    const id = await give('marker-killed')
    const erasing = { type: 'EraseAnswer', answer: id, overlay, account } as const
    await ledger().handler.handle(answer, erasing, systemMetadata(account))
    const left = await until(
      async () => {
        await runJob(undefined)
        return keysOf(`answer-${id}`)
      },
      (names) => names.length === 0,
    )
    expect(left).to.deep.equal([])
    expect(await places('marker-killed')).to.deep.equal([])
    expect((await get('/api/events?from=0')).text).not.to.include('marker-killed')
  })
})
