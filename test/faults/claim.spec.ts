import { expect } from 'chai'
import { fold, Refused } from '../../src/commands/decider.ts'
import { aliasClaimName } from '../../src/commands/alias.ts'
import { link, type Link } from '../../src/commands/link.ts'
import { failureOf } from '../../src/http/api/errors.ts'
import type { EventStore } from '../../src/events/store.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { long, query, randomFrom, repeatable, rounds, seed } from '../support/faults.ts'
import { openDouble } from '../support/engine.ts'
import { countingIds, eventsOf, Killed, newMemoryStore, oneByOne, story, writer } from '../support/writer.ts'

/** What a client is answered: a status, and what is wrong. */
const answer = (outcome: unknown) => {
  if (!(outcome instanceof Refused)) return { status: 200, message: '' }
  const { status, message } = failureOf(outcome)
  return { status, message }
}
const expectTaken = (outcome: unknown) => {
  const { status, message } = answer(outcome)
  expect(status).to.equal(400)
  expect(message).to.include('alias is taken')
}
const made = <T>(outcome: T | Refused) => {
  if (outcome instanceof Refused) throw outcome
  return outcome
}
const killed = async (wish: Promise<unknown>) =>
  expect(await wish.catch((error: unknown) => error)).to.be.instanceOf(Killed)

/** Links that are open, by the alias they are found under. */
const holders = async (store: EventStore) => {
  const links = new Map<string, Link>()
  for (const event of await eventsOf(store))
    if (event.stream.startsWith('link-'))
      links.set(event.stream, fold(link, [event as never], links.get(event.stream) ?? link.initialState))
  const found = new Map<string, string[]>()
  for (const [stream, { status, fields }] of links)
    if (status === 'open') found.set(aliasClaimName(fields), [...(found.get(aliasClaimName(fields)) ?? []), stream])
  return found
}

