import { expect } from 'chai'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const folder = import.meta.dirname

describe('the test suite', () => {
  let sources: readonly (readonly [path: string, text: string])[]
  before(async () => {
    const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.ts'))
    sources = await Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path), 'utf8')] as const))
  })
  const containing = (pattern: RegExp) => sources.flatMap(([path, text]) => (pattern.test(text) ? [path] : []))

  it('prints why it skips a test, because only one helper skips', () => {
    expect(containing(/\.skip\(|\bx(it|describe)\(/)).to.deep.equal([join('support', 'skip.ts')])
  })

  it('leaves no test out because another one is marked as the only one', () => {
    expect(containing(/\b(it|describe)\.only\(/)).to.deep.equal([])
  })
})
