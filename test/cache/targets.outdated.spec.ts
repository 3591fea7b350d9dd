import { expect } from 'chai'
import { StoreUnavailable } from '../../src/events/store.ts'
import { until } from '../support/client.ts'
import { openTestTargets, target } from '../support/targets.ts'

describe('cached targets whose changes may have been missed', () => {
  const withLink = () => {
    const cache = openTestTargets()
    cache.write(target(1))
    return cache
  }
  it('are looked up once more', async () => {
    const { get, invalidateAll, lookups } = withLink()
    await get('alias-1')
    await get('nothing')
    invalidateAll()
    for (let n = 0; n < 3; n++) expect([await get('alias-1'), await get('nothing')]).to.deep.equal([1, undefined])
    expect(lookups).to.have.length(4)
  })
  it('are looked up for each request while no notifications arrive', async () => {
    const { get, set, lookups } = withLink()
    await get('alias-1')
    set({ trusted: false })
    for (let n = 0; n < 3; n++) await get('alias-1')
    for (let n = 0; n < 3; n++) await get('nothing')
    expect(lookups).to.have.length(7)
  })
  it('are served as they are when the database is unavailable or slow', async () => {
    const { get, invalidateAll, set, hold } = withLink()
    await get('alias-1')
    invalidateAll()
    set({ unavailable: true })
    expect(await get('alias-1')).to.equal(1)
    hold()
    expect(await get('alias-1')).to.equal(1)
  })
  it('are looked up again a second after the database was unavailable', async () => {
    const { get, remove, invalidateAll, set } = withLink()
    await get('alias-1')
    invalidateAll()
    set({ unavailable: true })
    expect(await get('alias-1')).to.equal(1)
    set({ unavailable: false })
    remove(1)
    await until(
      () => get('alias-1'),
      (found) => found === undefined,
    )
  })
  it('reject a request for a target that is not cached while the database is unavailable', async () => {
    const { get, set } = withLink()
    set({ unavailable: true })
    const failed = await get('alias-1').catch((error: unknown) => error)
    expect(failed).to.be.instanceOf(StoreUnavailable)
    set({ unavailable: false })
    expect(await get('alias-1')).to.equal(1)
  })
})
