import { type BrandedDomainEvent, noApps } from '../../../src/events/domains/domain.ts'
import { domains } from '../../../src/projections/domains/domain.ts'
import { at, inStream } from '../../support/events.ts'
import { projectionSpec } from '../../support/given.ts'

const { given } = projectionSpec(domains)
const [id, account] = [5, 1]
const fields = { domain: 'https://go.example.com', redirectroot: '', redirect404: '' }
const created: BrandedDomainEvent = { type: 'DomainCreated', data: { id, account, ...fields } }
const verified = (by?: string): BrandedDomainEvent => ({
  type: 'DomainVerified',
  data: { id, token: 't', ...(by !== undefined && { by }) },
})
const deleted: BrandedDomainEvent = { type: 'DomainDeleted', data: { id, free: at(99) } }
const restored = (more: object = {}): BrandedDomainEvent => ({
  type: 'DomainRestored',
  data: { id, ...more, ...fields },
})

/** Returns the row of the domain, last changed at a position. */
const row = (position: bigint, changed = {}) => ({
  id,
  account,
  ...fields,
  ...noApps,
  verified: false,
  proof: '',
  free: null,
  created: at(1),
  deleted: null,
  revision: position - 1n,
  position,
  ...changed,
})

describe('the table of branded domains', () => {
  it('has a domain that serves nothing until it is verified', () => {
    given(created).thenRows('domains', row(1n))
    given(created, verified('txt')).thenRows('domains', row(2n, { verified: true, proof: 'txt' }))
  })
  it('has a domain of an older release as verified without a check', () => {
    const old: BrandedDomainEvent = { type: 'DomainCreated', data: { id, account, token: 't', ...fields } }
    given(old).thenRows('domains', row(1n, { verified: true, proof: 'off' }))
    given(old, verified()).thenRows('domains', row(2n, { verified: true, proof: 'off' }))
  })
  it('changes where visits without an alias lead', () =>
    given(created, { type: 'DomainUpdated', data: { id, changes: { redirectroot: 'https://example.com/' } } }).thenRows(
      'domains',
      row(2n, { redirectroot: 'https://example.com/' }),
    ))
  it('has the apps that open its addresses, until they change or the domain is added again', () => {
    const apple = { details: [{ appIDs: ['9JA89QQLNQ.com.example.app'], components: [{ '/': '*' }] }] }
    const android = [{ package_name: 'com.example.app', sha256_cert_fingerprints: ['AA'] }]
    const updated: BrandedDomainEvent = { type: 'DomainUpdated', data: { id, changes: { apple, android } } }
    given(created, updated).thenRows('domains', row(2n, { apple, android }))
    const cleared: BrandedDomainEvent = { type: 'DomainUpdated', data: { id, changes: { android: [] } } }
    given(created, updated, cleared).thenRows('domains', row(3n, { apple }))
    given(created, updated, deleted, restored()).thenRows('domains', row(4n))
    given(created, updated, deleted, restored({ apple })).thenRows('domains', row(4n, { apple }))
  })
  it('keeps the row of a deleted domain, and when its host is free for others', () =>
    given(created, verified('txt'), deleted).thenRows(
      'domains',
      row(3n, { verified: true, proof: 'txt', deleted: at(3), free: at(99) }),
    ))
  it('keeps the verification of a domain that is restored within its reservation, not after it', () => {
    const before = [created, verified('txt'), deleted] as const
    given(...before, restored({ token: 't2', until: at(99) })).thenRows(
      'domains',
      row(4n, { verified: true, proof: 'txt' }),
    )
    given(...before, restored()).thenRows('domains', row(4n))
  })
  it('says of a domain that failed its checks when its host is free, if ever', () => {
    const failed = (free?: string): BrandedDomainEvent => ({
      type: 'DomainUnverified',
      data: { id, ...(free !== undefined && { free }) },
    })
    given(created, verified('dns'), failed(at(99))).thenRows('domains', row(3n, { proof: 'dns', free: at(99) }))
    given(created, verified('dns'), failed()).thenRows('domains', row(3n, { proof: 'dns' }))
    given(created, verified('dns'), failed(at(99)), verified('dns')).thenRows(
      'domains',
      row(4n, { verified: true, proof: 'dns' }),
    )
  })
  it('drops the verification when the operator releases the host', () =>
    given(created, verified('txt'), deleted, { type: 'DomainReleased', data: { id, free: at(4) } }).thenRows(
      'domains',
      row(4n, { deleted: at(3), free: at(4) }),
    ))
  it('has the revision of a fence in the stream of a domain, and not of others', () => {
    const fence = { type: 'ClaimFenced', data: { token: 't' } } as const
    given(created, inStream(fence, 'domain-5', 2n)).thenRows('domains', row(1n, { revision: 1n }))
    for (const stream of ['link-5', 'domain-6'])
      given(created, inStream(fence, stream, 2n)).thenRows('domains', row(1n))
  })
})

describe('the number of domains of an account', () => {
  it('counts domains that are not deleted', () => {
    const theirs: BrandedDomainEvent = { type: 'DomainCreated', data: { id: 6, account: 2, ...fields } }
    const counts = (...past: BrandedDomainEvent[]) => ({
      are: (n: number) =>
        given(created, theirs, ...past).thenRows('domains_counts', { account, n }, { account: 2, n: 1 }),
    })
    counts(verified('txt')).are(1)
    counts(deleted).are(0)
    counts(deleted, restored()).are(1)
  })
})
