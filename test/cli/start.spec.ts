import { expect } from 'chai'
import { closeWithin } from '../../src/cli/start.ts'

describe('stopping the service', () => {
  it('does not wait longer than it may for a server that is silent', async () => {
    let onLate = () => {}
    const late = new Promise<string>((resolve) => (onLate = () => resolve('late')))
    void closeWithin(() => new Promise(() => {}), 1, onLate)
    expect(await late).to.equal('late')
  })

  it('ends by itself when everything is closed in time', async () => {
    let isLate = false
    await closeWithin(
      async () => {},
      1,
      () => (isLate = true),
    )
    await new Promise((done) => setTimeout(done, 20))
    expect(isLate).to.equal(false)
  })
})
