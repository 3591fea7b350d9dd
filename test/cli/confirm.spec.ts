import { Readable } from 'node:stream'
import { expect } from 'chai'
import { BadCommand } from '../../src/cli/cli.ts'
import { confirm, requireAnswerable } from '../../src/cli/confirm.ts'

const cli = (answer: string, isTTY = true) => {
  const printed: string[] = []
  const print = (line: string) => void printed.push(line)
  const input = Object.assign(Readable.from([answer]), { isTTY })
  return { printed, cli: { variables: {}, print, printError: print, input } }
}
const outcome = async (answer: string, options = {}) => {
  const { cli: terminal, printed } = cli(answer)
  const problem = await confirm(terminal, options, 'Account 7 (@ann): erase it.').then(
    () => '',
    (error: Error) => error.message,
  )
  return { problem, printed }
}

describe('the confirmation of a command', () => {
  it('shows the change, and goes on after a yes', async () => {
    for (const answer of ['y\n', 'Yes\n']) {
      const { problem, printed } = await outcome(answer)
      expect(problem).to.equal('')
      expect(printed).to.deep.equal(['Account 7 (@ann): erase it.', 'Continue? [y/N]'])
    }
  })

  it('changes nothing after any other answer, or none', async () => {
    for (const answer of ['n\n', '\n', 'yesterday\n', ''])
      expect((await outcome(answer)).problem, JSON.stringify(answer)).to.equal('Nothing was changed.')
  })

  it('is on one line, for any e-mail address of the account', async () => {
    const { cli: terminal, printed } = cli('')
    const [escape, reversed] = [0x1b, 0x202e].map((code) => String.fromCodePoint(code))
    await confirm(terminal, { yes: true }, `Account 7 (@eve, ${escape}c${reversed}moc.elpmaxe@nna): erase it.`)
    expect(printed).to.deep.equal(['Account 7 (@eve,  c moc.elpmaxe@nna): erase it.'])
  })

  it('does not ask with --yes, but still shows the change', async () => {
    const { problem, printed } = await outcome('', { yes: true })
    expect(problem).to.equal('')
    expect(printed).to.deep.equal(['Account 7 (@ann): erase it.'])
  })

  it('is refused before the command begins when the input is not a terminal', () => {
    expect(() => requireAnswerable(cli('y\n', false).cli, {})).to.throw(BadCommand, 'Add --yes to confirm.')
    expect(() => requireAnswerable(cli('y\n', false).cli, { yes: true })).not.to.throw()
    expect(() => requireAnswerable(cli('y\n').cli, {})).not.to.throw()
  })
})
