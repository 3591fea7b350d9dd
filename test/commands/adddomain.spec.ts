import { expect } from 'chai'
import { addDomain } from '../../src/commands/adddomain.ts'
import { domain } from '../../src/commands/domain.ts'
import type { EventStore } from '../../src/events/store.ts'
import { callerOn, refusalOf } from '../support/caller.ts'
import { at } from '../support/events.ts'
import { countingIds, newMemoryStore, story } from '../support/writer.ts'

describe('addDomain', () => {
  let store: EventStore
  let ann: ReturnType<typeof callerOn>
  let bob: ReturnType<typeof callerOn>
  beforeEach(async () => {
    store = await newMemoryStore()
    const { next } = countingIds()
    ann = callerOn(store, 1, next)
    bob = callerOn(store, 2, next)
  })
  const add = (who: typeof ann, host: string) =>
    addDomain(
      { ...who, create: (make) => who.create(domain, make) },
      { domain: `https://${host}`, redirectroot: '', redirect404: '' },
    )
  const remove = (id: number, free = at(3600)) => ann.write(domain, { type: 'DeleteDomain', id, account: 1, free })

  it('creates a domain under a new id', async () => {
    const { id } = await add(ann, 'go.example.com')
    expect(await story(store, `domain-${id}`)).to.deep.equal([`domain-${id} DomainCreated`])
    expect((await add(ann, 'other.example.com')).id).not.to.equal(id)
  })

  it('restores a deleted domain of the account under its old id', async () => {
    const { id } = await add(ann, 'go.example.com')
    await remove(id)
    expect(await add(ann, 'go.example.com')).to.deep.equal({ id })
    expect(await story(store, `domain-${id}`)).to.deep.equal([
      `domain-${id} DomainCreated`,
      `domain-${id} DomainDeleted`,
      `domain-${id} DomainRestored`,
    ])
  })

  it('refuses a host that another account has, or had until recently', async () => {
    const { id } = await add(ann, 'go.example.com')
    for (const step of ['open', 'deleted']) {
      if (step === 'deleted') await remove(id)
      const { code, what, message } = await refusalOf(add(bob, 'go.example.com'))
      expect([code, what, message], step).to.deep.equal(['taken', 'host', '`domain` belongs to another account.'])
    }
  })

  it('gives the host to another account once it is free', async () => {
    const { id } = await add(ann, 'go.example.com')
    await remove(id, at(0))
    expect((await add(bob, 'go.example.com')).id).not.to.equal(id)
  })
})
