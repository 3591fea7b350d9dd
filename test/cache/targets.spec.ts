import { expect } from 'chai'
import { splash } from '../../src/commands/pages/splash.ts'
import { bio } from '../../src/commands/pages/bio.ts'
import { openTargets } from '../../src/cache/targets.ts'
import { interstitialOf } from '../../src/queries/links/target.ts'
import { secondsLater } from '../support/clock.ts'
import { linkFields } from '../support/events.ts'
import { changed, openTestTargets, target } from '../support/targets.ts'

describe('the cache of targets', () => {
  it('looks up an address once, even if it is missing or the requests are concurrent', async () => {
    const { write, get, lookups } = openTestTargets()
    write(target(1))
    expect(await Promise.all([get('alias-1'), get('alias-1'), get('nothing'), get('nothing')])).to.deep.equal([
      1,
      1,
      undefined,
      undefined,
    ])
    expect([await get('alias-1'), await get('nothing')]).to.deep.equal([1, undefined])
    expect(lookups).to.deep.equal(['alias-1', 'nothing'])
  })

  it('keeps the same alias on different domains apart', async () => {
    const { write, get } = openTestTargets()
    write(target(1, 'same'))
    write(target(2, 'same', { domain: 7 }))
    expect([await get('same'), await get('same', 7), await get('same', 8)]).to.deep.equal([1, 2, undefined])
  })

  it('keeps a link and a bio page with the same id apart', async () => {
    const { links: _, ...fields } = bio.initialState.fields
    const page = { ...fields, links: [], bio: 1, account: 1, revision: 0, position: 1n, domain: null, aliasKey: 'page' }
    const lookups: string[] = []
    const cache = openTargets({
      find: async (_, aliasKey) => (lookups.push(aliasKey), aliasKey === 'page' ? page : target(1, aliasKey)),
      trusted: () => true,
      shows: (_, position) => position <= 1n,
    })
    const both = async () => [await cache.get(null, 'link'), await cache.get(null, 'page')]
    expect(await both()).to.deep.equal([target(1, 'link'), page])
    cache.invalidate([{ stream: 'bio-1', domain: null, aliasKey: 'page', position: 5n }])
    expect(await both()).to.deep.equal([target(1, 'link'), page])
    expect(lookups).to.deep.equal(['link', 'page', 'page'])
    cache.override('bio-1', 9n, [])
    expect(await both()).to.deep.equal([target(1, 'link'), undefined])
  })

  it('serves a cached target synchronously', async () => {
    const cache = openTargets({
      find: async () => target(1),
      trusted: () => true,
      shows: (_, position) => position <= 1n,
    })
    await cache.get(null, 'alias-1')
    expect(cache.get(null, 'alias-1')).to.deep.equal(target(1))
  })

  it('drops a link that changed', async () => {
    const { write, url, invalidate } = openTestTargets()
    write(target(1))
    await url('alias-1')
    const newer = target(1, 'alias-1', { url: 'https://example.com/new', position: 5n })
    write(newer)
    expect(await url('alias-1')).to.equal('https://example.com/')
    invalidate([changed(newer, 5n)])
    expect(await url('alias-1')).to.equal('https://example.com/new')
  })

  it('drops a renamed link from its old alias, and the miss at its new one', async () => {
    const { write, get, invalidate } = openTestTargets()
    write(target(1, 'old'))
    expect([await get('old'), await get('new')]).to.deep.equal([1, undefined])
    const renamed = target(1, 'new', { position: 5n })
    write(renamed)
    invalidate([changed(renamed, 5n)])
    expect([await get('old'), await get('new')]).to.deep.equal([undefined, 1])
  })

  it('drops a deleted link', async () => {
    const { write, remove, get, invalidate } = openTestTargets()
    write(target(1))
    await get('alias-1')
    remove(1)
    invalidate([changed(target(1), 5n)])
    expect(await get('alias-1')).to.equal(undefined)
  })

  it('drops the links of a changed account, and every miss', async () => {
    const { write, remove, get, invalidateAccounts, lookups } = openTestTargets()
    write(target(1))
    write(target(2, 'alias-2', { account: 2 }))
    for (const alias of ['alias-1', 'alias-2', 'nothing']) await get(alias)
    remove(1)
    remove(2)
    write(target(3, 'nothing'))
    invalidateAccounts([1])
    expect([await get('alias-1'), await get('alias-2'), await get('nothing')]).to.deep.equal([undefined, 2, 3])
    expect(lookups).to.have.length(5)
  })

  it('drops the links that show a changed splash page, overlay or pixel, and no others', async () => {
    const { write, get, invalidate, lookups } = openTestTargets()
    const parts = {
      splash: { ...splash.initialState.fields, id: 7 },
      pixels: [{ id: 8, type: 'bing' as const, tag: '1' }],
    }
    write(
      target(1, 'alias-1', {
        interstitial: interstitialOf({ ...linkFields, type: 'splash-7' }, { ...parts, pixels: [] }),
      }),
    )
    write(target(2, 'alias-2', { interstitial: interstitialOf(linkFields, { pixels: parts.pixels }) }))
    write(target(3))
    const all = async () => [await get('alias-1'), await get('alias-2'), await get('alias-3')]
    await all()
    for (const [stream, again] of [
      ['splash-7', ['alias-1']],
      ['pixel-8', ['alias-2']],
      ['overlay-7', []],
    ] as const) {
      lookups.length = 0
      invalidate([{ stream, domain: null, aliasKey: null, position: 5n }])
      expect(await all()).to.deep.equal([1, 2, 3])
      expect(lookups, stream).to.deep.equal(again)
    }
  })

  it('evicts the oldest targets above its bytes, however few there are', async () => {
    const { write, get, lookups } = openTestTargets({ maxBytes: 200_000 })
    const rules = Array.from({ length: 30 }, (_, n) => ({
      name: 'Canada',
      url: `https://example.com/${n}`.padEnd(2000, 'x'),
    }))
    const visit = async (from: number, to: number) => {
      for (let id = from; id <= to; id++) await get(`alias-${id}`)
    }
    const all = Array.from({ length: 20 }, (_, n) => n + 1)
    for (const id of all) write(target(id, `alias-${id}`, { location: rules }))
    await visit(1, 20)
    // each has 120 KB and more: one fits
    lookups.length = 0
    await visit(20, 20)
    expect(lookups).to.deep.equal([])
    await visit(1, 19)
    expect(lookups).to.have.length(19)

    for (const id of all) write(target(id, `alias-${id}`))
    // what was evicted and dropped takes no bytes: all plain ones fit
    await visit(1, 20)
    lookups.length = 0
    await visit(2, 20)
    expect(lookups).to.deep.equal([])
  })

  it('evicts the oldest targets above its size, and can still drop those that remain', async () => {
    const { write, get, invalidate, lookups } = openTestTargets({ maxTargets: 10 })
    for (let link = 1; link <= 100; link++) write(target(link))
    for (let link = 1; link <= 100; link++) await get(`alias-${link}`)
    lookups.length = 0
    for (let link = 100; link >= 1; link--) expect(await get(`alias-${link}`)).to.equal(link)
    expect(lookups.length).to.be.within(80, 90)
    // those that remain can still be dropped
    for (let link = 1; link <= 100; link++) write(target(link, `new-${link}`, { position: 5n }))
    invalidate(Array.from({ length: 100 }, (_, i) => changed(target(i + 1, `new-${i + 1}`), 5n)))
    for (let link = 1; link <= 100; link++) expect(await get(`alias-${link}`)).to.equal(undefined)
  })
})

describe('a cached miss', () => {
  it('expires', async () => {
    const { write, get } = openTestTargets({ missAge: 30_000 })
    await get('alias-1')
    write(target(1))
    expect(await get('alias-1')).to.equal(undefined)
    expect(await secondsLater(31, () => get('alias-1'))).to.equal(1)
  })
  it('is dropped when a link takes the alias', async () => {
    const { write, get, invalidate } = openTestTargets()
    await get('alias-1')
    write(target(1))
    invalidate([changed(target(1), 5n)])
    expect(await get('alias-1')).to.equal(1)
  })
  it('replaces a cached target that was deleted', async () => {
    const { write, remove, get, invalidateAll, lookups } = openTestTargets()
    write(target(1))
    await get('alias-1')
    remove(1)
    invalidateAll()
    for (let n = 0; n < 3; n++) expect(await get('alias-1')).to.equal(undefined)
    expect(lookups).to.have.length(2)
  })
})