const engines = {
  memory: { open: async () => ({ store: await newMemoryStore(), close: async () => {} }), wishes: long ? 1000 : 80 },
  // each look at the whole log goes through the protocol
  EventStoreDB: { open: () => openDouble(), wishes: long ? 60 : 24 },
}
for (const [engine, { open, wishes }] of Object.entries(engines))
  describe(`an alias on a store that writes one stream at a time (${engine})`, () => {
    const claims = 'claim-alias-0-hello'
    let store: EventStore
    let close: () => Promise<void>
    beforeEach(async () => ({ store, close } = await open()))
    afterEach(() => close())

    /** A process with ids of its own, that is killed after `writes` writes of its next append. */
    const doomed = (ids: number, writes = 1) =>
      writer(
        oneByOne(store, async () => {
          if (--writes === 0) throw new Killed()
        }),
        countingIds(ids).next,
      )
    /** A process that is stopped after the first write of its next append, until it is let go. */
    const stopped = (ids: number, writes = 1) => {
      let go = () => {}
      let reached = () => {}
      const let_go = new Promise<void>((resolve) => (go = resolve))
      const isStopped = new Promise<void>((resolve) => (reached = resolve))
      const between = async () => {
        if (--writes !== 0) return
        reached()
        await let_go
      }
      return { ...writer(oneByOne(store, between), countingIds(ids).next), go, isStopped }
    }
    const process = (ids: number) => writer(oneByOne(store), countingIds(ids).next)

    describe('4: whose creator was killed after it had reserved it', () => {
      beforeEach(() => killed(doomed(1).createLink(1, {}, { seconds: 0, token: 'orphan' })))

      it('is taken a second later, and given to another tenant after 31 seconds, behind a fence on the orphan’s stream', async () => {
        expectTaken(await process(2).createLink(2, {}, { seconds: 1 }))
        expect(answer(await process(3).createLink(2, {}, { seconds: 31 })).status).to.equal(200)
        expect((await story(store)).slice(1)).to.deep.equal([
          `${claims} NameClaimed`,
          'link-1 ClaimFenced',
          `${claims} NameClaimed`,
          'link-3 LinkCreated',
        ])
        expect((await store.last('link-1'))?.data).to.deep.equal({ token: 'orphan' })
        expect(await holders(store)).to.deep.equal(new Map([['0-hello', ['link-3']]]))
      })

      it('is given on when the next one is killed as well, after the fence or after its claim', async () => {
        await killed(doomed(2, 1).createLink(2, {}, { seconds: 31 }))
        await killed(doomed(3, 1).createLink(3, {}, { seconds: 31 }))
        expectTaken(await process(4).createLink(4, {}, { seconds: 60 }))
        await killed(doomed(5, 2).createLink(5, {}, { seconds: 62 }))
        expectTaken(await process(6).createLink(6, {}, { seconds: 90 }))
        expect(answer(await process(7).createLink(7, {}, { seconds: 93 })).status).to.equal(200)
        expect(await holders(store)).to.deep.equal(new Map([['0-hello', ['link-7']]]))
      })
    })

    describe('5: whose creator was stopped after it had reserved it', () => {
      it('is lost to who took it over meanwhile: the late one is answered that it is taken', async () => {
        const zombie = stopped(1)
        const late = zombie.createLink(1, {}, { seconds: 0 })
        await zombie.isStopped
        expect(answer(await process(2).createLink(2, {}, { seconds: 31 })).status).to.equal(200)
        zombie.go()
        expectTaken(await late)
        expect(await holders(store)).to.deep.equal(new Map([['0-hello', ['link-2']]]))
      })

      it('is lost also when the one who took it over is not done yet', async () => {
        const zombie = stopped(1)
        const late = zombie.createLink(1, {}, { seconds: 0 })
        await zombie.isStopped
        const next = stopped(2, 2)
        const taking = next.createLink(2, {}, { seconds: 31 })
        await next.isStopped
        zombie.go()
        expectTaken(await late)
        next.go()
        expect(answer(await taking).status).to.equal(200)
        expect(await holders(store)).to.deep.equal(new Map([['0-hello', ['link-2']]]))
      })

      it('stays its own when it comes back before the name was claimed anew, under another id behind the fence', async () => {
        const zombie = stopped(1)
        const late = zombie.createLink(1, {}, { seconds: 0 })
        await zombie.isStopped
        const next = stopped(20)
        const taking = next.createLink(2, {}, { seconds: 31 })
        await next.isStopped
        zombie.go()
        expect(answer(await late).status).to.equal(200)
        next.go()
        expectTaken(await taking)
        expect(await holders(store)).to.deep.equal(new Map([['0-hello', ['link-3']]]))
      })

      it('is lost in the same way by a link that was about to be renamed, which keeps its old alias', async () => {
        await process(1).createLink(1, { alias: 'old' })
        const zombie = stopped(50)
        const late = zombie.updateLink(1, 1, { alias: 'hello' }, { seconds: 0 })
        await zombie.isStopped
        expect(answer(await process(2).createLink(2, {}, { seconds: 31 })).status).to.equal(200)
        zombie.go()
        expectTaken(await late)
        expect(await holders(store)).to.deep.equal(
          new Map([
            ['0-old', ['link-1']],
            ['0-hello', ['link-2']],
          ]),
        )
      })
    })

    describe('6: that a link was to be renamed to, when its process was killed after the claim', () => {
      beforeEach(async () => {
        await process(1).createLink(1, { alias: 'old' })
        await killed(doomed(50).updateLink(1, 1, { alias: 'hello' }, { seconds: 0 }))
      })

      it('leaves the link where it was, and is free for anyone behind the fence', async () => {
        expect(await holders(store)).to.deep.equal(new Map([['0-old', ['link-1']]]))
        expectTaken(await process(2).createLink(2, {}, { seconds: 1 }))
        expect(answer(await process(3).createLink(2, {}, { seconds: 31 })).status).to.equal(200)
        expectTaken(await process(50).updateLink(1, 1, { alias: 'hello' }, { seconds: 70 }))
        // the fence is for that name only
        expect(answer(await process(50).updateLink(1, 1, { alias: 'third' }, { seconds: 70 })).status).to.equal(200)
        expect(await holders(store)).to.deep.equal(
          new Map([
            ['0-third', ['link-1']],
            ['0-hello', ['link-3']],
          ]),
        )
      })

      it('is had by the same link when it tries again, wherever it is killed on the way', async () => {
        await killed(doomed(50).updateLink(1, 1, { alias: 'hello' }, { seconds: 31 }))
        expect(await holders(store)).to.deep.equal(new Map([['0-old', ['link-1']]]))
        expect(answer(await process(50).updateLink(1, 1, { alias: 'hello' }, { seconds: 62 })).status).to.equal(200)
        expect(await holders(store)).to.deep.equal(new Map([['0-hello', ['link-1']]]))
      })
    })

    it(`never leads to two links, whatever is killed or stopped wherever (${repeatable})`, async () => {
      const random = randomFrom(seed)
      const turns = async (most: number) => {
        for (let n = random(most); n > 0; n--) await new Promise((done) => setImmediate(done))
      }
      let now = 0
      let deaths = 0
      const watched: EventStore = {
        ...store,
        append: async (writes) => {
          const appended = await store.append(writes)
          for (const [alias, links] of await holders(store)) expect(links, `${alias} at ${now} s`).to.have.length(1)
          return appended
        },
      }
      const perilous = oneByOne(watched, async () => {
        await turns(60)
        if (random(3) === 0) throw new Killed(String(deaths++))
      })
      const { createLink, updateLink, deleteLink } = writer(perilous, countingIds().next)
      const client = async (account: number) => {
        const mine: number[] = []
        const wish = (alias: string) => {
          const id = mine[random(mine.length + 1)]
          if (id === undefined)
            return async () => mine.push(made(await createLink(account, { alias }, { seconds: now })).id)
          if (random(5) === 0) return () => deleteLink(account, id, now)
          return () => updateLink(account, id, { alias }, { seconds: now })
        }
        for (let n = 0; n < wishes; n++) {
          // new ones from time to time, for a name that was given up stays its account's
          const wished = wish(`alias-${n >> 4}-${random(2)}`)
          // whoever was killed tries again, sooner or later
          for (let outcome: unknown = new Killed(); outcome instanceof Killed && random(4) > 0;) {
            now += random(20)
            outcome = await wished().catch((error: unknown) => error)
            if (outcome instanceof Error && !(outcome instanceof Killed || outcome instanceof Refused)) throw outcome
            await turns(10)
          }
        }
      }
      await Promise.all([1, 1, 2, 3, 3].map(client))
      expect(deaths, 'how often somebody was killed').to.be.at.least(1)

      // each alias that leads somewhere is claimed by the very link it leads to
      for (const [alias, [holder]] of await holders(store)) {
        const last = await store.last(`claim-alias-${alias}`)
        const { state } = await writer(store).link(Number(holder?.slice('link-'.length)))
        expect(last?.data).to.include({ holder, token: state.tokens.held.alias })
      }
    }).timeout(long ? 300_000 : 60_000)
  })

