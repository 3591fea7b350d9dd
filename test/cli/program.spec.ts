import { expect } from 'chai'
import { readFile, writeFile } from 'node:fs/promises'
import { allCommands, createProgram, nameOf } from '../../src/cli/program.ts'
import { describeError, run } from '../../src/cli/run.ts'
import { commandReference } from '../support/clireference.ts'

const silent = { variables: {}, print: () => {}, printError: () => {} }

/** Runs a command in this process; resolves with its exit code and what it printed. */
const call = async (...args: string[]) => {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await run(args, { variables: {}, print: (line) => out.push(line), printError: (line) => err.push(line) })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

describe('the command line', () => {
  const program = createProgram(silent)
  const commands = allCommands(program)

  it('has a description for every command, argument and option', () => {
    for (const command of commands) {
      expect(command.description(), nameOf(command)).to.not.equal('')
      for (const { description } of [...command.registeredArguments, ...command.options])
        expect(description, nameOf(command)).to.not.equal('')
    }
  })

  for (const command of commands) {
    const name = nameOf(command)
    it(`prints the help of \`${name}\` and exits with 0`, async () => {
      const { code, out, err } = await call(...name.split(' ').slice(1), '--help')
      expect([code, err]).to.deep.equal([0, ''])
      expect(out)
        .to.match(new RegExp(`^Usage: ${name} `))
        .and.include(command.description())
      for (const { long } of command.options) expect(out).to.include(long)
    })
  }

  it('lists the commands when help is requested without a command', async () => {
    const { code, out } = await call('help')
    expect(code).to.equal(0)
    for (const { name } of program.commands.map((command) => ({ name: command.name() }))) expect(out).to.include(name)
  })

  it('prints nothing of others that moves the cursor or changes the colors of a terminal', async () => {
    const { err } = await call('account', 'frobnicate\u001b[2J\u009b31m\u202e\u0007')
    expect(err).to.include('frobnicate [2J 31m').and.to.match(/\n/)
    expect(err).not.to.match(/[^\n\P{Cc}]|\p{Cf}/u)
  })

  it('prints the version of package.json', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    expect(await call('--version')).to.deep.equal({ code: 0, out: version, err: '' })
  })

  it('is documented in docs/cli.md as the program describes it', async () => {
    const file = new URL('../../docs/cli.md', import.meta.url)
    const reference = commandReference(program)
    if (process.env['UPDATE_DOCS']) await writeFile(file, reference)
    expect(await readFile(file, 'utf8'), 'UPDATE_DOCS=1 npx mocha test/cli/program.spec.ts writes it').to.equal(
      reference,
    )
  })

  describe('with wrong usage', () => {
    const wrong: readonly [args: string, message: RegExp, hint: string][] = [
      ['accounts', /^linkledger: unknown command 'accounts'\n\(Did you mean account\?\)/, 'linkledger'],
      ['account list --prot 80', /^linkledger: unknown option '--prot'/, 'linkledger account list'],
      ['rebuild --yes', /^linkledger: unknown option '--yes'/, 'linkledger rebuild'],
      ['account remove ann', /^linkledger: unknown command 'remove'/, 'linkledger account'],
      ['account add', /^linkledger: missing required argument 'email'/, 'linkledger account add'],
      ['account disable', /^linkledger: missing required argument 'account'/, 'linkledger account disable'],
      ['account list all', /^linkledger: too many arguments for 'list'/, 'linkledger account list'],
      ['log move', /^linkledger: unknown command 'move'/, 'linkledger log'],
      ['log copy --from embedded', /^linkledger: required option '--to <place>' not specified/, 'linkledger log copy'],
      ['spool export', /^linkledger: unknown command 'export'/, 'linkledger spool'],
      ['spool import', /^linkledger: missing required argument 'folder'/, 'linkledger spool import'],
    ]
    for (const [args, message, hint] of wrong)
      it(`\`${args}\` exits with 2 and reports the error and the help to read`, async () => {
        const { code, out, err } = await call(...args.split(' '))
        expect([code, out]).to.deep.equal([2, ''])
        expect(err).to.match(message)
        expect(err).to.include(`Try: ${hint} --help`)
      })

    it('prints the help of a group of commands and exits with 2 when no command of it is named', async () => {
      const { code, err } = await call('account')
      expect(code).to.equal(2)
      expect(err).to.match(/^Usage: linkledger account /)
    })

    const values: readonly [args: string[], message: string][] = [
      ...['key', 'operator', 'disable', 'enable', 'erase'].map((command): [string[], string] => [
        ['account', command, 'ann'],
        'its input is not a terminal. Add --yes to confirm.',
      ]),
      [['account', 'erase', '219', '--yes'], 'write id:219 for the id, @219 for the username'],
      [['account', 'add', 'ann'], '`email` must be an e-mail address'],
      [['account', 'add', 'new@example.com', '--password', 'short'], '`password` must '],
      [['account', 'add', 'new@example.com', '--username', 'N'], '`username` must be 3 to 32 '],
      [
        ['account', 'key', 'ann', '--expires', 'tomorrow'],
        '--expires must be a date and time in UTC, for example 2030-01-31 18:00:00',
      ],
      [
        ['account', 'key', 'ann', '--expires', '2020-01-01'],
        '--expires must be a future date and time in UTC, for example 2030-01-31 18:00:00.',
      ],
      [['block', 'host', 'evil.example/x', '--reason', 'x', '--yes'], 'is not a host: write one without port and path'],
      [['block', 'pattern', '*', '--reason', 'x', '--yes'], 'is not a pattern: write a host and a path with *'],
      [['block', 'link', 'a b@c/d', '--reason', 'x', '--yes'], 'is not a short link: write its address'],
      [['block', 'host', 'evil.example', '--yes'], '--reason must say in at most 500 characters why'],
      [['block', 'host', 'evil.example', '--reason', 'x'], 'Add --yes to confirm.'],
      [['unblock', 'host', 'evil.example'], 'Add --yes to confirm.'],
      [['report', 'close', '7KQ2'], 'is not a reference such as 7KQ2-M9XD'],
      [['report', 'list', '--limit', 'all'], '--limit must be a whole number from 1 to 99999'],
      [['log', 'copy', '--from', 'mysql://x', '--to', 'embedded'], '--from must be an address like esdb:'],
      [['log', 'copy', '--from', 'embedded', '--to', 'kurrentdb://x'], '--to must begin with esdb://'],
      [['spool', 'import', '/nowhere/at/all'], 'there is no folder /nowhere/at/all'],
    ]
    for (const [args, message] of values)
      it(`\`${args.join(' ')}\` exits with 2 before anything is opened`, async () => {
        const { code, out, err } = await call(...args)
        expect([code, out]).to.deep.equal([2, ''])
        expect(err)
          .to.match(/^linkledger: /)
          .and.include(message)
      })
  })

  it('exits with 1, the number of invalid settings and a line for each of them', async () => {
    const err: string[] = []
    const variables = { PORT: 'x', LOG_LEVEL: 'loud' }
    const code = await run(['rebuild'], { ...silent, variables, printError: (line) => err.push(line) })
    expect(code).to.equal(1)
    expect(err.join()).to.match(/^linkledger: 2 settings are wrong:\nPORT must .*\nLOG_LEVEL must [^\n]*$/)
  })

  it('says in plain words that PostgreSQL does not answer, and that a disk is full', () => {
    const silentPool = Object.assign(new Error('Knex: Timeout acquiring a connection.'), { name: 'KnexTimeoutError' })
    expect(describeError(silentPool)).to.equal('no connection to PostgreSQL could be had in time')
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    expect(describeError(full)).to.equal(
      'ENOSPC: no space left on device, write: make room on the disk of DATA_DIR, or of the file that this command writes, then run it again',
    )
  })

  it('names the cause, without a stack, when PostgreSQL cannot be reached', async () => {
    const err: string[] = []
    const variables = { DATABASE_URL: 'postgres://user@127.0.0.1:1/none', SECRET: 'a secret for tests only' }
    const code = await run(['rebuild'], { ...silent, variables, printError: (line) => err.push(line) })
    expect(code).to.equal(1)
    expect(err.join('\n'))
      .to.match(/^linkledger: .*ECONNREFUSED/)
      .and.not.match(/^ +at /m)
  })
})
