import { expect } from 'chai'
import { bio } from '../../src/commands/bio.ts'
import { splash } from '../../src/commands/splash.ts'
import { StoreUnavailable } from '../../src/events/store.ts'
import { openTargets, type TargetsOptions } from '../../src/cache/targets.ts'
import { type PublicTarget, interstitialOf, targetStream, type Target } from '../../src/queries/target.ts'
import { linkFields } from '../support/events.ts'

const target = (link: number, aliasKey = `alias-${link}`, over: Partial<Target> = {}): Target => ({
  ...linkFields,
  link,
  account: 1,
  revision: 0,
  position: 1n,
  aliasKey,
  password: null,
  expiry: null,
  interstitial: undefined,
  ...over,
})
const changed = (row: Target, position: bigint) => ({
  stream: targetStream(row),
  domain: row.domain,
  aliasKey: row.aliasKey,
  position,
})

const linkOf = (found: PublicTarget | undefined) => (found && 'link' in found ? found : undefined)

/** A table of targets that is asked through the cache. A held one keeps its answers, as they were when it was asked, until it is let go. */
const open = (options: Partial<TargetsOptions> = {}) => {
  const rows = new Map<string, Target>()
  const asked: string[] = []
  let [trusted, seen, away] = [true, 1n, false]
  let held: (() => void)[] | undefined
  const targets = openTargets({
    find: async (domain, aliasKey) => {
      asked.push(aliasKey)
      const found = [...rows.values()].find((row) => row.domain === domain && row.aliasKey === aliasKey)
      if (held) await new Promise<void>((resolve) => held?.push(resolve))
      if (away) throw new StoreUnavailable('away')
      return found
    },
    trusted: () => trusted,
    seen: () => seen,
    ...options,
  })
  return {
    ...targets,
    get: async (aliasKey: string, domain: number | null = null) => linkOf(await targets.get(domain, aliasKey))?.link,
    url: async (aliasKey: string) => linkOf(await targets.get(null, aliasKey))?.url,
    /** The table changes; what remembers it is told as soon as the tables are known to have come so far. */
    write: (row: Target) => void rows.set(String(row.link), row),
    erase: (link: number) => void rows.delete(String(link)),
    asked,
    hold: () => void (held = []),
    letGo: () => {
      held?.forEach((go) => go())
      held = undefined
    },
    set: (state: { trusted?: boolean; seen?: bigint; away?: boolean }) => {
      trusted = state.trusted ?? trusted
      seen = state.seen ?? seen
      away = state.away ?? away
    },
  }
}

