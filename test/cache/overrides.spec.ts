import { expect } from 'chai'
import { addressKey } from '../../src/cache/entries.ts'
import { createOverrides } from '../../src/cache/overrides.ts'
import { changed, openTestTargets, target } from '../support/targets.ts'

describe('a link that is overridden because the tables are behind', () => {
  const folded = (url: string, position: bigint, aliasKey = 'alias-1') => target(1, aliasKey, { url, position })
  const withCachedLink = async () => {
    const cache = openTestTargets()
    cache.write(target(1))
    await cache.get('alias-1')
    return cache
  }

  it('is served as its event stream describes it', async () => {
    const { override, url } = await withCachedLink()
    override('link-1', 5n, [folded('https://example.com/new', 5n)])
    expect(await url('alias-1')).to.equal('https://example.com/new')
  })
  it('is served at its new alias and not at its old one', async () => {
    const { override, get } = await withCachedLink()
    await get('new')
    override('link-1', 5n, [folded('https://example.com/', 5n, 'new')])
    expect([await get('new'), await get('alias-1')]).to.deep.equal([1, undefined])
  })
  it('is no longer served when it was deleted', async () => {
    const { override, get } = await withCachedLink()
    override('link-1', 5n, [])
    expect([await get('alias-1'), await get('alias-1')]).to.deep.equal([undefined, undefined])
  })
  it('is served from the tables once they have caught up', async () => {
    const { override, url, write, set, invalidate } = await withCachedLink()
    override('link-1', 5n, [folded('https://example.com/new', 5n)])
    const newest = folded('https://example.com/newest', 6n)
    write(newest)
    expect(await url('alias-1')).to.equal('https://example.com/new')
    invalidate([changed(newest, 6n)])
    set({ seen: 6n })
    expect(await url('alias-1')).to.equal('https://example.com/newest')
  })
  it('is not overridden when the tables have already caught up', async () => {
    const { override, url, set } = await withCachedLink()
    set({ seen: 5n })
    override('link-1', 5n, [folded('https://example.com/new', 5n)])
    expect(await url('alias-1')).to.equal('https://example.com/')
  })
  it('keeps its newest state when an older one arrives after it', async () => {
    const { override, get, url } = await withCachedLink()
    override('link-1', 6n, [folded('https://example.com/newest', 6n)])
    override('link-1', 5n, [folded('https://example.com/new', 5n)])
    expect(await url('alias-1')).to.equal('https://example.com/newest')
    override('link-1', 7n, [])
    override('link-1', 6n, [folded('https://example.com/newest', 6n)])
    expect(await get('alias-1')).to.equal(undefined)
  })
  it('does not hide other links', async () => {
    const { override, write, get } = await withCachedLink()
    write(target(2))
    override('link-1', 5n, [])
    expect(await get('alias-2')).to.equal(2)
  })
})

describe('thousands of links that are not in the tables yet', () => {
  const asked: string[] = []
  let seen = 0n
  const shows = (stream: string, position: bigint) => {
    asked.push(stream)
    return position <= seen
  }
  const overrides = createOverrides(shows)
  const add = (from: number, to: number) => {
    for (let id = from; id <= to; id++) overrides.set(`link-${id}`, BigInt(id), [target(id, `alias-${id}`)])
  }
  const at = (id: number) => overrides.at(addressKey(target(id).domain, `alias-${id}`))
  before(() => add(1, 1000))
  beforeEach(() => asked.splice(0))

  it('are not looked at by a redirect of another', () => {
    expect(at(5000)).to.equal(undefined)
    expect(asked).to.deep.equal([])
    expect(at(500)).to.include({ link: 500 })
    expect(asked).to.deep.equal(['link-500'])
  })

  it('are dropped once the tables contain them, also without a further read', () => {
    seen = 1000n
    add(1001, 1600)
    const olds = asked.filter((stream) => Number(stream.slice('link-'.length)) <= 1000)
    expect(new Set(olds).size).to.equal(1000)
    expect(at(1500)).to.include({ link: 1500 })
  })
})
