import { expect } from 'chai'
import {
  acquire,
  type Claim,
  claimStream,
  evaluateClaim,
  fence,
  graceMs,
  noTokens,
  release,
  type Tokens,
} from '../../../src/commands/claims/claim.ts'
import type { Recorded } from '../../../src/events/event.ts'
import type { Event } from '../../../src/events/index.ts'
import { recorded } from '../../support/events.ts'

const wish: Claim = { kind: 'alias', name: '0-hello', token: 'new' }
const claimed = recorded([
  { type: 'NameClaimed', data: { token: 'old', holder: 'link-7', account: 1 } },
])[0] as Recorded<Event<'NameClaimed'>>
const soon = Date.parse(claimed.at) + graceMs
const late = soon + 1

const held: Tokens = acquire(noTokens, 'alias', 'old')
const spent: Tokens = release(held, 'alias')
const verdict = (holder: Tokens, { claim = wish, account = 2, now = late } = {}) =>
  evaluateClaim(claim, claimed, holder, account, now)

describe('a name that was claimed before', () => {
  it('is ours when the claim has our token, whether or not it was completed', () => {
    const ours = { ...wish, token: 'old' }
    for (const holder of [noTokens, held, spent]) expect(verdict(holder, { claim: ours, now: soon })).to.equal('ours')
  })
  it('is taken while its holder holds the token, for any account and at any time', () => {
    expect(verdict(held)).to.equal('taken')
    expect(verdict(held, { account: 1 })).to.equal('taken')
    expect(verdict(fence(held, 'old'))).to.equal('taken')
  })
  it('is taken while the claim may still be completed, and abandoned after the grace period', () => {
    expect(verdict(noTokens, { now: soon })).to.equal('taken')
    expect(verdict(noTokens, { account: 1, now: soon })).to.equal('taken')
    expect(verdict(noTokens, { now: late })).to.equal('abandoned')
    expect(verdict(acquire(noTokens, 'alias', 'another'), { now: late })).to.equal('abandoned')
  })
  it('is free at once when its claim was fenced off', () => {
    expect(verdict(fence(noTokens, 'old'), { now: soon })).to.equal('free')
  })
  it('stays reserved for its account after release, if it is an alias or a username', () => {
    for (const kind of ['alias', 'username'] as const) {
      expect(verdict(spent, { claim: { ...wish, kind } })).to.equal('taken')
      expect(verdict(spent, { claim: { ...wish, kind }, account: 1, now: soon })).to.equal('free')
    }
  })
  it('is free for any account after release, if it is an e-mail', () => {
    expect(verdict(spent, { claim: { ...wish, kind: 'email' }, now: soon })).to.equal('free')
  })
})

describe('the tokens of a resource', () => {
  it('are held by kind, and spent when they are replaced or released', () => {
    const both = acquire(acquire(noTokens, 'email', 'e1'), 'username', 'u1')
    expect(acquire(both, 'email', 'e2')).to.deep.equal({
      held: { email: 'e2', username: 'u1' },
      spent: ['e1'],
      fenced: [],
    })
    expect(release(both, 'email', 'username')).to.deep.equal({ held: {}, spent: ['e1', 'u1'], fenced: [] })
    expect(release(both, 'alias')).to.deep.equal(both)
  })
})

describe('the stream of a claim', () => {
  it('is named after the kind and the name', () => {
    expect(claimStream(wish)).to.equal('claim-alias-0-hello')
    expect(claimStream({ ...wish, kind: 'email' })).to.equal('claim-email-0-hello')
  })
})