describe('an alias that many want at once, on two instances', function () {
  this.timeout(long ? 1_800_000 : 120_000)
  let apps: readonly [TestApp, TestApp]
  let keys: string[]
  before(async () => {
    const settings = { BASE_URL: 'http://short.test', TRUST_PROXY: '1' }
    const first = await startTestApp(settings)
    apps = [first, await startTestApp(settings, first.connection)]
    keys = [(await apps[0].register()).key, (await apps[1].register()).key, (await apps[0].register()).key]
  })
  after(() => Promise.all(apps.map((app) => app.close())))

  /** Each from an address of its own, for an address that only guesses is not answered for long. */
  let addresses = 0
  const head = async (app: TestApp, alias: string) => {
    const from = `10.${(++addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`
    const { status, headers } = await app.ask('HEAD', `/${alias}`, { headers: { 'X-Forwarded-For': from } })
    return status === 302 ? headers.get('Location') : status
  }
  const create = async (app: TestApp, key: string, custom: string, url = `https://example.com/${custom}`) => {
    const { json } = await app.post('/api/url/add', { key, body: { url, custom } })
    return { id: Number(json['id']), url }
  }
  const created = (alias: string) =>
    query<{ id: string }>(
      apps[0].connection,
      `select data->>'id' as id from log.events where type = 'LinkCreated' and lower(data->>'alias') = $1`,
      [alias],
    )

  it('3: is given to one of 50, the others are told that it is taken', async () => {
    for (const round of rounds(4, 40)) {
      const alias = `race-${round}`
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          apps[n % 2]!.post('/api/url/add', {
            key: keys[n % keys.length]!,
            body: { url: `https://example.com/${n}`, custom: n % 3 ? alias : alias.toUpperCase() },
          }),
        ),
      )
      const [won, lost] = [
        answers.filter(({ status }) => status === 200),
        answers.filter(({ status }) => status !== 200),
      ]
      expect([won.length, lost.length]).to.deep.equal([1, 49])
      for (const { status, json } of lost) {
        expect(status).to.equal(400)
        expect(json['error']).to.equal(1)
        expect(json['message']).to.include('alias is taken')
      }
      const { id } = won[0]!.json
      expect(await created(alias)).to.deep.equal([{ id: String(id) }])
      const url = `https://example.com/${answers.indexOf(won[0]!)}`
      for (const app of apps)
        expect(
          await until(
            () => head(app, alias),
            (to) => to === url,
          ),
        ).to.equal(url)
    }
  })

  it('3: is an e-mail given to one account only, too', async () => {
    const email = 'race@example.com'
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        apps[n % 2]!.post('/register', { body: { email, password: 'correct horse 1' } }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1)
    const lost = answers.filter(({ status }) => status === 400)
    expect(lost).to.have.length(9)
    for (const { json } of lost) expect(json['message']).to.include('`email` must not be in use')
  })

  it('6: cannot be had by an update when it is taken, and the link stays where it is', async () => {
    const [mine] = [await create(apps[0], keys[0]!, 'mine'), await create(apps[1], keys[1]!, 'theirs')]
    const { status, json } = await apps[1].put(`/api/url/${mine.id}/update`, {
      key: keys[0]!,
      body: { url: mine.url, custom: 'Theirs' },
    })
    expect(status).to.equal(400)
    expect(json['message']).to.include('alias is taken')
    for (const app of apps) expect(await head(app, 'mine')).to.equal(mine.url)
    for (const app of apps) expect(await head(app, 'theirs')).to.equal('https://example.com/theirs')
  })

  it('6: is given to one of two links by 20 updates at once, and never leads to two places', async () => {
    for (const round of rounds(3, 40)) {
      const alias = `free-${round}`
      const links = [
        { ...(await create(apps[0], keys[0]!, `x-${round}`)), old: `x-${round}`, key: keys[0]! },
        { ...(await create(apps[1], keys[1]!, `y-${round}`)), old: `y-${round}`, key: keys[1]! },
      ] as const
      const seen = new Map<string, (string | number | null)[]>()
      let polling = true
      const poll = async (app: TestApp, at: string, path: string) => {
        const found: (string | number | null)[] = []
        seen.set(`${at} ${path}`, found)
        while (polling) {
          found.push(await head(app, path))
          await new Promise((done) => setTimeout(done, 5))
        }
      }
      const polls = apps.flatMap((app, n) =>
        [alias, links[0].old, links[1].old].map((path) => poll(app, String(n), path)),
      )
      const answers = await Promise.all(
        Array.from({ length: 20 }, async (_, n) => {
          const { id, url, key } = links[n % 2]!
          const app = apps[(n >> 1) % 2]!
          const { status, json } = await app.put(`/api/url/${id}/update`, { key, body: { url, custom: alias } })
          if (status === 200) expect(await head(app, alias), 'at once, where it was written').to.equal(url)
          else expect(json['message']).to.include('alias is taken')
          return { link: n % 2, status }
        }),
      )
      const winner = answers.find(({ status }) => status === 200)?.link ?? expect.fail('nobody won')
      for (const { link: of, status } of answers) expect(status).to.equal(of === winner ? 200 : 400)
      const [won, lost] = [links[winner]!, links[1 - winner]!]
      for (const app of apps) {
        expect(
          await until(
            () => head(app, alias),
            (to) => to === won.url,
          ),
        ).to.equal(won.url)
        expect(
          await until(
            () => head(app, won.old),
            (to) => to === 404,
          ),
        ).to.equal(404)
      }
      polling = false
      await Promise.all(polls)

      /** What was seen, each change once. */
      const course = (n: number, path: string) =>
        (seen.get(`${n} ${path}`) ?? []).filter((to, i, all) => to !== all[i - 1])
      for (const n of [0, 1]) {
        expect(course(n, alias)).to.deep.equal([404, won.url])
        expect(course(n, won.old)).to.deep.equal([won.url, 404])
        expect(course(n, lost.old)).to.deep.equal([lost.url])
      }
    }
  })
})
