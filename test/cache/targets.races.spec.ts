import { expect } from 'chai'
import { changed, openTestTargets, target } from '../support/targets.ts'

describe('a lookup that a change overtakes', () => {
  const newer = target(1, 'alias-1', { url: 'https://example.com/new', position: 5n })
  /** Starts a lookup, runs `happens` while its answer is held back, then lets the answer arrive. */
  const racing = async (cache: ReturnType<typeof openTestTargets>, happens: () => unknown, alias = 'alias-1') => {
    cache.hold()
    const asking = cache.get(alias)
    await Promise.resolve()
    happens()
    cache.release()
    return asking
  }

  it('is not cached when the link changed', async () => {
    const cache = openTestTargets()
    cache.write(target(1))
    await racing(cache, () => {
      cache.write(newer)
      cache.invalidate([changed(newer, 5n)])
    })
    expect(await cache.url('alias-1')).to.equal('https://example.com/new')
  })
  it('is not cached when the link was renamed', async () => {
    const cache = openTestTargets()
    cache.write(target(1, 'old'))
    const renamed = target(1, 'new', { position: 5n })
    await racing(cache, () => (cache.write(renamed), cache.invalidate([changed(renamed, 5n)])), 'old')
    expect(await cache.get('old')).to.equal(undefined)
  })
  it('is not cached when the missing link was created', async () => {
    const cache = openTestTargets()
    await racing(cache, () => (cache.write(target(1)), cache.invalidate([changed(target(1), 5n)])))
    expect(await cache.get('alias-1')).to.equal(1)
  })
  it('is not cached when the account changed', async () => {
    const cache = openTestTargets()
    cache.write(target(1))
    await racing(cache, () => (cache.remove(1), cache.invalidateAccounts([1])))
    expect(await cache.get('alias-1')).to.equal(undefined)
  })
  it('is not cached when a splash page that links may show changed', async () => {
    const cache = openTestTargets()
    cache.write(target(1))
    const shown = { stream: 'splash-7', domain: null, aliasKey: null, position: 5n }
    await racing(cache, () => (cache.write(newer), cache.invalidate([shown])))
    expect(await cache.url('alias-1')).to.equal('https://example.com/new')
  })
  it('is not cached when changes may have been missed', async () => {
    const cache = openTestTargets()
    cache.write(target(1))
    await racing(cache, () => (cache.write(newer), cache.invalidateAll()))
    expect(await cache.url('alias-1')).to.equal('https://example.com/new')
  })
  it('is not shared with a request that arrives after the change', async () => {
    const cache = openTestTargets()
    cache.write(target(1))
    cache.hold()
    const before = cache.url('alias-1')
    cache.write(newer)
    cache.invalidate([changed(newer, 5n)])
    const after = cache.url('alias-1')
    cache.release()
    expect([await before, await after]).to.deep.equal(['https://example.com/', 'https://example.com/new'])
    expect(await cache.url('alias-1')).to.equal('https://example.com/new')
  })
  it('is cached when only another link changed', async () => {
    const cache = openTestTargets()
    cache.write(target(1))
    await racing(cache, () => cache.invalidate([changed(target(2), 5n)]))
    await cache.get('alias-1')
    expect(cache.lookups).to.have.length(1)
  })
})
