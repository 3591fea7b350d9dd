import { expect } from 'chai'
import { createPaced, type PacedOptions } from '../../../src/http/public/paced.ts'
import { StoreUnavailable } from '../../../src/events/store.ts'
import { Unavailable } from '../../../src/lib/unavailable.ts'

describe('a public page whose cost an account chooses', () => {
  /** `took` is the ms that a look-up takes. */
  const open = (age = 0, more: Partial<PacedOptions<string>> = {}) => {
    const state = { time: 0, seen: 0n, took: 10, under: 0, most: 0, fails: false }
    const asked: string[] = []
    const find = createPaced({
      find: async (key) => {
        asked.push(key)
        state.most = Math.max(state.most, ++state.under)
        await new Promise(setImmediate)
        state.time += state.took
        state.under--
        if (state.fails) throw new StoreUnavailable('away')
        return `${key}${asked.length}`
      },
      seen: () => state.seen,
      age,
      most: 10,
      now: () => state.time,
      ...more,
    })
    const get = (key: string, network = '192.0.2.1') => find(key, network)
    return { get, asked, state }
  }

  it('is looked up with one connection at a time, once for all that wait', async () => {
    const { get, asked, state } = open()
    const all = await Promise.all(['a', 'b', 'a', 'c', 'b'].map((key) => get(key)))
    expect([all, asked, state.most]).to.deep.equal([['a1', 'b2', 'a1', 'c3', 'b2'], ['a', 'b', 'c'], 1])
  })

  it('takes turns with those of other accounts, however many pages of one wait', async () => {
    const { get, asked } = open()
    const many = Array.from({ length: 250 }, (_, n) =>
      get(`1 list ${n}`, `192.0.2.${n}`).catch((error: unknown) => error),
    )
    await Promise.all([get('2 list 0', '198.51.100.1'), get('3 list 0', '198.51.100.2')])
    expect(asked.slice(0, 3)).to.deep.equal(['1 list 0', '2 list 0', '3 list 0'])
    const refused = (await Promise.all(many)).filter((answer) => answer instanceof Unavailable)
    expect([refused.length, asked.length]).to.deep.equal([50, 202])
    expect(await get('1 list 249'), 'later').to.be.a('string')
  })

  it('takes turns with pages for other networks, for any number of accounts that one network requests', async () => {
    const { get, asked } = open()
    const many = Array.from({ length: 250 }, (_, n) => get(`${n} list 0`).catch((error: unknown) => error))
    await Promise.all([get('1000 list 0', '198.51.100.1'), get('1001 list 0', '198.51.100.2')])
    expect(asked.slice(0, 3)).to.deep.equal(['0 list 0', '1000 list 0', '1001 list 0'])
    expect((await Promise.all(many)).filter((answer) => answer instanceof Unavailable)).to.have.length(50)
  })

  it('is kept for twenty times as long as it took, when that delays others', async () => {
    const { get, asked, state } = open()
    await get('quick')
    await get('quick')
    expect(asked).to.deep.equal(['quick', 'quick'])
    state.took = 1000
    await get('slow')
    for (const later of [1000, 18_900]) {
      state.time += later
      state.seen++
      expect(await get('slow')).to.equal('slow3')
    }
    state.time += 200
    expect(await get('slow')).to.equal('slow4')
  })

  it('is renewed while a slow answer is kept, without another look-up', async () => {
    let now = 'as it was'
    const { get, asked, state } = open(1000, { renew: async (_, found) => `${found} ${now}` })
    state.took = 1000
    expect(await get('slow')).to.equal('slow1')
    expect(await get('slow'), 'nothing has changed').to.equal('slow1')
    for (const change of ['closed', 'open again']) {
      now = change
      state.seen++
      expect(await Promise.all([get('slow'), get('slow')])).to.deep.equal(Array(2).fill(`slow1 ${change}`))
      expect(await get('slow')).to.equal(`slow1 ${change}`)
    }
    expect(asked).to.deep.equal(['slow'])
    state.time += 21_000
    expect(await get('slow')).to.equal('slow2')
  })

  /** Looks up a page, which takes 3 s, while the database takes so many ms to answer another question. */
  const lookedUp = async (ms: number) => {
    let [answered, look] = [() => {}, 0]
    const { get, state } = open(0, {
      find: async () => {
        if (look++ === 0) await new Promise<void>((resolve) => (answered = resolve))
        return `look ${look}`
      },
      alive: async () => {
        state.time += ms
        // what waits is answered later
        setImmediate(() => {
          state.time += 3000 - ms
          answered()
        })
      },
    })
    expect(await get('a')).to.equal('look 1')
    state.time += 1000
    return get('a')
  }

  it('is not slow because the database stood still', async () => {
    expect(await lookedUp(2900)).to.equal('look 2')
  })

  it('is slow when the database answers others meanwhile', async () => {
    expect(await lookedUp(100)).to.equal('look 1')
  })

  it('is kept for a while when the tables have not moved', async () => {
    const { get, state } = open(1000)
    expect([await get('a'), await get('a')]).to.deep.equal(['a1', 'a1'])
    state.seen++
    expect([await get('a'), await get('a')]).to.deep.equal(['a2', 'a2'])
    state.time += 1000
    expect(await get('a')).to.equal('a3')
  })

  it('is an older one while the database is away', async () => {
    const { get, state } = open()
    await get('a')
    state.fails = true
    expect(await get('a')).to.equal('a1')
    expect(await get('b').catch((error: unknown) => error)).to.be.instanceOf(StoreUnavailable)
  })

  it('is refused when too many others wait', async () => {
    const { get } = open()
    const waiting = Array.from({ length: 1000 }, (_, n) => get(`a${n}`, `network ${n}`))
    expect(await get('one more', 'another').catch((error: unknown) => error)).to.be.instanceOf(Unavailable)
    expect(await get('a999'), 'one that waits is shared').to.be.a('string')
    await Promise.all(waiting)
  })
})
