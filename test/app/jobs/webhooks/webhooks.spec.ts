import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Handler, handler } from '../../../../src/commands/handle.ts'
import { type Webhook, webhook as webhooks } from '../../../../src/commands/webhooks/webhook.ts'
import { systemMetadata } from '../../../../src/events/event.ts'
import type { DomainEvent } from '../../../../src/events/index.ts'
import type { Ordinals } from '../../../../src/events/ordinals.ts'
import type { EventStore, Filter } from '../../../../src/events/store.ts'
import { asSent } from '../../../../src/http/streams/publicevent.ts'
import type { Attempt, Cursor, WebhookOptions, WebhookState } from '../../../../src/app/jobs/webhooks/options.ts'
import { deliverWebhooks } from '../../../../src/app/jobs/webhooks/run.ts'
import type { Post, Posted } from '../../../../src/lib/post.ts'
import { newWebhookSecret } from '../../../../src/security/webhooks.ts'
import { until } from '../../../support/client.ts'
import { click, clicked, fresh, linkCreated } from '../../../support/events.ts'
import { appendNewer, newerEvent } from '../../../support/newer.ts'
import { newMemoryStore } from '../../../support/writer.ts'

const day = 86_400_000

/** Positions of the log in memory have no gaps. */
const ordinalsOf = (store: EventStore): Ordinals => ({
  of: async (positions) => new Map(positions.map((position) => [position, Number(position) - 1])),
  positionOf: async (ordinal) => BigInt(ordinal) + 1n,
  lastAt: async () => undefined,
  head: async () => Number(await store.head('all')),
  timeOf: async () => undefined,
})

/** What `state.webhooks` keeps, in memory. */
const memoryState = () => {
  const cursors = new Map<number, Cursor>()
  const attempts: Attempt[] = []
  let tail: number | undefined
  let leads = true
  const state: WebhookState = {
    lead: async () => tail,
    withCursor: async () => [...cursors.keys()],
    accepted: async () => {
      const last = new Map(attempts.map(({ webhook, delivered }) => [webhook, delivered]))
      return new Set([...last].flatMap(([webhook, delivered]) => (delivered ? [webhook] : [])))
    },
    begin: async ({ webhook, starts, next, part }) => {
      const known = cursors.get(webhook)
      if (known && known.starts >= starts) return known
      const kept = known && { ordinal: known.idle ? (tail ?? 0) : known.next, part: known.idle ? 0 : known.part }
      const was = known?.replay?.back ?? kept ?? { ordinal: part?.next ?? 0, part: 0 }
      const replay = part && { until: part.until, back: was }
      const fresh = { starts, next, part: 0, idle: false, failingSince: null, tries: 0, dueAt: null, replay }
      cursors.set(webhook, fresh)
      return fresh
    },
    hold: async (webhook) => {
      const known = cursors.get(webhook)
      if (known?.idle) cursors.set(webhook, { ...known, next: Math.max(known.next, tail ?? 0), part: 0, idle: false })
    },
    clearFailures: async () => {},
    remove: async (ids) => ids.forEach((id) => cursors.delete(id)),
    move: async (next, moved) => {
      if (!leads) return false
      tail = next
      for (const { webhook, starts, ...place } of moved) {
        const known = cursors.get(webhook)
        if (known?.starts === starts) cursors.set(webhook, { ...known, ...place })
      }
      return true
    },
    settle: async (attempt, cursor) => {
      attempts.push(attempt)
      const known = cursors.get(attempt.webhook)
      if (known?.starts === cursor.starts) cursors.set(attempt.webhook, { ...known, ...cursor, idle: false })
    },
    trim: async () => {},
  }
  return { state, cursors, attempts, tail: () => tail, overtake: () => (leads = false) }
}

const accepted: Posted = { status: 200, excerpt: '', retryAfter: undefined }
const failed: Posted = { status: 500, excerpt: '', retryAfter: undefined }
const never = ({ stop }: Post) =>
  new Promise<Posted>((resolve) => {
    stop?.addEventListener('abort', () => resolve({ status: undefined, problem: 'stopped' }))
  })

