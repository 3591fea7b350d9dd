import { expect } from 'chai'
import { fold, Refused } from '../../../src/commands/decider.ts'
import { mostAddresses } from '../../../src/commands/links/addresses.ts'
import { addressesOf } from '../../../src/commands/links/places.ts'
import { link, type LinkCommand } from '../../../src/commands/links/link.ts'
import type { LinkEvent } from '../../../src/events/links/link.ts'
import { linkCreated } from '../../support/events.ts'
import { randomFrom, repeatable, seed } from '../../support/faults.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(link)
const [id, account, now] = [42, 1, '2030-01-31T00:00:00.000Z']

const created = linkCreated({ id, account, alias: 'one', token: 't1' })
const added = (address: number, alias: string, token: string): LinkEvent => ({
  type: 'LinkAddressAdded',
  data: { id, account, address, domain: null, alias, added: now, token },
})
const removed = (address: number): LinkEvent => ({ type: 'LinkAddressRemoved', data: { id, address } })
const moved = (alias: string, token: string, address?: number): LinkEvent => ({
  type: 'LinkUpdated',
  data: { id, token, ...(address && { address }), changes: { domain: null, alias } },
})
const deleted: LinkEvent = { type: 'LinkDeleted', data: { id } }

const add = (alias: string, token = 'new'): LinkCommand => ({
  ...{ type: 'AddAddress', id, account, token, now },
  fields: { domain: null, alias },
})
const rename = (alias: string, keepsOld: boolean): LinkCommand => ({
  ...{ type: 'UpdateLink', id, account, token: 'new', now },
  changes: { alias },
  keepsOld,
})
const take = (address: number): LinkCommand => ({ type: 'DeleteAddress', id, account, address })
const stateAfter = (...events: readonly LinkEvent[]) => fold(link, events)
const restore = (to?: ReturnType<typeof stateAfter>, without: readonly number[] = []): LinkCommand => ({
  ...{ type: 'RestoreLink', id, account, token: 'new', now, without },
  to: to && { ...to, revision: 0 },
})
const namesAfter = (...events: readonly LinkEvent[]) =>
  addressesOf(stateAfter(...events)).map(({ address, alias }) => `${address} ${alias}`)
const claimed = (command: LinkCommand, ...past: readonly LinkEvent[]) => {
  const state = stateAfter(...past)
  return link.claims!(command, link.decide(command, state), state).map(({ name, token }) => `${name} ${token}`)
}

