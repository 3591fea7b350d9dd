import { expect } from 'chai'
import { createCleanup, openAll } from '../../src/lib/cleanup.ts'

describe('cleanup', () => {
  const record = () => {
    const [closed, errors]: [string[], unknown[]] = [[], []]
    const cleanup = createCleanup((error) => errors.push(error))
    const open = (name: string) => cleanup.defer(async () => closed.push(name))
    return { cleanup, closed, errors, open }
  }

  it('closes in reverse order, and each only once', async () => {
    const { cleanup, closed, open } = record()
    for (const name of ['store', 'cache', 'server']) open(name)
    await cleanup.run()
    await cleanup.run()
    expect(closed).to.deep.equal(['server', 'cache', 'store'])
  })

  it('reports a failure and closes the rest', async () => {
    const { cleanup, closed, errors, open } = record()
    open('store')
    const failure = new Error('stuck')
    cleanup.defer(() => Promise.reject(failure))
    await cleanup.run()
    expect([closed, errors]).to.deep.equal([['store'], [failure]])
  })

  it('closes open resources when a later step fails, and rethrows the error', async () => {
    const { cleanup, closed, open } = record()
    const failure = new Error('port in use')
    const opening = openAll(cleanup, async () => {
      open('store')
      throw failure
    })
    expect(await opening.catch((error: unknown) => error)).to.equal(failure)
    expect(closed).to.deep.equal(['store'])
  })

  it('leaves everything open when all steps succeed', async () => {
    const { cleanup, closed, open } = record()
    expect(await openAll(cleanup, async () => (open('store'), 'app'))).to.equal('app')
    expect(closed).to.deep.equal([])
  })
})
