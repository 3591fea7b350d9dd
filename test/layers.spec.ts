import { expect } from 'chai'
import { problemOf } from '../bin/layers.js'

describe('the imports that the linter allows', () => {
  const screen = 'web/screens/links/link.tsx'

  it('lets the dashboard import the types of contracts, and nothing that runs', () => {
    for (const file of ['http/domains/contract.ts', 'http/links/contract/link.ts']) {
      expect(problemOf(screen, { file }, true), file).to.equal(undefined)
      expect(problemOf(screen, { file }), file).to.contain('web does not import http')
    }
  })

  it('keeps all else of http from the dashboard, also as types', () => {
    for (const file of ['http/links/link.ts', 'http/links/contracts.ts', 'http/docs/contracts.ts', 'http/dashboard.ts'])
      expect(problemOf(screen, { file }, true), file).to.contain('web does not import http')
  })

  it('lets no other folder import upwards, also not types', () => {
    const problem = problemOf('queries/links/link.ts', { file: 'http/links/contract/link.ts' }, true)
    expect(problem).to.contain('queries does not import http')
  })
})
