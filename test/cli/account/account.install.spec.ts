import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { withLedger } from '../../../src/cli/ledger.ts'
import { openOneTimeLinks } from '../../../src/security/onetimelinks.ts'
import { run as runInProcess } from '../../../src/cli/run.ts'
import { runningEmbedded } from '../../../src/postgres/embedded.ts'
import { type Answer, until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'
import { runCommand, type Service, startProcess } from '../../support/process.ts'

const long = 'https://example.com/'

describe('account commands and rebuild, on the embedded database', function () {
  this.timeout(300_000)
  let dir: string
  let service: Service
  /** Runs a command that succeeds in a process of its own; resolves with what it prints. */
  const run = async (...args: string[]) => {
    const { code, out, err } = await runCommand(args, { DATA_DIR: dir })
    expect(code, err).to.equal(0)
    expect(err).to.equal('')
    return out
  }
  /** Runs a command that fails in a process of its own; resolves with its message. */
  const refused = async (args: readonly string[], settings: Record<string, string> = {}) => {
    const { code, out, err } = await runCommand(args, { DATA_DIR: dir, ...settings })
    expect(code, args.join(' ')).to.equal(1)
    expect(out, args.join(' ')).to.equal('')
    expect(err, args.join(' '))
      .to.match(/^linkledger: /)
      .and.not.to.match(/^ +at /m)
    return err
  }
  /** Runs an account command in this process; resolves with all that it prints. */
  const inProcess = async (args: readonly string[], settings: Record<string, string> = {}) => {
    const printed: string[] = []
    const print = (line: string) => void printed.push(line)
    const input = Readable.from(['correct horse 9\n'])
    const variables = { DATA_DIR: dir, ...settings }
    await runInProcess(['account', ...args], { variables, print, printError: print, input })
    return printed.join('\n')
  }
  const field = (name: string, out: string) => new RegExp(`^${name} +(\\S+)$`, 'm').exec(out)?.[1] ?? ''
  const accountIn = (email: string, out: string) => {
    const [id, username, key] = ['account', 'username', 'API key'].map((name) => field(name, out)) as [
      string,
      string,
      string,
    ]
    return { email, out, id, username, key }
  }
  /** Waits until a running service responds with the status: it does so when a command ends, or a moment later. */
  const soon = async (ask: () => Promise<Answer>, status: number) => {
    const answer = await until(ask, (now) => now.status === status)
    expect(answer.status, answer.text).to.equal(status)
    return answer
  }
  const account = (key: string) => service.get('/api/account', { key })
  const shorten = async (key: string, custom: string) => {
    const { json, text } = await service.post('/api/url/add', { key, body: { url: long, custom } })
    expect(json['error'], text).to.equal(0)
    return `/${custom}`
  }

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkledger-admin-'))
    service = await startProcess({ DATA_DIR: dir })
    await until(
      () => service.get('/readyz?of=api'),
      ({ status }) => status === 200,
    )
  })
  after(async () => {
    await service.end()
    await rm(dir, { recursive: true, force: true })
  })

  describe('while a service is running', () => {
    let ann: ReturnType<typeof accountIn>
    let bob: ReturnType<typeof accountIn>
    let eve: ReturnType<typeof accountIn>
    const links: Record<string, string> = {}
    let begun: Date
    before(async () => {
      begun = new Date()
      const emails = ['ann@example.com', 'bob@example.com', 'erase-canary45@example.com'] as const
      const [first, second, third] = await Promise.all([
        run('account', 'add', emails[0], '--username', 'ann'),
        run('account', 'add', emails[1], '--username', 'bobby', '--password', 'correct horse 1'),
        inProcess(['add', emails[2], '--username', 'canary45']),
      ])
      ;[ann, bob, eve] = [accountIn(emails[0], first), accountIn(emails[1], second), accountIn(emails[2], third)]
      for (const { username, key } of [ann, bob, eve]) links[username] = await shorten(key, `of-${username}`)
      for (const path of Object.values(links)) expect((await service.visit(path)).status).to.equal(302)
    })

    it('creates accounts whose API keys work at once', async () => {
      for (const { id, key, email, username } of [ann, bob, eve])
        expect((await account(key)).json['data']).to.include({ id: Number(id), email, username })
      expect([ann.username, bob.username]).to.deep.equal(['ann', 'bobby'])
      expect(field('password', ann.out)).to.match(/^[\w-]{16}$/)
      expect(bob.out).not.to.include('correct horse')
      for (const { out } of [ann, bob]) expect(out).to.include('This is the only time that the key is shown.')
    })

    it('replaces a password with one that is read or generated, never with an argument', async () => {
      const [read, generated] = [
        await inProcess(['password', '@bobby']),
        await inProcess(['password', ann.email, '--generate']),
      ]
      expect(read).to.include(`The password of account ${bob.id} is replaced,`).and.not.to.include('correct horse')
      for (const [{ key }, current_password] of [
        [bob, 'correct horse 9'],
        [ann, field('password', generated)],
      ] as const) {
        const change = { password: 'correct horse 1', current_password }
        const { status, text } = await service.put('/api/account/update', { key, body: change })
        expect(status, text).to.equal(200)
      }
      expect(await inProcess(['password', '@nina'])).to.equal('linkledger: there is no account @nina')
    })

    it('ends the links of an account whose password the operator replaces', async () => {
      let page = ''
      await withLedger(
        { variables: { DATA_DIR: dir }, print: () => {}, printError: () => {} },
        async ({ db, keys }) => {
          const link = { account: Number(bob.id), content: {} }
          page = `/account/password?t=${await openOneTimeLinks(db, keys.service).issue('password', link, 3600)}`
        },
      )
      expect((await service.get(page)).status).to.equal(200)
      expect(await inProcess(['password', '@bobby'])).to.include('is replaced,')
      expect((await service.get(page)).status).to.equal(410)
    })

    it('lists accounts, finds them by id, e-mail or username, and changes them at once', async () => {
      const [list, replaced, disabled] = await Promise.all([
        inProcess(['list']),
        run('account', 'key', 'ann@example.com', '--expires', '2090-01-31 18:00:00', '--yes'),
        run('account', 'disable', '@bobby', '--yes'),
      ])
      const rows = list.split('\n').map((line) => line.trim().split(/ +/))
      expect(rows[0]).to.deep.equal(['id', 'status', 'registered', 'username', 'e-mail'])
      const registered = (id: string) => rows.find(([first]) => first === id)?.[2]
      // the day may have ended meanwhile
      const days = [begun, new Date()].map((day) => day.toISOString().slice(0, 10))
      for (const { id } of [ann, eve]) expect(registered(id)).to.be.oneOf(days)
      expect(rows).to.deep.include([ann.id, 'active', registered(ann.id), 'ann', ann.email])
      expect(rows).to.deep.include([eve.id, 'active', registered(eve.id), 'canary45', eve.email])

      const key = field('API key', replaced)
      expect((await soon(() => account(key), 200)).json['data']).to.include({ email: ann.email })
      await soon(() => account(ann.key), 401)
      ann = { ...ann, key }
      const kept = await inProcess(['key', '@ann', '--keep', '--yes'])
      for (const one of [field('API key', kept), key]) await soon(() => account(one), 200)

      const limit = async () => (await account(key)).headers.get('X-RateLimit-Limit')
      expect(await inProcess(['limit', '@ann', '600'])).to.equal(
        `Account ${ann.id} (@ann, ${ann.email}) may send 600 requests per minute.`,
      )
      expect(await until(limit, (now) => now === '600')).to.equal('600')
      expect(await inProcess(['limit', '@ann', 'default'])).to.include(', the default.')
      expect(await until(limit, (now) => now !== '600')).not.to.equal('600')

      expect(disabled).to.match(new RegExp(`^Account ${bob.id} \\(@bobby, .*\\nAccount ${bob.id} is disabled\\.\\n$`))
      await soon(() => account(bob.key), 403)
      await soon(() => service.visit(links['bobby']!), 404)
      const bobby = `Account ${bob.id} (@bobby, ${bob.email}, disabled): accept its API key and serve its links again.`
      expect(await inProcess(['enable', `id:${bob.id}`, '--yes'])).to.equal(`${bobby}\nAccount ${bob.id} is enabled.`)
      await soon(() => account(bob.key), 200)
      await soon(() => service.visit(links['bobby']!), 302)
    })

    it('erases an account, and rebuilds the read tables while the service keeps responding', async () => {
      const list = async () => (await service.get('/api/urls', { key: ann.key })).json
      await service.visit(links['ann']!, { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) canary45/1.0 Firefox/130.0' })
      const before = await until(list, (json) => json['data'].urls[0].clicks === 2)

      expect(await run('account', 'erase', eve.email, '--yes')).to.include(`Account ${eve.id} is erased.`)
      expect((await soon(() => account(eve.key), 401)).text).to.equal((await account('nonsense')).text)
      await soon(() => service.visit(links['canary45']!), 404)

      let over = false
      const rebuilding = run('rebuild').finally(() => (over = true))
      while (!over) {
        expect(await list()).to.deep.equal(before)
        expect((await service.visit(links['bobby']!, { 'User-Agent': 'Googlebot/2.1' })).status).to.equal(302)
      }
      expect(await rebuilding).to.include('The read tables are rebuilt and in use.')
      expect(await list()).to.deep.equal(before)
      expect((await service.get('/readyz?of=api')).status).to.equal(200)
      await shorten(ann.key, 'after-rebuild')
      expect((await service.visit('/after-rebuild')).status).to.equal(302)
    })

    it('leaves no personal data of an erased account in the log, the tables and the spool', async () => {
      const connection = (await runningEmbedded(dir))!
      const tables = await query<{ name: string }>(
        connection,
        `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('log', 'state', 'read')`,
      )
      expect(tables.length).to.be.at.least(8)
      const rows = (name: string, text: string) =>
        query(connection, `select 1 from ${name} t where t::text ilike $1`, [`%${text}%`]).catch((error: unknown) => {
          // the service drops the tables that a rebuild has replaced
          if ((error as { code?: string }).code === '42P01') return []
          throw error
        })
      for (const { name } of tables) expect(await rows(name, eve.email), name).to.deep.equal([])
      // the alias `of-canary45` is the link's: it stays where links are, and where visitors have asked for it since
      const personal = /read\.(accounts|api_keys|clicks|labels)|state\.(?!misses$)/
      for (const { name } of tables.filter((one) => personal.test(one.name)))
        expect(await rows(name, 'canary45'), name).to.deep.equal([])
      expect(await rows('state.keys', `account-${eve.id},`)).to.deep.equal([])
      for (const file of await readdir(join(dir, 'spool'), { recursive: true })) {
        const path = join(dir, 'spool', file)
        if ((await stat(path)).isFile()) expect(await readFile(path, 'latin1'), file).not.to.include(eve.email)
      }

      const list = await inProcess(['list'])
      expect(list)
        .to.match(new RegExp(`^ +${eve.id}  erased`, 'm'))
        .and.not.to.include('canary45')
      // the e-mail is free again, the alias is not
      const again = await service.post('/register', { body: { email: eve.email, password: 'correct horse 1' } })
      expect([again.status, again.json['id'] > Number(eve.id)]).to.deep.equal([200, true])
      const taken = await service.post('/api/url/add', { key: bob.key, body: { url: long, custom: 'of-canary45' } })
      expect(taken.json['message']).to.include('alias is taken')
    })

    it('reads the password of a new account, so that it need not be an argument', async () => {
      const nora = accountIn('nora@example.com', await inProcess(['add', 'nora@example.com', '--password']))
      expect(nora.out)
        .not.to.include('correct horse')
        .and.not.to.match(/^password/m)
      const body = { password: 'correct horse 1', current_password: 'correct horse 9' }
      const { status, text } = await service.put('/api/account/update', { key: nora.key, body })
      expect(status, text).to.equal(200)
    })

    it('says which account does not exist and which name is taken', async () => {
      const expires = await runCommand(['account', 'key', 'ann', '--expires', 'tomorrow'], { DATA_DIR: dir })
      expect([expires.code, expires.err]).to.deep.equal([
        2,
        'linkledger: --expires must be a date and time in UTC, for example 2030-01-31 18:00:00, or a day, for example 2030-01-31.\n',
      ])
      const wrong: [RegExp, string[]][] = [
        [/^linkledger: `email` belongs to another account[^\n]*$/, ['add', 'ANN@example.com']],
        [
          /^linkledger: `username` belongs to another account[^\n]*$/,
          ['add', 'new@example.com', '--username', 'bobby'],
        ],
        [/^linkledger: there is no account nobody@example\.com$/, ['key', 'nobody@example.com', '--yes']],
        [new RegExp(`^linkledger: there is no account id:${eve.id}$`), ['enable', `id:${eve.id}`, '--yes']],
      ]
      const printed = await Promise.all(wrong.map(([, args]) => inProcess(args)))
      wrong.forEach(([pattern, args], i) => expect(printed[i], args.join(' ')).to.match(pattern))
    })

    it('refuses a second service on the same folder, invalid settings and a different SECRET', async () => {
      const [second, wrong] = await Promise.all([
        refused(['start'], { PORT: '0' }),
        refused(['start'], { PORT: 'x', BASE_URL: 'y', LOG_LEVEL: 'z', SECRET: 'short' }),
      ])
      expect(second).to.match(/is in use by another linkledger \(pid \d+\)/)
      for (const name of ['PORT', 'BASE_URL', 'LOG_LEVEL', 'SECRET'])
        expect(wrong).to.match(new RegExp(`${name} must `))
      expect(await inProcess(['list'], { SECRET: 'quite another secret' })).to.match(/^linkledger: SECRET [^\n]*$/)
      expect((await account(ann.key)).status).to.equal(200)
    })

    it('works without a running service, and the service finds the changes when it starts again', async () => {
      expect(await service.end()).to.equal(0)
      const carl = accountIn('carl@example.com', await run('account', 'add', 'carl@example.com'))
      service = await startProcess({ DATA_DIR: dir })
      for (const { key, email } of [ann, bob, carl]) expect((await account(key)).json['data']).to.include({ email })
      expect((await service.visit(links['ann']!)).headers.get('Location')).to.equal(long)
      const list = await inProcess(['list'])
      for (const { email } of [ann, bob, carl]) expect(list).to.include(email)
    })
  })
})