describe('delivering to webhooks', () => {
  let store: EventStore
  let handle: Handler
  let stored: ReturnType<typeof memoryState>
  let running: { readonly stop: () => Promise<void> }[]
  let read: Filter[]
  let sent: { readonly id: string; readonly url: string }[]
  let answer: (post: Post) => Promise<Posted>

  beforeEach(async () => {
    store = await newMemoryStore()
    handle = handler(store)
    stored = memoryState()
    running = []
    read = []
    sent = []
    answer = async () => accepted
    revisions.clear()
    await makeAccount(1)
  })
  afterEach(() => Promise.all(running.map(({ stop }) => stop())))

  const revisions = new Map<string, bigint>()
  const makeAccount = async (id: number) => {
    const apiKey = { id, key: 'k', hash: 'h', expires: null }
    const names = { email: `${id}@example.com`, username: `a${id}`, password: 'x', emailToken: '', usernameToken: '' }
    await append(
      `account-${id}`,
      { type: 'AccountRegistered', data: { id, ...names } },
      { type: 'ApiKeyIssued', data: apiKey },
    )
  }
  const append = async (stream: string, ...events: DomainEvent[]) => {
    const expected = revisions.get(stream)
    const appended = await store.append([
      {
        stream,
        expected: expected ?? 'no_stream',
        events: events.map((event) => fresh(event, 'account' in event.data ? event.data.account : 1)),
      },
    ])
    expect(appended.ok).to.equal(true)
    revisions.set(stream, (expected ?? -1n) + BigInt(events.length))
  }
  const makeLink = (id: number, account = 1) => append(`link-${id}`, linkCreated({ id, account }))
  const makeLinks = async (from: number, n: number) => {
    for (let id = from; id < from + n; id++) await makeLink(id)
  }
  const makeHook = async (
    id: number,
    fields: Partial<Webhook['fields']> = {},
    from?: number,
    { account = 1, url = `https://${id}.example/` } = {},
  ) => {
    const all = { name: '', events: ['LinkCreated'], links: [], classes: [], ...fields }
    const begin = from ?? Number(await store.head('all'))
    const command = { type: 'Create', id, account, fields: all, url, secret } as const
    await handle.handle(webhooks, { ...command, from: begin }, systemMetadata(account))
  }
  const secret = newWebhookSecret()
  const start = (over: Partial<WebhookOptions> = {}) => {
    const stopping = new AbortController()
    const subscribe: EventStore['subscribe'] = (options) => {
      read.push(options.filter)
      return store.subscribe(options)
    }
    const send = async (post: Post) => {
      sent.push({ id: String(post.headers['webhook-id']), url: post.url })
      return answer(post)
    }
    const done = deliverWebhooks(
      {
        store: { ...store, subscribe },
        handler: handle,
        ordinals: ordinalsOf(store),
        state: stored.state,
        presenter: asSent,
        post: { send, problemOf: () => undefined },
        known: async () => ({ webhooks: [], position: 0n }),
        onAttempt: () => {},
        onProblem: () => {},
        firstPause: 1,
        ...over,
      },
      stopping.signal,
    )
    done.catch(() => {})
    const stop = async () => {
      stopping.abort()
      await done.catch(() => {})
    }
    running.push({ stop })
    return { stop, done }
  }
  const idsOf = (id: number) => [
    ...new Set(sent.filter(({ url }) => url === `https://${id}.example/`).map((one) => one.id)),
  ]
  const delivered = (id: number, n: number) =>
    until(
      async () => stored.attempts.filter((one) => one.webhook === id && one.delivered).length,
      (found) => found >= n,
    )
  const inOrder = (ids: readonly string[]) => ids.toSorted((a, b) => Number(a.slice(4)) - Number(b.slice(4)))

  it('sends more than it keeps in memory, in log order, once the receiver answers again', async () => {
    let open = false
    answer = async () => (open ? accepted : failed)
    start()
    await makeHook(7)
    await makeLinks(1, 500)
    await until(
      async () => stored.cursors.get(7)?.tries ?? 0,
      (tries) => tries > 1,
    )
    open = true
    expect(await delivered(7, 500)).to.equal(500)
    const ids = idsOf(7)
    expect(ids).to.have.length(500)
    expect(ids).to.deep.equal(inOrder(ids))
  })

  it('continues after a restart, and sends nothing again that was accepted', async () => {
    const first = start()
    await makeHook(7)
    await makeHook(8, { events: ['LinkDeleted'] })
    await makeLinks(1, 3)
    await delivered(7, 3)
    await until(
      async () => stored.cursors.get(8)?.idle,
      (idle) => idle === true,
    )
    await first.stop()
    await makeLinks(4, 3)
    await append('link-1', { type: 'LinkDeleted', data: { id: 1 } })
    const before = sent.length
    start()
    await delivered(7, 6)
    await delivered(8, 1)
    expect(sent.slice(before).filter(({ url }) => url.includes('7.'))).to.have.length(3)
    expect(idsOf(7)).to.deep.equal(inOrder(idsOf(7)))
    expect(idsOf(8)).to.have.length(1)
  })

  it('given a restart while a webhook fails that had nothing to send before, sends the pending messages', async () => {
    const first = start()
    await makeHook(7)
    await makeLink(1)
    await delivered(7, 1)
    await until(
      async () => stored.cursors.get(7)?.idle,
      (idle) => idle === true,
    )
    answer = async () => failed
    await makeLink(2)
    const head = Number(await store.head('all'))
    await until(
      async () => (stored.cursors.get(7)?.tries ?? 0) > 0 && stored.tail() === head,
      (isStored) => isStored,
    )
    await first.stop()
    answer = async () => accepted
    start()
    expect(await delivered(7, 2)).to.equal(2)
  })

  it('reads clicks only while a webhook wants them, and then sends them between the events', async () => {
    start()
    await makeHook(7)
    await makeLink(1)
    await delivered(7, 1)
    expect(read).not.to.include('all')
    await makeHook(8, { events: ['*', 'clicks'], classes: ['human'] })
    await append('clicks-0', clicked(click()))
    await makeLink(2)
    await delivered(8, 2)
    expect(read).to.include('all')
    const clicks = sent.filter(({ id }) => id.endsWith('_0'))
    expect(clicks.map(({ url }) => url)).to.deep.equal(['https://8.example/'])
    expect(idsOf(8).map((id) => id.endsWith('_0'))).to.deep.equal([true, false])
  })

  it('decodes nothing while there is no webhook, and sends the events after the first one was created', async () => {
    const texts: EventStore['texts'] = async function* (range) {
      for await (const events of store.subscribe(range))
        yield events.map((event) => ({ ...event, data: '{}', metadata: '{}' }))
    }
    const isAtHead = async () => {
      const head = Number(await store.head('all'))
      await until(
        async () => stored.tail(),
        (tail) => tail === head,
      )
      expect(stored.tail()).to.equal(head)
    }
    start({ texts })
    await makeLinks(1, 3)
    await isAtHead()
    expect(read).to.deep.equal([])
    await makeHook(7)
    await makeLink(4)
    expect(await delivered(7, 1)).to.equal(1)
    expect(read).to.deep.equal(['domain'])
    await handle.handle(webhooks, { type: 'Delete', id: 7, account: 1 }, systemMetadata(1))
    await makeLinks(5, 3)
    await isAtHead()
    expect(idsOf(7)).to.have.length(1)
    expect(read).to.deep.equal(['domain'])
  })

  it('is not held up by receivers that never answer', async () => {
    let open = 0
    let most = 0
    answer = async (post) => {
      if (post.url.includes('999.')) return accepted
      if (stored.attempts.some((one) => `https://${one.webhook}.example/` === post.url)) {
        most = Math.max(most, ++open)
        return never(post).finally(() => open--)
      }
      return failed
    }
    start()
    for (let id = 1; id <= 60; id++) await makeHook(id)
    await makeHook(999)
    await makeLinks(1, 5)
    expect(await delivered(999, 5)).to.equal(5)
    await until(
      async () => most,
      (n) => n >= 25,
    )
    expect(most).to.equal(25)
    await makeLink(6)
    expect(await delivered(999, 6)).to.equal(6)
  })

  it('polls the projector ten times before a message, one message after another, then sends it', async () => {
    let [asked, tooSoon] = [0, 0]
    const isProjecting = () => {
      asked++
      return true
    }
    answer = async () => {
      tooSoon = Math.max(tooSoon, sent.length - asked / 10)
      return accepted
    }
    start({ isProjecting })
    for (let id = 1; id <= 5; id++) await makeHook(id)
    await makeLinks(1, 2)
    for (let id = 1; id <= 5; id++) expect(await delivered(id, 2)).to.equal(2)
    expect(asked).to.equal(100)
    expect(tooSoon).to.equal(0)
  })

  it('leaves places to other accounts where the receivers of one take their time', async () => {
    let open = 0
    let most = 0
    answer = (post) => {
      most = Math.max(most, ++open)
      return never(post).finally(() => open--)
    }
    start()
    for (let id = 1; id <= 60; id++) await makeHook(id)
    await makeLink(1)
    await until(
      async () => open,
      (n) => n === 50,
    )
    await makeLinks(2, 5)
    expect(most).to.equal(50)
  })

  /** Makes webhooks of accounts 2, 3 and so on, all for one host, and an event for each of them. */
  const makeMany = async (host: string, accounts: number, each: number) => {
    for (let account = 2; account < 2 + accounts; account++) {
      await makeAccount(account)
      for (let n = 0; n < each; n++) {
        const url = `https://${host}/${account}/${n}`
        await makeHook(account * 100 + n, {}, undefined, { account, url })
      }
    }
    for (let account = 2; account < 2 + accounts; account++) await makeLink(account, account)
  }

  it('sends a host some messages at once, of all accounts, and leaves all other hosts their places', async () => {
    let [open, most] = [0, 0]
    const accounts = new Set<string>()
    answer = async (post) => {
      const { hostname, pathname } = new URL(post.url)
      if (hostname !== 'slow.example') return accepted
      most = Math.max(most, ++open)
      accounts.add(pathname.split('/')[1]!)
      return never(post).finally(() => open--)
    }
    start()
    await makeMany('slow.example', 4, 12)
    await until(
      async () => open,
      (n) => n >= 15 && accounts.size === 4,
    )
    await makeHook(999, {}, undefined, { account: 2, url: 'https://other.example/' })
    await makeLink(6, 2)
    expect(await delivered(999, 1)).to.equal(1)
    expect(most).to.be.at.most(20)
  })

  it('sends a host that fails one message at a time, whosever they are, and those whom it serves go on', async () => {
    let [open, most, isFailing] = [0, 0, false]
    answer = async ({ url }) => {
      if (url.endsWith('/good')) return accepted
      if (!isFailing) return failed
      most = Math.max(most, ++open)
      await sleep(1)
      open--
      return failed
    }
    start({ firstPause: 5 })
    await makeHook(999, {}, undefined, { url: 'https://victim.example/good' })
    await makeLink(1)
    expect(await delivered(999, 1)).to.equal(1)
    await makeMany('victim.example', 3, 7)
    await until(
      async () => new Set(sent.map(({ url }) => url)).size,
      (n) => n === 22,
    )
    isFailing = true
    const before = sent.length
    await until(
      async () => sent.length,
      (n) => n >= before + 20,
    )
    expect(most).to.equal(1)
    await makeLink(6)
    expect(await delivered(999, 2)).to.equal(2)
  })

  it('serves those whom a host has accepted before a restart, while others make it fail', async () => {
    answer = async ({ url }) => (url.endsWith('/good') ? accepted : failed)
    const { stop } = start()
    await makeHook(999, {}, undefined, { url: 'https://victim.example/good' })
    await makeLink(1)
    expect(await delivered(999, 1)).to.equal(1)
    await stop()
    // so long a pause that a webhook that waits for it is not served within the time of a test
    start({ firstPause: 1e8 })
    await makeMany('victim.example', 1, 7)
    await until(
      async () => stored.attempts.filter((one) => !one.delivered).length,
      (n) => n >= 5,
    )
    await makeLink(6)
    expect(await delivered(999, 2)).to.equal(2)
  })

  it('disables a webhook after three days of failures, unless its owner has changed it meanwhile', async () => {
    answer = async () => failed
    await makeHook(7)
    stored.cursors.set(7, {
      ...(await stored.state.begin({ webhook: 7, account: 1, starts: 1, next: Number(await store.head('all')) })),
      failingSince: new Date(Date.now() - 3 * day),
      tries: 9,
    })
    start()
    await makeLink(1)
    const { stopped } = await until(
      async () => (await handle.load(webhooks, 7)).state,
      (state) => state.stopped !== null,
    )
    expect(stopped).to.equal('failing')
    expect(sent).to.have.length(1)
    await makeLink(2)
    await sleep(50)
    expect(sent).to.have.length(1)
    answer = async () => accepted
    const command = { type: 'Update', id: 7, account: 1, changes: {}, enabled: true } as const
    await handle.handle(webhooks, command, systemMetadata(1))
    await delivered(7, 2)
    expect(idsOf(7)).to.have.length(2)
  })

  it('begins again where a replay says, also while a message of before is under way', async () => {
    let release: (posted: Posted) => void = () => {}
    let held = true
    await makeHook(7)
    const from = Number(await store.head('all'))
    answer = async () => (held ? new Promise((resolve) => (release = resolve)) : accepted)
    start()
    await makeLinks(1, 2)
    await until(
      async () => sent.length,
      (n) => n === 1,
    )
    const command = { type: 'Replay', id: 7, account: 1, from, token: randomUUID() } as const
    await handle.handle(webhooks, command, systemMetadata(1))
    await until(
      async () => stored.cursors.get(7)?.starts,
      (starts) => starts === 2,
    )
    held = false
    release(accepted)
    await delivered(7, 3)
    expect(sent.map(({ id }) => id)).to.deep.equal([`evt_${from}`, `evt_${from}`, `evt_${from + 1}`])
  })

  const replay = (from: number, until: number, next = 0) => {
    const command = { type: 'Replay', id: 7, account: 1, from, part: { until, next }, token: randomUUID() } as const
    return handle.handle(webhooks, command, systemMetadata(1))
  }
  const names = (from: number, n: number) => Array.from({ length: n }, (_, i) => `evt_${from + i}`)

  it('sends a part again, and goes on where it was, also when it has nothing left there', async () => {
    await makeHook(7)
    const first = Number(await store.head('all'))
    start()
    await makeLinks(1, 300)
    await delivered(7, 300)
    sent.length = 0
    await replay(first + 20, first + 270)
    await delivered(7, 550)
    await until(
      async () => stored.cursors.get(7)?.replay,
      (left) => left === undefined,
    )
    const next = Number(await store.head('all'))
    await makeLink(301)
    await delivered(7, 551)
    expect(sent.map(({ id }) => id)).to.deep.equal([...names(first + 20, 250), `evt_${next}`])
  })

  it('given a restart at any place of a part, sends the rest of it, and omits no pending message', async () => {
    await makeHook(7)
    const first = Number(await store.head('all'))
    await makeLinks(1, 12)
    let open = 2
    answer = async (post) => (open-- > 0 ? accepted : never(post))
    const accepts = () => stored.attempts.filter((one) => one.delivered).map(({ message }) => message)
    const one = start()
    // two are accepted, then it waits at the third: the part is further on
    await delivered(7, 2)
    await replay(first + 6, first + 10)
    await until(
      async () => stored.cursors.get(7)?.starts,
      (starts) => starts === 2,
    )
    await one.stop()
    for (let n = 1; n <= 5; n++) {
      open = 1
      const again = start()
      await delivered(7, 2 + n)
      await again.stop()
    }
    open = 100
    start()
    await delivered(7, 2 + 4 + 10)
    // two, the part, and what it was at from the third on
    expect(accepts()).to.deep.equal([...names(first, 2), ...names(first + 6, 4), ...names(first + 2, 10)])
  })

  it('given a part within a part, or around it, goes on after the last message that it has sent', async () => {
    await makeHook(7)
    const first = Number(await store.head('all'))
    let waits = true
    const held: (() => void)[] = []
    answer = async () => {
      if (waits) await new Promise<void>((resolve) => held.push(resolve))
      return accepted
    }
    start()
    await makeLinks(1, 6)
    await until(
      async () => sent.length,
      (n) => n === 1,
    )
    // it was at the first event, then it is in a part, and gets another one
    await replay(first + 4, first + 6)
    await until(
      async () => stored.cursors.get(7)?.starts,
      (starts) => starts === 2,
    )
    await replay(first, first + 3)
    await until(
      async () => stored.cursors.get(7)?.starts,
      (starts) => starts === 3,
    )
    waits = false
    for (const release of held) release()
    await until(
      async () => sent.at(-1)?.id,
      (id) => id === `evt_${first + 5}`,
    )
    const ids = sent.map(({ id }) => id)
    expect(ids.slice(ids.lastIndexOf(`evt_${first}`))).to.deep.equal(names(first, 6))
  })

  it('given an earlier part within a part that it was in, goes on where it was before both', async () => {
    await makeHook(7)
    const first = Number(await store.head('all'))
    let allowed = 3
    answer = async () => {
      const number = sent.length
      await until(
        async () => number <= allowed,
        (isAllowed) => isAllowed,
      )
      return accepted
    }
    start()
    const waitsAt = (n: number) =>
      until(
        async () => sent.length,
        (found) => found === n,
      )
    const begun = (n: number) =>
      until(
        async () => stored.cursors.get(7)?.starts,
        (starts) => starts === n,
      )
    await makeLinks(1, 6)
    await waitsAt(4)
    // it is at the fourth link, which is in this part
    await replay(first + 2, first + 5)
    await begun(2)
    allowed = 5
    await waitsAt(6)
    await replay(first, first + 1)
    await begun(3)
    allowed = 100
    await until(
      async () => sent.at(-1)?.id,
      (id) => id === `evt_${first + 5}`,
    )
    const ids = sent.map(({ id }) => id)
    expect(ids.slice(ids.lastIndexOf(`evt_${first}`))).to.deep.equal([`evt_${first}`, ...names(first + 3, 3)])
  })

  it('sends an unreadable event without its data, under another id, and goes on', async () => {
    const bodies: string[] = []
    answer = async ({ body }) => {
      bodies.push(body)
      return accepted
    }
    start()
    await makeHook(7, { events: ['*'] })
    await makeHook(8, { events: ['LinkDeleted'] })
    await makeHook(9, { events: ['clicks'] })
    await makeLink(1)
    const damaged = { type: 'LinkUpdated', data: { id: 1, changes: 'none' } } as unknown as DomainEvent
    await append('link-1', damaged, newerEvent({ id: 1, url: 'https://secret.example/' }))
    await append('contract-1', newerEvent())
    await append('clicks-0', { type: 'LinkClicked', data: { clicks: 'damaged' } } as unknown as DomainEvent)
    await append('link-1', { type: 'LinkDeleted', data: { id: 1 } })
    await Promise.all([delivered(7, 4), delivered(8, 1), delivered(9, 1)])
    const head = Number(await store.head('all'))
    const [created, updated, newer, clicks, gone] = [6, 5, 4, 2, 1].map((back) => head - back)
    expect(idsOf(7)).to.deep.equal([
      `evt_${created}`,
      `evt_${updated}_unreadable`,
      `evt_${newer}_unreadable`,
      `evt_${gone}`,
    ])
    expect([idsOf(8), idsOf(9)]).to.deep.equal([[`evt_${gone}`], [`evt_${clicks}_unreadable`]])
    const unreadable = bodies.map((body) => JSON.parse(body)).filter(({ data }) => data.unreadable)
    expect(unreadable.map(({ type, data }) => [type, data.event, data.data ?? null])).to.have.deep.members([
      ['LinkUpdated', updated, null],
      [newerEvent().type, newer, null],
      ['clicks', clicks, null],
    ])
    expect(bodies.join()).not.to.include('secret.example')
  })

  it('waits ten minutes for a process that can read an event, and holds up no other webhook', async () => {
    start()
    await makeHook(7, { events: ['*'] })
    await makeHook(8)
    const now = new Date().toISOString()
    const event = newerEvent()
    await append('link-1', linkCreated({ id: 1 }))
    const late = { ...event, metadata: { ...event.metadata, at: now } }
    await store.append([{ stream: 'link-1', expected: 0n, events: [late] }])
    await makeLink(2)
    await delivered(8, 2)
    const { tries } = await until(
      async () => stored.cursors.get(7)!,
      (cursor) => cursor.tries > 1,
    )
    expect(tries).to.be.greaterThan(1)
    expect(idsOf(7)).to.have.length(1)
    const problem = stored.attempts.findLast(({ webhook }) => webhook === 7)?.problem
    expect(problem).to.match(/^this release of Linkledger cannot read the event/)
  })

  it('keeps the place of a webhook that only a newer release can read, also after a restart', async () => {
    const first = start()
    await makeHook(7)
    await makeHook(8)
    await makeLink(1)
    await delivered(8, 1)
    await until(
      async () => stored.cursors.get(7)?.idle,
      (idle) => idle === true,
    )
    await appendNewer(store, 'webhook-7')
    await makeLink(2)
    await delivered(8, 2)
    const kept = await until(
      async () => stored.cursors.get(7)!,
      ({ idle }) => !idle,
    )
    expect(kept.next).to.be.at.most(Number(idsOf(8)[1]!.slice(4)))
    await first.stop()
    // as when the process was killed before it stored that
    const place = stored.tail()!
    stored.cursors.set(7, { ...kept, next: 1, idle: true })
    start()
    await makeLink(3)
    await delivered(8, 3)
    await until(
      async () => stored.tail()!,
      (tail) => tail > place,
    )
    expect(idsOf(7)).to.have.length(1)
    expect(stored.cursors.get(7)).to.deep.include({ next: place, idle: false })
  })

  it('rests for as long as it has read, for any number of replays', async () => {
    await makeLinks(1, 700)
    const reads: { readonly from: number; readonly to: number }[] = []
    const slow: EventStore['subscribe'] = async function* (options) {
      const from = performance.now()
      await sleep(200)
      for await (const events of store.subscribe(options)) {
        // the tail follows the end
        if (options.after < 600n) reads.push({ from, to: performance.now() })
        yield events
      }
    }
    const known = async () => ({ webhooks: [7, 8, 9], position: await store.head('all') })
    for (const id of [7, 8, 9]) await makeHook(id, { links: [9999] }, 0)
    start({ store: { ...store, subscribe: slow }, known })
    const found = await until(
      async () => reads.length,
      (n) => n >= 2,
    )
    expect(found).to.be.at.least(2)
    const rests = reads.slice(1).map(({ from }, i) => from - reads[i]!.to)
    // timers may be a little early
    expect(Math.min(...rests)).to.be.greaterThan(190)
  })

  it('ends when another process delivers', async () => {
    const { done } = start()
    await makeHook(7)
    stored.overtake()
    await makeLink(1)
    expect(await done.then(() => '', String)).to.equal('Error: another process delivers to webhooks by now')
  })
})
