import { expect } from 'chai'
import { nodeProblem } from '../src/nodeversion.ts'

describe('the Node.js version', () => {
  it('is accepted from 20.19 on', () => {
    for (const version of ['v20.19.0', 'v20.20.2', 'v22.0.0', 'v24.12.1', 'v26.0.0-nightly'])
      expect(nodeProblem(version), version).to.equal(undefined)
  })

  it('is refused below 20.19 with the version that is needed', () => {
    for (const version of ['v12.22.0', 'v18.20.8', 'v19.9.0', 'v20.0.0', 'v20.18.3'])
      expect(nodeProblem(version)).to.equal(
        `linkledger needs Node.js 20.19 or newer; this is ${version}. Install a current version from https://nodejs.org.`,
      )
  })
})
