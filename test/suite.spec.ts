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

  it('skips tests only through the helper that prints the reason', () => {
    expect(containing(/\.skip\(|\bx(it|describe)\(/)).to.deep.equal([join('support', 'skip.ts')])
  })

  it('marks no test as the only one, which would leave out all others', () => {
    expect(containing(/\b(it|describe)\.only\(/)).to.deep.equal([])
  })
})
