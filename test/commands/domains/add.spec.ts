import { expect } from 'chai'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { addDomain, verifyDomain } from '../../../src/commands/domains/add.ts'
import { domain, type DomainCommand } from '../../../src/commands/domains/domain.ts'
import type { EventStore } from '../../../src/events/store.ts'
import { callerOn, refusalOf } from '../../support/caller.ts'
import { at } from '../../support/events.ts'
import { accepted } from '../../support/interrupt.ts'
import { countingIds, Killed, newMemoryStore, oneByOne, story, writer } from '../../support/writer.ts'

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
  const creator = (who: typeof ann, now: string, own?: number) => ({
    ...who,
    now,
    own: () => own,
    create: (make: (id: number) => DomainCommand) => who.create(domain, make),
    release: (id: number, account: number, when: string) =>
      callerOn(store, account).write(domain, { type: 'ReleaseDomain', id, now: when }),
  })
  const fieldsOf = (host: string) => ({ domain: `https://${host}`, redirectroot: '', redirect404: '' })
  const add = (who: typeof ann, host: string) => addDomain(creator(who, at(0)), fieldsOf(host), 'off')
  const remove = (id: number, free = at(3600)) => ann.write(domain, { type: 'DeleteDomain', id, account: 1, free })

  it('creates a domain under a new id', async () => {
    const { id } = await add(ann, 'go.example.com')
    expect(await story(store, `domain-${id}`)).to.deep.equal([
      `domain-${id} DomainCreated`,
      `domain-${id} DomainVerified`,
    ])
    expect((await add(ann, 'other.example.com')).id).not.to.equal(id)
  })

  it('restores a deleted domain of the account under its old id', async () => {
    const { id } = await add(ann, 'go.example.com')
    await remove(id)
    expect(await add(ann, 'go.example.com')).to.deep.equal({ id })
    expect(await story(store, `domain-${id}`)).to.deep.equal([
      `domain-${id} DomainCreated`,
      `domain-${id} DomainVerified`,
      `domain-${id} DomainDeleted`,
      `domain-${id} DomainRestored`,
      `domain-${id} DomainVerified`,
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

  describe('of a pending domain', () => {
    const pend = (who: typeof ann, host = 'go.example.com', own?: number, now = at(0)) =>
      addDomain(creator(who, now, own), fieldsOf(host))
    const verify = (who: typeof ann, id: number, now = at(0)) => verifyDomain(creator(who, now), id, 'txt')
    const stateOf = async (id: number) => (await ann.load(domain, id)).state
    const holder = () => ann.claimant({ kind: 'host', name: 'go.example.com' })

    it('claims no host, so that several accounts can add one, and the first to verify it has it', async () => {
      const mine = await pend(ann)
      const theirs = await pend(bob)
      expect(await holder()).to.equal(undefined)
      expect([(await stateOf(mine.id)).verified, (await stateOf(theirs.id)).verified]).to.deep.equal([false, false])
      await verify(bob, theirs.id)
      expect(await holder()).to.equal(`domain-${theirs.id}`)
      expect((await refusalOf(verify(ann, mine.id))).code).to.equal('taken')
      expect((await refusalOf(pend(ann))).message).to.equal('`domain` belongs to another account.')
      expect((await stateOf(theirs.id)).verified).to.equal(true)
    })

    it('gives the host to one of two accounts that verify it at the same moment', async () => {
      const ids = [(await pend(ann)).id, (await pend(bob)).id] as const
      const outcomes = await Promise.allSettled([verify(ann, ids[0]), verify(bob, ids[1])])
      const verified = await Promise.all(ids.map(async (id) => (await stateOf(id)).verified))
      expect(outcomes.map(({ status }) => status === 'fulfilled')).to.deep.equal(verified)
      expect(verified.filter(Boolean)).to.have.length(1)
    })

    it('is verified by the next attempt when the process dies between the claim and the event', async () => {
      const { id } = await pend(ann)
      const other = await pend(bob)
      const dying = callerOn(
        oneByOne(store, () => Promise.reject(new Killed())),
        1,
      )
      const died = await verifyDomain({ ...creator(ann, at(0)), ...dying }, id, 'txt').catch((error: unknown) => error)
      expect(died).to.be.instanceOf(Killed)
      expect([await holder(), (await stateOf(id)).verified]).to.deep.equal([`domain-${id}`, false])
      await verify(ann, id)
      expect((await stateOf(id)).verified).to.equal(true)
      expect((await refusalOf(verify(bob, other.id))).code).to.equal('taken')
    })

    it('names the verified one when the account has added the host twice at the same moment', async () => {
      const [first, second] = [await pend(ann), await pend(ann)]
      await verify(ann, first.id)
      expect((await refusalOf(verify(ann, second.id))).message).to.equal(
        `\`domain\` is one of your domains already, with the id ${first.id}.`,
      )
    })

    it('cannot be reserved for longer by deleting and adding it in turn, until it is verified again', async () => {
      const freeOf = async (id: number) => Object.values((await stateOf(id)).tokens.free ?? {}).at(-1)
      const { id } = await pend(ann)
      await verify(ann, id)
      await remove(id, at(3600))
      await pend(ann)
      await remove(id, at(7200))
      expect(await freeOf(id)).to.equal(at(3600))
      await pend(ann)
      await verify(ann, id)
      await remove(id, at(7200))
      expect(await freeOf(id)).to.equal(at(7200))
    })

    it('can be proven later when it was verified without a check', async () => {
      const { id } = await addDomain(creator(ann, at(0)), fieldsOf('go.example.com'), 'off')
      expect(await stateOf(id)).to.include({ verified: true, proof: 'off' })
      await verify(ann, id)
      expect(await stateOf(id)).to.include({ verified: true, proof: 'txt' })
      await verify(ann, id)
      expect(await story(store, `domain-${id}`)).to.deep.equal(
        ['DomainCreated', 'DomainVerified', 'DomainVerified'].map((type) => `domain-${id} ${type}`),
      )
    })

    it('cannot be verified by another account', async () => {
      const { id } = await pend(ann)
      expect((await refusalOf(verify(bob, id))).code).to.equal('not_found')
    })

    it('names the domain that the account has already', async () => {
      const { id } = await pend(ann)
      const refused = await refusalOf(pend(ann, 'go.example.com', id))
      expect([refused.code, refused.message]).to.deep.equal([
        'taken',
        `\`domain\` is one of your domains already, with the id ${id}.`,
      ])
    })

    it('keeps its id when it is deleted and added again, and stays pending', async () => {
      const { id } = await pend(ann)
      await remove(id)
      expect(await pend(ann, 'go.example.com', id)).to.deep.equal({ id })
      expect(await stateOf(id)).to.include({ status: 'open', verified: false })
    })

    it('is verified at once within the reservation of a verified one, and not after it', async () => {
      const { id } = await pend(ann)
      await verify(ann, id)
      await remove(id, at(3600))
      await pend(ann, 'go.example.com', undefined, at(1800))
      expect(await stateOf(id)).to.include({ status: 'open', verified: true })
      await remove(id, at(-1))
      await pend(ann)
      expect(await stateOf(id)).to.include({ status: 'open', verified: false })
      const { id: theirs } = await pend(bob)
      await verify(bob, theirs)
      expect(await holder()).to.equal(`domain-${theirs}`)
    })

    it('can be verified by others once the account that had the host is erased, and not while it is disabled', async () => {
      const { register } = writer(store, countingIds(3).next)
      const owner = accepted(await register('carl')).id
      const operator = callerOn(store, owner)
      const carl = callerOn(store, owner, countingIds(100).next)
      const { id } = await pend(carl)
      await verify(carl, id)
      await operator.write(accounts, { type: 'DisableAccount', id: owner })
      expect((await refusalOf(pend(ann))).code).to.equal('taken')
      await operator.write(accounts, { type: 'EraseAccount', id: owner })
      const { id: mine } = await pend(ann)
      await verify(ann, mine)
      expect(await holder()).to.equal(`domain-${mine}`)
      expect(await stateOf(id)).to.include({ status: 'deleted', verified: false })
    })

    it('can be verified by others after the operator released the host, and is pending again for its account', async () => {
      const { id } = await pend(ann)
      await verify(ann, id)
      await remove(id, at(3600))
      await ann.write(domain, { type: 'ReleaseDomain', id, now: at(0) })
      expect(await pend(ann)).to.deep.equal({ id })
      expect(await stateOf(id)).to.include({ status: 'open', verified: false })
      await verify(bob, (await pend(bob)).id)
      expect((await refusalOf(verify(ann, id))).code).to.equal('taken')
    })

    it('loses the host to others only after its reservation, when it has failed its checks', async () => {
      const { id } = await pend(ann)
      await verify(ann, id)
      await ann.write(domain, { type: 'UnverifyDomain', id, free: at(3600) })
      expect((await refusalOf(pend(bob))).code).to.equal('taken')
      await verify(ann, id)
      await ann.write(domain, { type: 'UnverifyDomain', id, free: at(-1) })
      await verify(bob, (await pend(bob)).id)
      expect((await refusalOf(verify(ann, id))).code).to.equal('taken')
    })
  })
})
