import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { readBytes } from '../../src/lib/streamfile.ts'

describe('a file that a command reads', () => {
  it('is named when it is not there, and nothing else fails', async () => {
    const problem = await readBytes('/nowhere/at/all')
      .next()
      .catch((error: Error) => error.message)
    expect(problem).to.equal('/nowhere/at/all cannot be read (ENOENT)')
    // an error without a listener would end the process here
    await nextTurn()
    await nextTurn()
  })
})
