import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { aliasPattern, isReserved } from '../../../src/commands/links/alias.ts'
import { routes } from '../../../src/http/routes.ts'

describe('the list of reserved words', () => {
  it('has all first parts of the addresses that the service serves', () => {
    const site = readFileSync('src/app/site/site.ts', 'utf8')
    const served = [...site.matchAll(/'\/([^'/]+)\/?':/g)].map(([, part = '']) => part)
    const parts = [...served, ...routes.map(({ path }) => path.split('/')[1] ?? '')]
    expect(served).to.include.members(['account', 'dashboard', 'log', 'qr', 'r', 'report', 'u'])
    expect(parts.filter((part) => aliasPattern.test(part) && !isReserved(part))).to.deep.equal([])
  })
})