describe('the targets that a process remembers', () => {
  it('are asked for once, whether they are there or not, also by many at a time', async () => {
    const { write, get, asked } = open()
    write(target(1))
    expect(await Promise.all([get('alias-1'), get('alias-1'), get('nothing'), get('nothing')])).to.deep.equal([
      1,
      1,
      undefined,
      undefined,
    ])
    expect([await get('alias-1'), await get('nothing')]).to.deep.equal([1, undefined])
    expect(asked).to.deep.equal(['alias-1', 'nothing'])
  })

  it('are apart for each domain', async () => {
    const { write, get } = open()
    write(target(1, 'same'))
    write(target(2, 'same', { domain: 7 }))
    expect([await get('same'), await get('same', 7), await get('same', 8)]).to.deep.equal([1, 2, undefined])
  })

  it('are apart for a link and a bio page of the same number', async () => {
    const page = { ...bio.initialState.fields, bio: 1, account: 1, position: 1n, domain: null, aliasKey: 'page' }
    const asked: string[] = []
    const cache = openTargets({
      find: async (_, aliasKey) => (asked.push(aliasKey), aliasKey === 'page' ? page : target(1, aliasKey)),
      trusted: () => true,
      seen: () => 1n,
    })
    const both = async () => [await cache.get(null, 'link'), await cache.get(null, 'page')]
    expect(await both()).to.deep.equal([target(1, 'link'), page])
    cache.forget([{ stream: 'bio-1', domain: null, aliasKey: 'page', position: 5n }])
    expect(await both()).to.deep.equal([target(1, 'link'), page])
    expect(asked).to.deep.equal(['link', 'page', 'page'])
    cache.override('bio-1', 9n, undefined)
    expect(await both()).to.deep.equal([target(1, 'link'), undefined])
  })

  it('are served without waiting', async () => {
    const cache = openTargets({ find: async () => target(1), trusted: () => true, seen: () => 1n })
    await cache.get(null, 'alias-1')
    expect(cache.get(null, 'alias-1')).to.deep.equal(target(1))
  })

  it('are forgotten when they change', async () => {
    const { write, url, forget } = open()
    write(target(1))
    await url('alias-1')
    const newer = target(1, 'alias-1', { url: 'https://example.com/new', position: 5n })
    write(newer)
    expect(await url('alias-1')).to.equal('https://example.com/')
    forget([changed(newer, 5n)])
    expect(await url('alias-1')).to.equal('https://example.com/new')
  })

  it('are forgotten under the old alias, and the miss of the new one, when they are renamed', async () => {
    const { write, get, forget } = open()
    write(target(1, 'old'))
    expect([await get('old'), await get('new')]).to.deep.equal([1, undefined])
    const renamed = target(1, 'new', { position: 5n })
    write(renamed)
    forget([changed(renamed, 5n)])
    expect([await get('old'), await get('new')]).to.deep.equal([undefined, 1])
  })

  it('are forgotten when they are deleted', async () => {
    const { write, erase, get, forget } = open()
    write(target(1))
    await get('alias-1')
    erase(1)
    forget([changed(target(1), 5n)])
    expect(await get('alias-1')).to.equal(undefined)
  })

  it('are forgotten with their account, and every miss with them', async () => {
    const { write, erase, get, forgetAccounts, asked } = open()
    write(target(1))
    write(target(2, 'alias-2', { account: 2 }))
    for (const alias of ['alias-1', 'alias-2', 'nothing']) await get(alias)
    erase(1)
    erase(2)
    write(target(3, 'nothing'))
    forgetAccounts([1])
    expect([await get('alias-1'), await get('alias-2'), await get('nothing')]).to.deep.equal([undefined, 2, 3])
    expect(asked).to.have.length(5)
  })

  it('are forgotten with what they show, and no others', async () => {
    const { write, get, forget, asked } = open()
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
      asked.length = 0
      forget([{ stream, domain: null, aliasKey: null, position: 5n }])
      expect(await all()).to.deep.equal([1, 2, 3])
      expect(asked, stream).to.deep.equal(again)
    }
  })

  it('are no more than was asked for: the oldest go, and are asked for again', async () => {
    const { write, get, forget, asked } = open({ maxTargets: 10 })
    for (let link = 1; link <= 100; link++) write(target(link))
    for (let link = 1; link <= 100; link++) await get(`alias-${link}`)
    asked.length = 0
    for (let link = 100; link >= 1; link--) expect(await get(`alias-${link}`)).to.equal(link)
    expect(asked.length).to.be.within(80, 90)
    // those that remain can still be forgotten
    for (let link = 1; link <= 100; link++) write(target(link, `new-${link}`, { position: 5n }))
    forget(Array.from({ length: 100 }, (_, i) => changed(target(i + 1, `new-${i + 1}`), 5n)))
    for (let link = 1; link <= 100; link++) expect(await get(`alias-${link}`)).to.equal(undefined)
  })
})

