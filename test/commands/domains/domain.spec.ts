import { expect } from 'chai'
import { fold } from '../../../src/commands/decider.ts'
import { domain, type DomainCommand, excludesOthers, hostReservation } from '../../../src/commands/domains/domain.ts'
import type { BrandedDomainEvent } from '../../../src/events/domains/domain.ts'
import type { Event } from '../../../src/events/index.ts'
import { at } from '../../support/events.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(domain)
const [id, account, host] = [5, 1, 'go.example.com']
const fields = { domain: `https://${host}`, redirectroot: '', redirect404: '' }
const [now, soon, later] = [at(0), at(60), at(3600)]

type Command<T> = Extract<DomainCommand, { type: T }>
const create = (more: Partial<Command<'CreateDomain'>> = {}): DomainCommand => ({
  type: 'CreateDomain',
  id,
  account,
  fields,
  token: 't2',
  proof: 'txt',
  now,
  ...more,
})
const update = (changes: Command<'UpdateDomain'>['changes'], by = account): Command<'UpdateDomain'> => ({
  type: 'UpdateDomain',
  id,
  account: by,
  changes,
})
const remove = (free: string, by = account): DomainCommand => ({ type: 'DeleteDomain', id, account: by, free })
const verify = (more: Partial<Command<'VerifyDomain'>> = {}): DomainCommand => ({
  type: 'VerifyDomain',
  id,
  host,
  token: 't2',
  proof: 'txt',
  ...more,
})
const unverify: DomainCommand = { type: 'UnverifyDomain', id, free: later }
const release: DomainCommand = { type: 'ReleaseDomain', id, now }

type E = BrandedDomainEvent | Event<'ClaimFenced'>
const created: E = { type: 'DomainCreated', data: { id, account, ...fields } }
const createdOnce: E = { type: 'DomainCreated', data: { id, account, token: 't1', ...fields } }
const verified = (by: string, token?: string): E => ({
  type: 'DomainVerified',
  data: { id, ...(token !== undefined && { token }), by },
})
const updated = (changes: object, more: object = {}): E => ({ type: 'DomainUpdated', data: { id, ...more, changes } })
const deleted = (free: string): E => ({ type: 'DomainDeleted', data: { id, free } })
const restored = (more: object = {}): E => ({ type: 'DomainRestored', data: { id, ...more, ...fields } })
const unverified = (free: string): E => ({ type: 'DomainUnverified', data: { id, free } })
const released = (free: string): E => ({ type: 'DomainReleased', data: { id, free } })
const fenced = (token: string): E => ({ type: 'ClaimFenced', data: { token } })
const serving = [created, verified('txt', 't1')] as const

