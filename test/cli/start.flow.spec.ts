import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'chai'
import { builtMain } from '../support/build.ts'

describe('a Node.js that is too old', () => {
  it('makes the program print one line and exit with 1 before it imports anything else', async () => {
    // the process says that it is an older version, and fails on every import but that of the check
    const loader = `export const resolve = (name, context, next) => {
      if (context.parentURL && !name.endsWith('/nodeversion.js')) throw new Error('imported ' + name)
      return next(name, context)
    }`
    const preload = `import { register } from 'node:module'
      Object.defineProperty(process, 'version', { value: 'v18.20.0' })
      register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(loader)}`)})`
    const args = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, await builtMain(), 'start']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    expect(output).to.equal(
      'linkledger needs Node.js 20.19 or newer; this is v18.20.0. Install a current version from https://nodejs.org.\n',
    )
    expect(code).to.equal(1)
  })
})