describe(`the addresses of a link (${repeatable})`, () => {
  it('are its main one at first, to which others are added, each with a claim', () => {
    given(created)
      .when(add('two'))
      .thenEvents(added(2, 'two', 'new'))
    expect(claimed(add('two'), created)).to.deep.equal(['0-two new'])
    expect(namesAfter(created, added(2, 'two', 't2'))).to.deep.equal(['1 one', '2 two'])
    for (const alias of ['two', 'TWO', 'one'])
      given(created, added(2, 'two', 't2'))
        .when(add(alias))
        .thenNothing()
  })

  it('are at most 100', () => {
    const others = Array.from({ length: mostAddresses - 1 }, (_, n) => added(n + 2, `other-${n}`, `t${n + 2}`))
    given(created, ...others)
      .when(add('more'))
      .thenRefused('too_many')
    given(created, ...others)
      .when(rename('more', true))
      .thenRefused('too_many')
    given(created, ...others)
      .when(rename('more', false))
      .thenEvents(moved('more', 'new'))
  })

  it('keep the former one with its claim when the link is renamed', () => {
    const renamed = [moved('two', 'new', 2), added(1, 'one', 't1')] as const
    given(created)
      .when(rename('two', true))
      .thenEvents(...renamed)
    expect(claimed(rename('two', true), created)).to.deep.equal(['0-two new'])
    expect(namesAfter(created, ...renamed)).to.deep.equal(['2 two', '1 one'])
    expect(stateAfter(created, ...renamed).tokens.held).to.deep.equal({ alias: 'new', 'alias 1': 't1' })
  })

  it('lose the former one when the link is renamed without it: the new one takes its number', () => {
    given(created).when(rename('two', false)).thenEvents(moved('two', 'new'))
    expect(namesAfter(created, moved('two', 't2'))).to.deep.equal(['1 two'])
  })

  it('change places when another one becomes the main one, without a claim', () => {
    const past = [created, added(2, 'two', 't2')] as const
    given(...past)
      .when(rename('two', true))
      .thenEvents(moved('two', 't2', 2), added(1, 'one', 't1'))
    expect(claimed(rename('two', true), ...past)).to.deep.equal([])
    const swapped = [...past, moved('two', 't2', 2), added(1, 'one', 't1')]
    expect(namesAfter(...swapped)).to.deep.equal(['2 two', '1 one'])
    expect(stateAfter(...swapped).tokens.held).to.deep.equal({ alias: 't2', 'alias 1': 't1' })
    // and back
    const back = [...swapped, moved('one', 't1', 1), added(2, 'two', 't2')]
    expect(namesAfter(...back)).to.deep.equal(['1 one', '2 two'])
  })

  it('can be taken away, but not the main one, and no number is given twice', () => {
    const past = [created, added(2, 'two', 't2')] as const
    given(...past)
      .when(take(2))
      .thenEvents(removed(2))
    expect(stateAfter(...past, removed(2)).tokens).to.deep.include({ held: { alias: 't1' }, spent: ['t2'] })
    given(...past)
      .when(take(1))
      .thenRefused('not_supported', 'main_address')
    given(...past)
      .when(take(3))
      .thenRefused('not_found', 'address')
    given(...past, removed(2))
      .when(add('three'))
      .thenEvents(added(3, 'three', 'new'))
  })

  it('are all released with the link, and come back with it, but those that others have now', () => {
    const past = [created, added(2, 'two', 't2'), added(3, 'three', 't3'), deleted] as const
    expect(stateAfter(...past).tokens).to.deep.include({ held: {}, spent: ['t1', 't2', 't3'] })
    const restored: LinkEvent = { type: 'LinkRestored', data: { id, token: 'new', deleted: true, changes: {} } }
    given(...past)
      .when(restore())
      .thenEvents(restored, added(2, 'two', 'new-2'), added(3, 'three', 'new-3'))
    expect(claimed(restore(), ...past)).to.deep.equal(['0-one new', '0-two new-2', '0-three new-3'])
    given(...past)
      .when(restore(undefined, [2]))
      .thenEvents(restored, added(3, 'three', 'new-3'))
    expect(namesAfter(...past, restored, added(3, 'three', 'new-3'))).to.deep.equal(['1 one', '3 three'])
  })

  it('are those of then when the link is restored to a revision', () => {
    const past = [created, added(2, 'two', 't2')] as const
    const then = stateAfter(...past)
    const back = (...events: readonly LinkEvent[]) => given(...past, ...events).when(restore(then))
    const restored = (data: object = {}): LinkEvent => ({
      type: 'LinkRestored',
      data: { id, to: 0, changes: {}, ...data },
    })
    back().thenNothing()
    back(removed(2)).thenEvents(restored(), added(2, 'two', 'new-2'))
    back(added(3, 'three', 't3')).thenEvents(restored(), removed(3))
    const swapped = [moved('two', 't2', 2), added(1, 'one', 't1')]
    back(...swapped).thenEvents(restored({ token: 't1', address: 1, changes: { alias: 'one' } }), added(2, 'two', 't2'))
    back(moved('three', 't3', 3), added(1, 'one', 't1')).thenEvents(
      restored({ token: 't1', address: 1, changes: { alias: 'one' } }),
    )
    back(moved('three', 't3')).thenEvents(restored({ token: 'new', changes: { alias: 'one' } }))
  })

  it('are refused with a claim that was fenced off', () => {
    const past = [created, { type: 'ClaimFenced', data: { token: 'new' } } as const] as const
    given(...past)
      .when(add('two'))
      .thenRefused('taken', 'alias')
    given(...past)
      .when(rename('two', true))
      .thenRefused('taken', 'alias')
  })

  it('are not changed by those who do not own the link', () => {
    given(created)
      .when({ ...add('two'), account: 2 } as LinkCommand)
      .thenRefused('not_found')
    given(created)
      .when({ ...take(2), account: 2 } as LinkCommand)
      .thenRefused('not_found')
  })

  it('keep numbers and claims of their own when they are added, taken away, renamed and restored at random', () => {
    const random = randomFrom(seed)
    const pick = <T>(all: readonly T[]) => all[random(all.length)]!
    for (let round = 0; round < 300; round++) {
      let state = stateAfter(created)
      const claims = new Map([['t1', '0-one']])
      const states = [state]
      for (let step = 0; step < 12; step++) {
        const alias = pick(['one', 'two', 'three', 'four'])
        const token = `${round}-${step}`
        const command = pick<() => LinkCommand>([
          () => add(alias, token),
          () => ({ ...rename(alias, random(2) === 0), token }) as LinkCommand,
          () => take(pick([1, 2, 3, 4])),
          () => ({ ...restore(pick(states)), token }) as LinkCommand,
          () =>
            state.status === 'deleted' ? ({ ...restore(), token } as LinkCommand) : { type: 'DeleteLink', id, account },
        ])()
        try {
          const events = link.decide(command, state)
          for (const claim of link.claims!(command, events, state)) claims.set(claim.token, claim.name)
          state = fold(link, events, state)
          if (state.status === 'open') states.push(state)
        } catch (error) {
          if (!(error instanceof Refused)) throw error
        }
        const all = addressesOf(state)
        expect(new Set(all.map(({ address }) => address)).size, `round ${round}`).to.equal(all.length)
        if (state.status !== 'open') continue
        const held: Readonly<Record<string, string | undefined>> = state.tokens.held
        const names = all.map((one, n) => claims.get(held[n === 0 ? 'alias' : `alias ${one.address}`] ?? ''))
        expect(names, `round ${round}`).to.deep.equal(all.map((one) => `0-${one.alias}`))
        expect(Object.keys(held)).to.have.length(all.length)
      }
    }
  })
})
