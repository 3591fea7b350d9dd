import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import type { Refused } from '../../../src/commands/decider.ts'
import type { EventStore } from '../../../src/events/store.ts'
import { callerOn, refusalOf } from '../../support/caller.ts'
import { fresh } from '../../support/events.ts'
import { interrupted, killedBetween, accepted, refused, untilKilled, watched } from '../../support/interrupt.ts'
import { countingIds, Killed, newMemoryStore, oneByOne, story, writer } from '../../support/writer.ts'

describe('claiming a unique name', () => {
  let store: EventStore
  beforeEach(async () => (store = await newMemoryStore()))
  const claims = 'claim-alias-0-hello'
  const holderNow = async () => {
    const last = await store.last(claims)
    return last?.type === 'NameClaimed' ? last.data.holder : undefined
  }

  it('takes a free name', async () => {
    await writer(store).createLink(1)
    expect(await story(store)).to.deep.equal([`log LogOpened`, `${claims} NameClaimed`, 'link-1 LinkCreated'])
  })

  it('refuses a name that is taken, also for the same account', async () => {
    const { createLink, updateLink } = writer(store)
    await createLink(1)
    expect(refused(await createLink(2, { alias: 'HELLO' }, { seconds: 3600 }))).to.equal('taken alias')
    expect(refused(await createLink(1, {}, { seconds: 3600 }))).to.equal('taken alias')
    const { id } = accepted(await createLink(2, { alias: 'other' }))
    expect(refused(await updateLink(2, id, { alias: 'hello' }, { seconds: 3600 }))).to.equal('taken alias')
    expect(await story(store, claims)).to.have.length(1)
  })

  it('says which field has the name that is taken', async () => {
    const { createLink } = writer(store)
    await createLink(1)
    expect(((await createLink(2)) as Refused).problem).to.deep.include({ field: 'custom' })
    const { createBio } = callerOn(store, 2, countingIds(10).next)
    expect((await refusalOf(createBio('Hello'))).problem).to.deep.include({ field: 'alias' })
    const { register } = writer(store, countingIds(20).next)
    await register('ann')
    expect(((await register('ann')) as Refused).problem).to.deep.include({ field: 'email' })
    const { createQr } = callerOn(store, 2, countingIds(30).next)
    await createQr('menu')
    expect((await refusalOf(createQr('menu'))).problem, 'not chosen by the caller').not.to.have.property('field')
  })

  it('takes the same name on another domain', async () => {
    const { createLink } = writer(store)
    await createLink(1)
    expect(await createLink(2, { domain: 5 })).to.include({ id: 2 })
  })

  it('gives a released name only to the same account', async () => {
    const { createLink, updateLink, deleteLink } = writer(store)
    await createLink(1)
    await deleteLink(1, 1)
    expect(refused(await createLink(2, {}, { seconds: 3600 }))).to.equal('taken alias')
    const { id } = accepted(await createLink(1))
    await updateLink(1, id, { alias: 'elsewhere' })
    expect(refused(await createLink(2, {}, { seconds: 3600 }))).to.equal('taken alias')
    expect(await updateLink(1, id, { alias: 'Hello' })).to.have.nested.property('state.fields.alias', 'Hello')
  })

  it('gives a released e-mail to any account, and a username in use to none', async () => {
    const { register, changeEmail } = writer(store)
    await register('ann')
    await register('bea')
    expect(refused(await changeEmail(2, 'ann'))).to.equal('taken email')
    await changeEmail(1, 'new')
    expect(await changeEmail(2, 'ann')).to.have.nested.property('state.email', 'ann@example.com')
    expect(refused(await register('bea'))).to.equal('taken username')
  })

  it('continues with its own claim when the resource was not appended yet', async () => {
    const wish = { command: randomUUID(), token: 't' }
    await untilKilled(killedBetween(store).createLink(1, {}, wish))
    expect(await writer(oneByOne(store)).createLink(1, {}, wish)).to.include({ id: 1 })
    expect(await story(store, claims)).to.have.length(1)
  })

  it('claims the name again for another id when the first id is in use', async () => {
    await writer(store).createLink(2, { alias: 'other' })
    const steps = oneByOne(store)
    expect(await writer(steps, countingIds().next).createLink(1)).to.include({ id: 3 })
    expect(await story(store, claims)).to.have.length(2)
    expect(await holderNow()).to.equal('link-3')
  })

  it('refuses a name whose claim may still be completed', async () => {
    await untilKilled(killedBetween(store).createLink(1, {}, { seconds: 0 }))
    expect(refused(await writer(store, countingIds(2).next).createLink(2, {}, { seconds: 30 }))).to.equal('taken alias')
  })

  it('fences off an abandoned claim in its holder’s stream, then takes the name', async () => {
    await untilKilled(killedBetween(store).createLink(1, {}, { seconds: 0, token: 'dead' }))
    expect(await writer(store, countingIds(2).next).createLink(2, {}, { seconds: 31 })).to.include({ id: 2 })
    expect((await story(store)).slice(1)).to.deep.equal([
      `${claims} NameClaimed`,
      'link-1 ClaimFenced',
      `${claims} NameClaimed`,
      'link-2 LinkCreated',
    ])
    expect((await store.last('link-1'))?.data).to.deep.equal({ token: 'dead' })
  })

  it('takes a name that was fenced off without a second fence', async () => {
    await untilKilled(killedBetween(store).createLink(1, {}, { seconds: 0 }))
    // the next process is killed after its fence, so the name has no holder
    await untilKilled(
      writer(
        oneByOne(store, () => Promise.reject(new Killed())),
        countingIds(2).next,
      ).createLink(2, {}, { seconds: 31 }),
    )
    expect(await writer(store, countingIds(3).next).createLink(3, {}, { seconds: 31 })).to.include({ id: 3 })
    expect(await story(store, 'link-1')).to.deep.equal(['link-1 ClaimFenced'])
    expect(await holderNow()).to.equal('link-3')
  })

  it('fences off two abandoned claims of one holder in a single write', async () => {
    let n = 0
    const second = oneByOne(store, async () => {
      if (++n === 2) throw new Killed()
    })
    await untilKilled(writer(second).register('ann'))
    const { appends, store: seen } = watched(store)
    expect(await writer(seen, countingIds(2).next).register('ann', { seconds: 31 })).to.include({ id: 2 })
    expect(appends.map((writes) => writes.map((write) => write.stream))).to.deep.equal([
      // the first attempt does not read the claims
      ['claim-email-ann', 'claim-username-ann', 'account-2'],
      ['account-1', 'claim-email-ann', 'claim-username-ann', 'account-2'],
    ])
    expect(await story(store, 'account-1')).to.deep.equal(['account-1 ClaimFenced', 'account-1 ClaimFenced'])
  })

  it('takes over its own abandoned claim in the only safe order: fence, claim, resource', async () => {
    await writer(store).createLink(1, { alias: 'mine' })
    await untilKilled(killedBetween(store).updateLink(1, 1, { alias: 'hello' }, { seconds: 0 }))
    expect(await writer(oneByOne(store)).updateLink(1, 1, { alias: 'hello' }, { seconds: 31 })).to.have.property(
      'position',
    )
    expect((await story(store)).slice(4)).to.deep.equal([
      'link-1 ClaimFenced',
      `${claims} NameClaimed`,
      'link-1 LinkUpdated',
    ])
  })

  it('succeeds when the same command has given the resource the name in the meantime', async () => {
    const { createLink, updateLink } = writer(store)
    await createLink(1, { alias: 'mine' })
    let n = 0
    // reads the link before the same rename is carried out, and claims the name after it
    const slow: EventStore = {
      ...store,
      last: async (stream) => {
        if (n++ === 0) await updateLink(1, 1, { alias: 'hello' })
        return store.last(stream)
      },
    }
    expect(await writer(slow).updateLink(1, 1, { alias: 'hello' })).to.deep.include({ events: [], position: 5n })
    expect(refused(await writer(store).createLink(1))).to.equal('taken alias')
  })

  it('never leaves an alias on a resource that lost its claim in the meantime', async () => {
    await writer(store).createLink(1, { alias: 'mine' })
    await untilKilled(killedBetween(store).updateLink(1, 1, { alias: 'hello' }, { seconds: 0 }))
    const rival = writer(store, countingIds(2).next)
    let rivalActed = false
    const steps = oneByOne(
      interrupted(store, Infinity, async () => {
        // as soon as the dead claim is fenced off, the rival takes the name
        if (!rivalActed && (await story(store, 'link-1')).includes('link-1 ClaimFenced')) {
          rivalActed = true
          await rival.createLink(2, {}, { seconds: 31 })
        }
      }),
    )
    expect(refused(await writer(steps).updateLink(1, 1, { alias: 'hello' }, { seconds: 31 }))).to.equal('taken alias')
    expect((await rival.link(1)).state.fields.alias).to.equal('mine')
    expect((await rival.link(2)).state.fields.alias).to.equal('Hello')
  })

  it('frees the e-mail of a registration whose username is taken', async () => {
    const steps = writer(oneByOne(store))
    await steps.register('ann')
    expect(refused(await steps.register('bea', { username: 'ann' }))).to.equal('taken username')
    expect(await story(store, 'claim-email-bea')).to.have.length(1)
    expect(await steps.register('bea', { seconds: 1 })).to.include({ id: 3 })
    expect((await steps.account(2)).state).to.include({ status: 'none' })
  })

  it('frees the new alias of a link that was deleted in the meantime', async () => {
    const other = writer(store)
    await other.createLink(1, { alias: 'mine' })
    let n = 0
    const steps = oneByOne(store, async () => n++ === 0 && other.deleteLink(1, 1))
    expect(refused(await writer(steps).updateLink(1, 1, { alias: 'hello' }))).to.equal('not_found')
    expect(await writer(store, countingIds(2).next).createLink(2, {}, { seconds: 1 })).to.include({ id: 2 })
  })

  it('keeps the name of a resource that has used its claim when the command is refused', async () => {
    const { createLink, updateLink, deleteLink } = writer(store)
    await createLink(1, { alias: 'mine' })
    const wish = { token: 't' }
    let n = 0
    // another process uses the claim, and the link is deleted
    const steps = oneByOne(store, async () => {
      if (n++ > 0) return
      await updateLink(1, 1, { alias: 'hello' }, wish)
      await deleteLink(1, 1)
    })
    expect(refused(await writer(steps).updateLink(1, 1, { alias: 'hello' }, wish))).to.equal('not_found')
    expect(await story(store, 'link-1')).not.to.include('link-1 ClaimFenced')
    expect(refused(await createLink(2, {}, { seconds: 1 }))).to.equal('taken alias')
  })

  it('fails when the holder is a stream that cannot hold a name', async () => {
    const claim = fresh({ type: 'NameClaimed', data: { token: 't', holder: 'log-1', account: 1 } } as const)
    await store.append([{ stream: claims, expected: 'no_stream', events: [claim] }])
    const ended = await writer(store)
      .createLink(1)
      .catch((error: unknown) => error)
    expect(String(ended)).to.include('stream log-1 cannot hold a unique name')
  })
})
