import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { readHiddenLine } from '../../src/cli/hiddenline.ts'

const read = async (isTTY: boolean, typed: string) => {
  const printed: string[] = []
  const print = (line: string) => void printed.push(line)
  const input = Object.assign(new PassThrough(), { isTTY, setRawMode: () => {} })
  const reading = readHiddenLine({ variables: {}, print, printError: print, input }, 'New password:')
  input.write(typed)
  return { line: await reading, printed }
}

describe('a password for the command line', () => {
  it('is read from a terminal after a question, and never shown', async () => {
    const { line, printed } = await read(true, 'correct horse 2\r')
    expect(line).to.equal('correct horse 2')
    expect(printed).to.deep.equal(['New password:'])
  })

  it('is the first line of the piped input', async () => {
    const { line, printed } = await read(false, 'correct horse 3\nmore\n')
    expect(line).to.equal('correct horse 3')
    expect(printed).to.deep.equal([])
  })

  it('is empty, and so refused, when the operator presses Ctrl-C', async () => {
    expect((await read(true, 'half a pass\u0003')).line).to.equal('')
  })
})
