import { expect } from 'chai'
import { fold, Refused } from '../../src/commands/decider.ts'
import { aliasClaimName } from '../../src/commands/links/alias.ts'
import { link } from '../../src/commands/links/link.ts'
import type { Link } from '../../src/commands/links/state.ts'
import { failureOf } from '../../src/http/api/errors.ts'
import type { EventStore } from '../../src/events/store.ts'
import { openDouble } from '../support/engine.ts'
import { long, randomFrom, repeatable, seed } from '../support/faults.ts'
import { untilKilled } from '../support/interrupt.ts'
import { countingIds, eventsOf, Killed, newMemoryStore, oneByOne, story, writer } from '../support/writer.ts'

/** Returns the status and message of the API response to a command. */
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

const accepted = <T>(outcome: T | Refused) => {
  if (outcome instanceof Refused) throw outcome
  return outcome
}

/** Returns the streams of links that are not deleted, by the name of their alias. */
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
  memory: { open: async () => ({ store: await newMemoryStore(), close: async () => {} }), wishes: long ? 1000 : 30 },
  // fewer, because each read of the whole log goes through the protocol
  EventStoreDB: { open: () => openDouble(), wishes: long ? 60 : 12 },
}
for (const [engine, { open, wishes }] of Object.entries(engines))
  describe(`an alias on a store that writes one stream at a time (${engine})`, () => {
    const claims = 'claim-alias-0-hello'
    let store: EventStore
    let close: () => Promise<void>
    beforeEach(async () => ({ store, close } = await open()))
    afterEach(() => close())

    /** Returns a process with ids of its own that is killed after `writes` writes of its next append. */
    const doomed = (ids: number, writes = 1) =>
      writer(
        oneByOne(store, async () => {
          if (--writes === 0) throw new Killed()
        }),
        countingIds(ids).next,
      )
    /** Returns a process that pauses after the first write of its next append until it is resumed. */
    const stopped = (ids: number, writes = 1) => {
      let go = () => {}
      let reached = () => {}
      const resumed = new Promise<void>((resolve) => (go = resolve))
      const isStopped = new Promise<void>((resolve) => (reached = resolve))
      const between = async () => {
        if (--writes !== 0) return
        reached()
        await resumed
      }
      return { ...writer(oneByOne(store, between), countingIds(ids).next), go, isStopped }
    }
    const process = (ids: number) => writer(oneByOne(store), countingIds(ids).next)

    describe('whose creator was killed after claiming it', () => {
      beforeEach(() => untilKilled(doomed(1).createLink(1, {}, { seconds: 0, token: 'orphan' })))

      it('is taken after one second, and after 31 seconds goes to another account behind a fence in the orphan’s stream', async () => {
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

      it('is free again when the next process is killed too, after its fence or after its claim', async () => {
        await untilKilled(doomed(2, 1).createLink(2, {}, { seconds: 31 }))
        await untilKilled(doomed(3, 1).createLink(3, {}, { seconds: 31 }))
        expectTaken(await process(4).createLink(4, {}, { seconds: 60 }))
        await untilKilled(doomed(5, 2).createLink(5, {}, { seconds: 62 }))
        expectTaken(await process(6).createLink(6, {}, { seconds: 90 }))
        expect(answer(await process(7).createLink(7, {}, { seconds: 93 })).status).to.equal(200)
        expect(await holders(store)).to.deep.equal(new Map([['0-hello', ['link-7']]]))
      })
    })

    describe('whose creator was paused after claiming it', () => {
      it('is lost to the process that took it over, and the paused process learns that it is taken', async () => {
        const zombie = stopped(1)
        const late = zombie.createLink(1, {}, { seconds: 0 })
        await zombie.isStopped
        expect(answer(await process(2).createLink(2, {}, { seconds: 31 })).status).to.equal(200)
        zombie.go()
        expectTaken(await late)
        expect(await holders(store)).to.deep.equal(new Map([['0-hello', ['link-2']]]))
      })

      it('is lost even while the takeover is incomplete', async () => {
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

      it('is kept, under another id, when the process resumes after the fence but before the next claim', async () => {
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

      it('is lost by a link that was being renamed, which keeps its old alias', async () => {
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

    describe('whose link was being renamed to it when the process was killed after the claim', () => {
      beforeEach(async () => {
        await process(1).createLink(1, { alias: 'old' })
        await untilKilled(doomed(50).updateLink(1, 1, { alias: 'hello' }, { seconds: 0 }))
      })

      it('leaves the link at its old alias, and is free for any account behind the fence', async () => {
        expect(await holders(store)).to.deep.equal(new Map([['0-old', ['link-1']]]))
        expectTaken(await process(2).createLink(2, {}, { seconds: 1 }))
        expect(answer(await process(3).createLink(2, {}, { seconds: 31 })).status).to.equal(200)
        expectTaken(await process(50).updateLink(1, 1, { alias: 'hello' }, { seconds: 70 }))
        // the fence excludes that token only
        expect(answer(await process(50).updateLink(1, 1, { alias: 'third' }, { seconds: 70 })).status).to.equal(200)
        expect(await holders(store)).to.deep.equal(
          new Map([
            ['0-third', ['link-1']],
            ['0-hello', ['link-3']],
          ]),
        )
      })

      it('goes to the same link when the rename is retried, wherever it is killed', async () => {
        await untilKilled(doomed(50).updateLink(1, 1, { alias: 'hello' }, { seconds: 31 }))
        expect(await holders(store)).to.deep.equal(new Map([['0-old', ['link-1']]]))
        expect(answer(await process(50).updateLink(1, 1, { alias: 'hello' }, { seconds: 62 })).status).to.equal(200)
        expect(await holders(store)).to.deep.equal(new Map([['0-hello', ['link-1']]]))
      })
    })

    it(`never leads to two links, wherever processes are killed or paused (${repeatable})`, async () => {
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
        // always the first one, so that each run has a kill
        if (deaths === 0 || random(3) === 0) throw new Killed(String(deaths++))
      })
      const { createLink, updateLink, deleteLink } = writer(perilous, countingIds().next)
      const client = async (account: number) => {
        const mine: number[] = []
        const wish = (alias: string) => {
          const id = mine[random(mine.length + 1)]
          if (id === undefined)
            return async () => mine.push(accepted(await createLink(account, { alias }, { seconds: now })).id)
          if (random(5) === 0) return () => deleteLink(account, id, now)
          return () => updateLink(account, id, { alias }, { seconds: now })
        }
        for (let n = 0; n < wishes; n++) {
          // new names from time to time, because a released name stays reserved for its account
          const expected = wish(`alias-${n >> 4}-${random(2)}`)
          // a killed process retries sooner or later
          for (let outcome: unknown = new Killed(); outcome instanceof Killed && random(4) > 0;) {
            now += random(20)
            outcome = await expected().catch((error: unknown) => error)
            if (outcome instanceof Error && !(outcome instanceof Killed || outcome instanceof Refused)) throw outcome
            await turns(10)
          }
        }
      }
      await Promise.all([1, 1, 2, 3, 3].map(client))
      expect(deaths, 'number of kills').to.be.at.least(1)

      // the newest claim of each alias in use is by the link that has it
      for (const [alias, [holder]] of await holders(store)) {
        const last = await store.last(`claim-alias-${alias}`)
        const { state } = await writer(store).link(Number(holder?.slice('link-'.length)))
        expect(last?.data).to.include({ holder, token: state.tokens.held.alias })
      }
    }).timeout(long ? 300_000 : 180_000)
  })