describe('a missing alias', () => {
  it('is remembered for a while', async () => {
    const { write, get } = open({ missAge: 30 })
    await get('alias-1')
    write(target(1))
    expect(await get('alias-1')).to.equal(undefined)
    await new Promise((done) => setTimeout(done, 40))
    expect(await get('alias-1')).to.equal(1)
  })
  it('is forgotten as soon as a link has it', async () => {
    const { write, get, forget } = open()
    await get('alias-1')
    write(target(1))
    forget([changed(target(1), 5n)])
    expect(await get('alias-1')).to.equal(1)
  })
  it('takes the place of a target that is no more', async () => {
    const { write, erase, get, invalidateAll, asked } = open()
    write(target(1))
    await get('alias-1')
    erase(1)
    invalidateAll()
    for (let n = 0; n < 3; n++) expect(await get('alias-1')).to.equal(undefined)
    expect(asked).to.have.length(2)
  })
})

describe('an answer of the tables that was overtaken by a change', () => {
  const newer = target(1, 'alias-1', { url: 'https://example.com/new', position: 5n })
  /** Asks for the alias; the answer is already on its way when something happens, and comes after it. */
  const racing = async (cache: ReturnType<typeof open>, happens: () => unknown, alias = 'alias-1') => {
    cache.hold()
    const asking = cache.get(alias)
    await Promise.resolve()
    happens()
    cache.letGo()
    return asking
  }

  it('is not remembered when the link changed', async () => {
    const cache = open()
    cache.write(target(1))
    await racing(cache, () => {
      cache.write(newer)
      cache.forget([changed(newer, 5n)])
    })
    expect(await cache.url('alias-1')).to.equal('https://example.com/new')
  })
  it('is not remembered when the link was renamed', async () => {
    const cache = open()
    cache.write(target(1, 'old'))
    const renamed = target(1, 'new', { position: 5n })
    await racing(cache, () => (cache.write(renamed), cache.forget([changed(renamed, 5n)])), 'old')
    expect(await cache.get('old')).to.equal(undefined)
  })
  it('is not remembered when a link was created that was missing', async () => {
    const cache = open()
    await racing(cache, () => (cache.write(target(1)), cache.forget([changed(target(1), 5n)])))
    expect(await cache.get('alias-1')).to.equal(1)
  })
  it('is not remembered when its account changed', async () => {
    const cache = open()
    cache.write(target(1))
    await racing(cache, () => (cache.erase(1), cache.forgetAccounts([1])))
    expect(await cache.get('alias-1')).to.equal(undefined)
  })
  it('is not remembered when what links show has changed', async () => {
    const cache = open()
    cache.write(target(1))
    const shown = { stream: 'splash-7', domain: null, aliasKey: null, position: 5n }
    await racing(cache, () => (cache.write(newer), cache.forget([shown])))
    expect(await cache.url('alias-1')).to.equal('https://example.com/new')
  })
  it('is not remembered when something may have been missed', async () => {
    const cache = open()
    cache.write(target(1))
    await racing(cache, () => (cache.write(newer), cache.invalidateAll()))
    expect(await cache.url('alias-1')).to.equal('https://example.com/new')
  })
  it('is not waited for by who asks after the change', async () => {
    const cache = open()
    cache.write(target(1))
    cache.hold()
    const before = cache.url('alias-1')
    cache.write(newer)
    cache.forget([changed(newer, 5n)])
    const after = cache.url('alias-1')
    cache.letGo()
    expect([await before, await after]).to.deep.equal(['https://example.com/', 'https://example.com/new'])
    expect(await cache.url('alias-1')).to.equal('https://example.com/new')
  })
  it('is remembered when another link changed', async () => {
    const cache = open()
    cache.write(target(1))
    await racing(cache, () => cache.forget([changed(target(2), 5n)]))
    await cache.get('alias-1')
    expect(cache.asked).to.have.length(1)
  })
})