describe('a branded domain', () => {
  it('has apps that open its addresses, and stays the same when they are sent again or none are cleared', () => {
    const apple = { details: [{ appIDs: ['9JA89QQLNQ.com.example.app'], components: [{ '/': '*' }] }] }
    given(created).when(update({ apple })).thenEvents(updated({ apple }))
    given(created, updated({ apple }))
      .when(update({ apple, redirectroot: '' }))
      .thenNothing()
    given(created, updated({ apple }))
      .when(update({ apple: { details: [] } }))
      .thenEvents(updated({ apple: { details: [] } }))
    given(created)
      .when(update({ apple: { details: [] }, android: [] }))
      .thenNothing()
    given(created, updated({ apple }), deleted(later), restored())
      .when(update({ android: [] }))
      .thenNothing()
  })
  it('serves at once when it is added with a proof, and claims its host', () => {
    given().when(create()).thenEvents(created, verified('txt', 't2'))
    given().when(create()).thenClaims({ kind: 'host', name: host, token: 't2' })
  })

  it('is pending when it is added without, and claims nothing', () => {
    expect(domain.decide(create({ proof: undefined }), domain.initialState)).to.deep.equal([created])
    given()
      .when(create({ proof: undefined }))
      .thenClaims()
    expect(fold(domain, [created])).to.include({ status: 'open', verified: false })
  })

  it('has exact aliases from its beginning, keeps them when it comes back, and refuses others then', () => {
    const exact: E = { type: 'DomainAliasesMadeExact', data: { id } }
    given()
      .when(create({ exact: true }))
      .thenEvents(created, exact, verified('txt', 't2'))
    given(created, exact, deleted(later)).when(create()).thenEvents(restored(), verified('txt', 't2'))
    given(created, exact, deleted(later))
      .when(create({ exact: true }))
      .thenEvents(restored(), verified('txt', 't2'))
    given(created, exact, deleted(later))
      .when(create({ exact: false }))
      .thenRefused('not_supported', 'other_aliases')
    given(created, deleted(later))
      .when(create({ exact: true }))
      .thenRefused('not_supported', 'other_aliases')
  })

  it('is not added with a claim that was fenced off', () => {
    given(fenced('t2')).when(create()).thenRefused('taken', 'host')
    given(fenced('t1')).when(create()).thenEvents(created, verified('txt', 't2'))
  })

  it('is not added under the id of another one', () => {
    given(created)
      .when(create({ account: 2 }))
      .thenRefused('taken', 'host')
    given(created)
      .when(create({ fields: { ...fields, domain: 'https://other.example.com' } }))
      .thenRefused('taken', 'host')
    given(created).when(create()).thenRefused('taken', 'own_host')
  })

  it('changes where visits without an alias and to unknown ones lead', () => {
    given(created)
      .when(update({ redirectroot: 'https://example.com/', redirect404: '' }))
      .thenEvents(updated({ redirectroot: 'https://example.com/' }))
    const change = updated({ redirect404: 'https://example.com/404' })
    given(created, change)
      .when(update({ redirect404: 'https://example.com/404' }))
      .thenNothing()
    given(created, change)
      .when({ ...update({ redirect404: '' }), to: 0 })
      .thenEvents(updated({ redirect404: '' }, { to: 0 }))
    expect(fold(domain, [created, change]).fields).to.deep.equal({ ...fields, redirect404: 'https://example.com/404' })
    for (const command of [update({ redirect404: 'https://example.com/404' }, 2), remove(now, 2)])
      given(created).when(command).thenRefused('not_found', 'domain')
  })

  it('is verified by its own host only, and once', () => {
    given(created).when(verify()).thenEvents(verified('txt', 't2'))
    given(created).when(verify()).thenClaims({ kind: 'host', name: host, token: 't2' })
    given(created)
      .when(verify({ host: 'other.example.com' }))
      .thenNothing()
    given(...serving)
      .when(verify())
      .thenNothing()
    given(created, deleted(now)).when(verify()).thenNothing()
    given(created, fenced('t2')).when(verify()).thenRefused('taken', 'host')
  })

  it('passes a check later when it was verified without one, with the claim that it has', () => {
    given(created, verified('off', 't1')).when(verify()).thenEvents(verified('txt'))
    given(createdOnce).when(verify()).thenEvents(verified('txt'))
    given(created, verified('off', 't1'))
      .when(verify({ proof: 'off' }))
      .thenNothing()
  })

  it('stops when it has failed its checks, and its host is free for others later', () => {
    given(...serving)
      .when(unverify)
      .thenEvents(unverified(later))
    given(created).when(unverify).thenNothing()
    given(...serving, deleted(now))
      .when(unverify)
      .thenNothing()
    const after = fold(domain, [...serving, unverified(later)])
    expect(after.verified).to.equal(false)
    expect([excludesOthers(after, soon), excludesOthers(after, later)]).to.deep.equal([true, false])
  })

  it('gives up a host that an older release has kept after failed checks', () => {
    const kept: E = { type: 'DomainUnverified', data: { id } }
    expect(excludesOthers(fold(domain, [createdOnce, kept]), at(10 ** 6))).to.equal(true)
    given(createdOnce, kept).when(unverify).thenEvents(unverified(later))
  })

  it('keeps its host from others for thirty days after it is deleted', () => {
    expect(hostReservation('2030-01-01T00:00:00.000Z')).to.equal('2030-01-31T00:00:00.000Z')
    given(...serving)
      .when(remove(later))
      .thenEvents(deleted(later))
    const after = fold(domain, [...serving, deleted(later)])
    expect([excludesOthers(after, soon), excludesOthers(after, later)]).to.deep.equal([true, false])
    expect(excludesOthers(fold(domain, serving), later)).to.equal(true)
    expect(excludesOthers(fold(domain, [created, deleted(later)]), soon)).to.equal(false)
  })

  it('serves again at once when it is added within that time, and is pending after it', () => {
    const before = [...serving, deleted(soon)] as const
    given(...before)
      .when(create())
      .thenEvents(restored({ token: 't2', until: soon }), verified('txt'))
    given(...before)
      .when(create({ proof: undefined }))
      .thenEvents(restored({ token: 't2', until: soon }))
    given(...before)
      .when(create({ now: later }))
      .thenEvents(restored(), verified('txt', 't2'))
    expect(domain.decide(create({ now: later, proof: undefined }), fold(domain, before))).to.deep.equal([restored()])
  })

  it('is not reserved for longer by adding and deleting it in turn', () => {
    const again = [...serving, deleted(soon), restored({ token: 't2', until: soon })] as const
    given(...again)
      .when(remove(later))
      .thenEvents(deleted(soon))
    given(...again)
      .when(remove(now))
      .thenEvents(deleted(now))
    given(...again, verified('txt'))
      .when(remove(later))
      .thenEvents(deleted(later))
  })

  it('is pending after its restore until it is verified again, when it had failed its checks', () => {
    const before = [...serving, unverified(soon), deleted(soon)] as const
    given(...before)
      .when(create())
      .thenEvents(restored(), verified('txt', 't2'))
  })

  it('ends with its reservation when the operator releases its host', () => {
    given(...serving)
      .when(release)
      .thenEvents(deleted(now), released(now))
    given(...serving, deleted(later))
      .when(release)
      .thenEvents(released(now))
    given(...serving, deleted(now))
      .when(release)
      .thenNothing()
    given().when(release).thenNothing()
    const earlier = fold(domain, [...serving, deleted(now), released(later)])
    expect(excludesOthers(earlier, soon)).to.equal(false)
    expect(earlier).to.include({ verified: false, proof: undefined })
  })
})
