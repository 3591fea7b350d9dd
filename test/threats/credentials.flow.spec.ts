import { expect } from 'chai'
import pLimit from 'p-limit'
import { Scope } from '../../src/events/accounts/scope.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type Credential, flavours, starts, walk } from '../support/credentials.ts'
import { linesBelow } from '../support/docs.ts'

/** Says what a credential is, for people. */
const named = (credential: string) => credential.replace(/key ([a-z:]+)$/, 'key with `$1`')

/** Says what was reached, for people. */
const listed = (reached: readonly Credential[]) => {
  const endless = Scope.options.map((scope) => `endless key ${scope}` as const)
  const hasAll = endless.every((one) => reached.includes(one))
  const others = reached.filter((one) => !hasAll || !endless.some((key) => key === one)).map(named)
  return [...others, ...(hasAll ? ['endless keys with every scope'] : [])].sort().join(', ') || 'nothing else'
}

describe('the rights that each credential of an account leads to', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' })
  })
  after(() => app.close())

  it('are those of docs/security.md, when everything is tried until nothing new appears', async function () {
    this.timeout(600_000)
    const lane = pLimit(4)
    const walks = starts.map((start) =>
      Promise.all(flavours.map((flavour) => lane(async () => listed(await walk(app, flavour, start))))),
    )
    const found: string[] = []
    for (const [i, start] of starts.entries()) {
      const reached = await walks[i]!
      found.push(`- **${named(start)}**:`)
      if (new Set(reached).size === 1) found.push(`  - in every account: ${reached[0]}`)
      else flavours.forEach((flavour, n) => found.push(`  - in an account ${flavour}: ${reached[n]}`))
    }
    expect(found).to.deep.equal(linesBelow('docs/security.md', 'What each credential leads to', found))
  })
})
