import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { accountCommand, type AccountOptions } from '../../src/cli/account.ts'
import { runningEmbedded } from '../../src/postgres/embedded.ts'
import { type Answer, until } from '../support/client.ts'
import { query } from '../support/faults.ts'
import { runCommand, type Service, startProcess } from '../support/process.ts'

const long = 'https://example.com/'

describe('the command line, on the embedded database', function () {
  this.timeout(120_000)
  let dir: string
  let service: Service
  /** What a command that does its work prints. */
  const run = async (...args: string[]) => {
    const { code, out, err } = await runCommand(args, { DATA_DIR: dir })
    expect(code, err).to.equal(0)
    expect(err).to.equal('')
    return out
  }
  /** What one that cannot do it says. */
  const refused = async (args: readonly string[], settings: Record<string, string> = {}) => {
    const { code, out, err } = await runCommand(args, { DATA_DIR: dir, ...settings })
    expect(code, args.join(' ')).to.equal(1)
    expect(out, args.join(' ')).to.equal('')
    expect(err, args.join(' '))
      .to.match(/^linkledger: /)
      .and.not.to.match(/^ +at /m)
    return err
  }
  /** The same without a process of its own: what it prints, or the message it ends with. */
  const inProcess = async (args: readonly string[], options: AccountOptions = {}) => {
    const printed: string[] = []
    await accountCommand(args, options, (line) => void printed.push(line)).catch((error: Error) =>
      printed.push(error.message),
    )
    return printed.join('\n')
  }
  const field = (name: string, out: string) => new RegExp(`^${name} +(\\S+)$`, 'm').exec(out)?.[1] ?? ''
  const made = (email: string, out: string) => {
    const [id, username, key] = ['account', 'username', 'API key'].map((name) => field(name, out)) as [
      string,
      string,
      string,
    ]
    return { email, out, id, username, key }
  }
  /** A running service has changed its answers by the time that a command ends, or within a moment. */
  const soon = async (ask: () => Promise<Answer>, status: number) => {
    const answer = await until(ask, (now) => now.status === status, 1000)
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
    process.env['DATA_DIR'] = dir
    service = await startProcess({ DATA_DIR: dir })
  })
  after(async () => {
    delete process.env['DATA_DIR']
    await service.end()
    await rm(dir, { recursive: true, force: true })
  })

  describe('beside a running service', () => {
    let ann: ReturnType<typeof made>
    let bob: ReturnType<typeof made>
    let eve: ReturnType<typeof made>
    const links: Record<string, string> = {}
    before(async () => {
      const emails = ['ann@example.com', 'bob@example.com', 'erase-canary45@example.com'] as const
      const [first, second, third] = await Promise.all([
        run('account', 'add', emails[0]),
        run('account', 'add', emails[1], '--username', 'bobby', '--password', 'correct horse 1'),
        inProcess(['add', emails[2]], { username: 'canary45' }),
      ])
      ;[ann, bob, eve] = [made(emails[0], first), made(emails[1], second), made(emails[2], third)]
      for (const { username, key } of [ann, bob, eve]) links[username] = await shorten(key, `of-${username}`)
      for (const path of Object.values(links)) expect((await service.visit(path)).status).to.equal(302)
    })

    it('makes accounts, whose keys hold at once', async () => {
      for (const { id, key, email, username } of [ann, bob, eve])
        expect((await account(key)).json['data']).to.include({ id: Number(id), email, username })
      expect([ann.username, bob.username]).to.deep.equal(['ann', 'bobby'])
      expect(field('password', ann.out)).to.match(/^[\w-]{16}$/)
      expect(bob.out).not.to.include('correct horse')
      for (const { out } of [ann, bob]) expect(out).to.include('The key is shown this once.')
    })

    it('lists them, names them by id, e-mail or username, and changes them at once', async () => {
      const [list, replaced, disabled] = await Promise.all([
        inProcess(['list']),
        run('account', 'key', 'ann@example.com', '--expires', '2090-01-31 18:00:00'),
        run('account', 'disable', 'bobby'),
      ])
      const rows = list.split('\n').map((line) => line.trim().split(/ +/))
      expect(rows[0]).to.deep.equal(['id', 'status', 'registered', 'username', 'e-mail'])
      const today = new Date().toISOString().slice(0, 10)
      expect(rows).to.deep.include([ann.id, 'active', today, 'ann', ann.email])
      expect(rows).to.deep.include([eve.id, 'active', today, 'canary45', eve.email])

      const key = field('API key', replaced)
      expect((await soon(() => account(key), 200)).json['data']).to.include({ email: ann.email })
      await soon(() => account(ann.key), 401)
      ann = { ...ann, key }

      expect(disabled).to.equal(`Account ${bob.id} is disabled.\n`)
      await soon(() => account(bob.key), 403)
      await soon(() => service.visit(links['bobby']!), 404)
      expect(await inProcess(['enable', bob.id])).to.equal(`Account ${bob.id} is enabled.`)
      await soon(() => account(bob.key), 200)
      await soon(() => service.visit(links['bobby']!), 302)
    })

    it('erases an account for good, and rebuilds the tables while the service goes on answering (threat 45)', async () => {
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
      expect(await rebuilding).to.include('The read tables are built anew and in use.')
      expect(await list()).to.deep.equal(before)
      expect((await service.get('/readyz')).status).to.equal(200)
      await shorten(ann.key, 'after-rebuild')
      expect((await service.visit('/after-rebuild')).status).to.equal(302)
    })

    it('leaves nothing personal of whom it erased: in the log, the tables and the spool (threat 45)', async () => {
      const connection = (await runningEmbedded(dir))!
      const tables = await query<{ name: string }>(
        connection,
        `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('log', 'state', 'read')`,
      )
      expect(tables.length).to.be.at.least(8)
      const rows = (name: string, text: string) =>
        query(connection, `select 1 from ${name} t where t::text ilike $1`, [`%${text}%`])
      for (const { name } of tables) expect(await rows(name, eve.email), name).to.deep.equal([])
      // the alias `of-canary45` is the link's: it stays where links are
      for (const { name } of tables.filter(({ name }) => /read\.(accounts|api_keys|clicks|labels)|state/.test(name)))
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

    it('says what would be right', async () => {
      const [command, option, expires] = await Promise.all([
        refused(['accounts']),
        refused(['account', 'list', '--prot', '80']),
        refused(['account', 'key', 'ann', '--expires', 'tomorrow']),
      ])
      expect(command).to.match(/there is no command accounts[^]*linkledger account add EMAIL/)
      expect(option).to.include(`--prot`)
      expect(expires).to.equal(
        'linkledger: --expires: must be a date and time in UTC, for example 2030-01-31 18:00:00, or a day, for example 2030-01-31.\n',
      )
      const wrong: [RegExp, string[], AccountOptions?][] = [
        [/account add\|list\|key\|disable\|enable\|erase/, []],
        [/account add\|list\|key\|disable\|enable\|erase/, ['remove', 'ann']],
        [/Say --yes/, ['erase', 'ann']],
        [/email: is required/, ['add']],
        [/`email` must be an e-mail address, for example/, ['add', 'ann']],
        [/`password` must be at least 8 characters/, ['add', 'new@example.com'], { password: 'short' }],
        [/`username` must be 3 to 32 lower-case letters/, ['add', 'new@example.com'], { username: 'N' }],
        [/email: .*taken/, ['add', 'ANN@example.com']],
        [/username: .*taken/, ['add', 'new@example.com'], { username: 'bobby' }],
        [/there is no account nobody@example\.com/, ['key', 'nobody@example.com']],
        [new RegExp(`there is no account ${eve.id}`), ['enable', eve.id]],
        [/say which account: an id, an e-mail or a username/, ['disable']],
      ]
      const said = await Promise.all(wrong.map(([, args, options]) => inProcess(args, options)))
      wrong.forEach(([pattern, args], i) => expect(said[i], args.join(' ')).to.match(pattern))
    })

    it('starts no second service on the same folder, and does nothing with wrong settings or another SECRET', async () => {
      const [second, wrong] = await Promise.all([
        refused(['start'], { PORT: '0' }),
        refused(['start'], { PORT: 'x', BASE_URL: 'y', LOG_LEVEL: 'z', SECRET: 'short' }),
      ])
      expect(second).to.match(/is in use by another linkledger \(pid \d+\)/)
      for (const name of ['PORT', 'BASE_URL', 'LOG_LEVEL', 'SECRET'])
        expect(wrong).to.match(new RegExp(`${name} must `))
      process.env['SECRET'] = 'quite another secret'
      expect(await inProcess(['list'])).to.match(/^SECRET .*/)
      delete process.env['SECRET']
      expect((await account(ann.key)).status).to.equal(200)
    })

    it('does without the service too; what it did holds when the service starts again', async () => {
      expect(await service.end()).to.equal(0)
      const carl = made('carl@example.com', await run('account', 'add', 'carl@example.com'))
      service = await startProcess({ DATA_DIR: dir })
      for (const { key, email } of [ann, bob, carl]) expect((await account(key)).json['data']).to.include({ email })
      expect((await service.visit(links['ann']!)).headers.get('Location')).to.equal(long)
      const list = await inProcess(['list'])
      for (const { email } of [ann, bob, carl]) expect(list).to.include(email)
    })
  })
})