describe('targets of which something may have been missed', () => {
  const changes = () => {
    const cache = open()
    cache.write(target(1))
    return cache
  }
  it('are asked for again, once', async () => {
    const { get, invalidateAll, asked } = changes()
    await get('alias-1')
    await get('nothing')
    invalidateAll()
    for (let n = 0; n < 3; n++) expect([await get('alias-1'), await get('nothing')]).to.deep.equal([1, undefined])
    expect(asked).to.have.length(4)
  })
  it('are asked for each time while nothing is heard', async () => {
    const { get, set, asked } = changes()
    await get('alias-1')
    set({ trusted: false })
    for (let n = 0; n < 3; n++) await get('alias-1')
    for (let n = 0; n < 3; n++) await get('nothing')
    expect(asked).to.have.length(7)
  })
  it('are served as they are when the tables do not answer, or not soon', async () => {
    const { get, invalidateAll, set, hold } = changes()
    await get('alias-1')
    invalidateAll()
    set({ away: true })
    expect(await get('alias-1')).to.equal(1)
    hold()
    expect(await get('alias-1')).to.equal(1)
  })
  it('are asked for again some time after the tables did not answer', async () => {
    const { get, erase, invalidateAll, set } = changes()
    await get('alias-1')
    invalidateAll()
    set({ away: true })
    expect(await get('alias-1')).to.equal(1)
    set({ away: false })
    erase(1)
    await new Promise((done) => setTimeout(done, 1050))
    expect(await get('alias-1')).to.equal(undefined)
  })
  it('cannot be told when they were not remembered and the tables do not answer', async () => {
    const { get, set } = changes()
    set({ away: true })
    const failed = await get('alias-1').catch((error: unknown) => error)
    expect(failed).to.be.instanceOf(StoreUnavailable)
    set({ away: false })
    expect(await get('alias-1')).to.equal(1)
  })
})

describe('a link that the tables are late with', () => {
  const ahead = (url: string, position: bigint, aliasKey = 'alias-1') => target(1, aliasKey, { url, position })
  const late = async () => {
    const cache = open()
    cache.write(target(1))
    await cache.get('alias-1')
    return cache
  }

  it('is served as its stream says', async () => {
    const { override, url } = await late()
    override('link-1', 5n, ahead('https://example.com/new', 5n))
    expect(await url('alias-1')).to.equal('https://example.com/new')
  })
  it('is served under its new alias, and not under the old one', async () => {
    const { override, get } = await late()
    await get('new')
    override('link-1', 5n, ahead('https://example.com/', 5n, 'new'))
    expect([await get('new'), await get('alias-1')]).to.deep.equal([1, undefined])
  })
  it('is served no more when it is deleted', async () => {
    const { override, get } = await late()
    override('link-1', 5n, undefined)
    expect([await get('alias-1'), await get('alias-1')]).to.deep.equal([undefined, undefined])
  })
  it('is served from the tables again once they have come so far', async () => {
    const { override, url, write, set, forget } = await late()
    override('link-1', 5n, ahead('https://example.com/new', 5n))
    const newest = ahead('https://example.com/newest', 6n)
    write(newest)
    expect(await url('alias-1')).to.equal('https://example.com/new')
    forget([changed(newest, 6n)])
    set({ seen: 6n })
    expect(await url('alias-1')).to.equal('https://example.com/newest')
  })
  it('is not served from its stream when the tables have come so far already', async () => {
    const { override, url, set } = await late()
    set({ seen: 5n })
    override('link-1', 5n, ahead('https://example.com/new', 5n))
    expect(await url('alias-1')).to.equal('https://example.com/')
  })
  it('stays as its newest state says when an older one comes later', async () => {
    const { override, get, url } = await late()
    override('link-1', 6n, ahead('https://example.com/newest', 6n))
    override('link-1', 5n, ahead('https://example.com/new', 5n))
    expect(await url('alias-1')).to.equal('https://example.com/newest')
    override('link-1', 7n, undefined)
    override('link-1', 6n, ahead('https://example.com/newest', 6n))
    expect(await get('alias-1')).to.equal(undefined)
  })
  it('does not hide other links', async () => {
    const { override, write, get } = await late()
    write(target(2))
    override('link-1', 5n, undefined)
    expect(await get('alias-2')).to.equal(2)
  })
})
