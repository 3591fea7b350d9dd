import { expect } from 'chai'
import type { DomainEvent } from '../../../../src/events/index.ts'
import type { EventStore } from '../../../../src/events/store.ts'
import type { Item } from '../../../../src/events/subject.ts'
import { type Filter, type Memberships, openMemberships } from '../../../../src/app/jobs/webhooks/memberships.ts'
import { fresh, linkCreated } from '../../../support/events.ts'
import { appendNewer } from '../../../support/newer.ts'
import { newMemoryStore } from '../../../support/writer.ts'

const filterOf = (given: Partial<Record<'campaigns' | 'channels' | 'domains', number>> & { tags?: string }): Filter => {
  const set = <T>(one: T | undefined) => new Set(one === undefined ? [] : [one])
  return {
    campaigns: set(given.campaigns),
    channels: set(given.channels),
    domains: set(given.domains),
    tags: set(given.tags),
  }
}

describe('the campaign and channels of a link, by the log', () => {
  let store: EventStore
  let memberships: Memberships
  let reads: string[]
  beforeEach(async () => {
    store = await newMemoryStore()
    reads = []
    const read: EventStore['read'] = (stream, ...more) => {
      reads.push(stream)
      return store.read(stream, ...more)
    }
    memberships = openMemberships({ read })
  })
  const revisions = new Map<string, bigint>()
  beforeEach(() => revisions.clear())
  /** Appends an event, and returns its position. */
  const append = async (stream: string, event: DomainEvent) => {
    const expected = revisions.get(stream) ?? 'no_stream'
    expect((await store.append([{ stream, expected, events: [fresh(event)] }])).ok).to.equal(true)
    revisions.set(stream, expected === 'no_stream' ? 0n : expected + 1n)
    memberships.changed({ stream })
    return store.head('all')
  }
  const link: Item = { kind: 'links', id: 1 }
  const has = (filter: Filter, position: bigint, isAfter = true, item = link) =>
    memberships.has(filter, item, { position, isAfter })
  const moved = (campaign: number | null): DomainEvent => ({
    type: 'LinkUpdated',
    data: { id: 1, changes: { campaign } },
  })
  const campaign = (id: number): DomainEvent => ({
    type: 'CampaignCreated',
    data: { id, account: 1, name: 'c', slug: '', public: false },
  })
  const inSpring = filterOf({ campaigns: 7 })

  it('given an event that cannot be read, leaves nothing out from there on', async () => {
    const made = await append('link-1', linkCreated({ id: 1 }))
    const unknown = await appendNewer(store, 'link-1')
    memberships.changed({ stream: 'link-1' })
    expect(await has(inSpring, made)).to.equal(false)
    expect(await has(inSpring, unknown)).to.equal(true)
    expect(await has(filterOf({ tags: 'x' }), unknown)).to.equal(true)
  })

  it('knows the memberships just before and just after an event, in any order of asking', async () => {
    await append('campaign-7', campaign(7))
    const made = await append('link-1', linkCreated({ id: 1 }))
    const came = await append('link-1', moved(7))
    const left = await append('link-1', moved(null))
    const last = await append('link-1', { type: 'LinkUpdated', data: { id: 1, changes: { title: 'x' } } })
    const at = async (position: bigint) => [await has(inSpring, position, false), await has(inSpring, position)]
    expect(await at(last)).to.deep.equal([false, false])
    expect(await at(left)).to.deep.equal([true, false])
    expect(await at(came)).to.deep.equal([false, true])
    expect(await at(made)).to.deep.equal([false, false])
    // once each, however often it is asked for
    expect(reads.toSorted()).to.deep.equal(['campaign-7', 'link-1'])
  })

  it('given a change after the first read, reads on, and includes the change for later events', async () => {
    await append('campaign-7', campaign(7))
    const made = await append('link-1', linkCreated({ id: 1 }))
    expect(await has(inSpring, made)).to.equal(false)
    const came = await append('link-1', moved(7))
    expect(await has(inSpring, came)).to.equal(true)
    const gone = await append('campaign-7', { type: 'CampaignDeleted', data: { id: 7 } })
    expect([await has(inSpring, gone, false), await has(inSpring, gone)]).to.deep.equal([true, false])
    const back = await append('campaign-7', { type: 'CampaignRestored', data: { id: 7, deleted: true, changes: {} } })
    expect(await has(inSpring, back)).to.equal(true)
  })

  it('given a log that fails, reads again the next time', async () => {
    const made = await append('link-1', linkCreated({ id: 1, tags: ['a'] }))
    let fails = true
    const failing = openMemberships({
      read: (...of) => {
        if (fails) throw new Error('not now')
        return store.read(...of)
      },
    })
    const ask = () => failing.has(filterOf({ tags: 'a' }), link, { position: made, isAfter: true })
    const problem = await ask().catch((error: Error) => error.message)
    expect(problem).to.equal('not now')
    fails = false
    expect(await ask()).to.equal(true)
  })

  it('knows QR codes and bio pages in channels, and of nothing else', async () => {
    const qr: Item = { kind: 'qr', id: 5 }
    await append('channel-3', {
      type: 'ChannelCreated',
      data: { id: 3, account: 1, name: 'c', description: '', color: '#3b82f6', starred: false },
    })
    const came = await append('channelitem-3-qr-5', { type: 'ItemAssignedToChannel', data: { channel: 3, item: qr } })
    expect(await has(filterOf({ channels: 3 }), came, true, qr)).to.equal(true)
    expect(await has(filterOf({ channels: 4 }), came, true, qr)).to.equal(false)
    expect(await has(filterOf({ channels: 3, tags: 'a' }), came, true, qr)).to.equal(false)
    const left = await append('channelitem-3-qr-5', { type: 'ItemRemovedFromChannel', data: { channel: 3, item: qr } })
    expect(await has(filterOf({ channels: 3 }), left, true, qr)).to.equal(false)
  })

  it('knows a link on the domain of each of its addresses, also when it is deleted and comes back', async () => {
    const onBranded = filterOf({ domains: 4 })
    const address = (number: number, domain: number | null): DomainEvent => ({
      type: 'LinkAddressAdded',
      data: { id: 1, account: 1, address: number, domain, alias: 'b', added: '2026-01-01T00:00:00.000Z', token: 't' },
    })
    const restored = (): DomainEvent => ({ type: 'LinkRestored', data: { id: 1, deleted: true, changes: {} } })
    const at = async (position: bigint) => [await has(onBranded, position, false), await has(onBranded, position)]
    const made = await append('link-1', linkCreated({ id: 1, domain: null }))
    const came = await append('link-1', address(2, 4))
    const changed = await append('link-1', { type: 'LinkUpdated', data: { id: 1, changes: { title: 'x' } } })
    const gone = await append('link-1', { type: 'LinkDeleted', data: { id: 1 } })
    const back = await append('link-1', restored())
    const again = await append('link-1', address(2, 4))
    const left = await append('link-1', { type: 'LinkAddressRemoved', data: { id: 1, address: 2 } })
    const last = await append('link-1', { type: 'LinkDeleted', data: { id: 1 } })
    expect(await Promise.all([made, came, changed, gone, back, again, left, last].map(at))).to.deep.equal([
      [false, false],
      [false, true],
      [true, true],
      [true, true],
      [true, false],
      [false, true],
      [true, false],
      [false, false],
    ])
  })
})
