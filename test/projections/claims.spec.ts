import type { DomainEvent } from '../../src/events/index.ts'
import { claims } from '../../src/projections/claims.ts'
import { bio } from '../../src/commands/pages/bio.ts'
import { qr } from '../../src/commands/qr/qr.ts'
import { at, inStream, linkCreated } from '../support/events.ts'
import { projectionSpec } from '../support/given.ts'

const { given } = projectionSpec(claims)
const held = (holder: string, kind: string, token: string) => ({ holder, kind, token })

describe('the newest claims', () => {
  const claimed = (stream: string, position: bigint, token: string, holder: string) =>
    inStream({ type: 'NameClaimed', data: { token, holder, account: 1 } }, stream, position)

  it('have the last owner of a name, and the kind of the name', () =>
    given(
      claimed('claim-alias-0-hello', 1n, 't1', 'link-42'),
      claimed('claim-host-go.example.com', 2n, 't2', 'domain-5'),
      claimed('claim-alias-0-hello', 3n, 't3', 'bio-7'),
    ).thenRows(
      'newest_claims',
      { name: 'claim-alias-0-hello', kind: 'alias', token: 't3', holder: 'bio-7' },
      { name: 'claim-host-go.example.com', kind: 'host', token: 't2', holder: 'domain-5' },
    ))
})

describe('the names that a resource has', () => {
  const registered: DomainEvent = {
    type: 'AccountRegistered',
    data: { id: 7, email: 'a@b.example', username: 'ann', password: 'p', emailToken: 'e1', usernameToken: 'u1' },
  }
  const domain = { domain: 'https://go.example.com', redirectroot: '', redirect404: '' }

  it('are the e-mail and the username of an account, until it is erased', () => {
    const other: DomainEvent = {
      ...registered,
      data: { ...registered.data, id: 8, emailToken: 'e8', usernameToken: 'u8' },
    }
    const moved: DomainEvent = { type: 'AccountEmailChanged', data: { id: 7, email: 'c@d.example', emailToken: 'e2' } }
    const theirs = [held('account-8', 'email', 'e8'), held('account-8', 'username', 'u8')]
    given(registered, moved, other).thenRows(
      'held_names',
      held('account-7', 'email', 'e2'),
      held('account-7', 'username', 'u1'),
      ...theirs,
    )
    given(registered, other, { type: 'AccountErased', data: { id: 7 } }).thenRows('held_names', ...theirs)
  })

  it('are one of each kind, with the token of its last claim', () => {
    const fields = { name: 'n', slug: 's', public: true }
    const [bioFields, { logoHash: _, ...qrFields }] = [bio.initialState.fields, qr.initialState.fields]
    const kinds: readonly (readonly [kind: string, stream: string, steps: readonly DomainEvent[]])[] = [
      [
        'alias',
        'link-42',
        [
          linkCreated({ id: 42, token: 't1' }),
          { type: 'LinkUpdated', data: { id: 42, changes: {}, token: 't2' } },
          { type: 'LinkDeleted', data: { id: 42 } },
          { type: 'LinkRestored', data: { id: 42, changes: {}, token: 't3' } },
        ],
      ],
      [
        'alias',
        'bio-5',
        [
          { type: 'BioCreated', data: { id: 5, account: 1, ...bioFields, token: 't1' } },
          { type: 'BioUpdated', data: { id: 5, changes: {}, token: 't2' } },
          { type: 'BioDeleted', data: { id: 5 } },
          { type: 'BioRestored', data: { id: 5, changes: {}, token: 't3' } },
        ],
      ],
      [
        'slug',
        'campaign-5',
        [
          { type: 'CampaignCreated', data: { id: 5, account: 1, ...fields, token: 't1' } },
          { type: 'CampaignUpdated', data: { id: 5, changes: {}, token: 't2' } },
          { type: 'CampaignDeleted', data: { id: 5 } },
          { type: 'CampaignRestored', data: { id: 5, changes: {}, token: 't3' } },
        ],
      ],
      [
        'qr',
        'qr-5',
        [
          { type: 'QrCreated', data: { id: 5, account: 1, ...qrFields, token: 't1' } },
          { type: 'QrUpdated', data: { id: 5, changes: {}, token: 't2' } },
          { type: 'QrDeleted', data: { id: 5 } },
          { type: 'QrRestored', data: { id: 5, changes: {}, token: 't3' } },
        ],
      ],
      [
        'host',
        'domain-5',
        [
          { type: 'DomainCreated', data: { id: 5, account: 1, token: 't1', ...domain } },
          { type: 'DomainVerified', data: { id: 5, token: 't2' } },
          { type: 'DomainDeleted', data: { id: 5, free: at(9) } },
          { type: 'DomainRestored', data: { id: 5, ...domain, token: 't3' } },
        ],
      ],
    ]
    for (const [kind, holder, steps] of kinds) {
      given(...steps.slice(0, 1)).thenRows('held_names', held(holder, kind, 't1'))
      given(...steps.slice(0, 2)).thenRows('held_names', held(holder, kind, 't2'))
      given(...steps.slice(0, 3)).thenRows('held_names')
      given(...steps).thenRows('held_names', held(holder, kind, 't3'))
    }
  })

  it('stay the same when an event claims none', () =>
    given(linkCreated({ id: 42, token: 't1' }), {
      type: 'LinkUpdated',
      data: { id: 42, changes: { title: 'x' } },
    }).thenRows('held_names', held('link-42', 'alias', 't1')))

  it('have no host of a domain that failed its checks, unless an older release has kept it', () => {
    const created: DomainEvent = { type: 'DomainCreated', data: { id: 5, account: 1, token: 't1', ...domain } }
    given(created, { type: 'DomainUnverified', data: { id: 5, free: at(9) } }).thenRows('held_names')
    given(created, { type: 'DomainUnverified', data: { id: 5 } }).thenRows('held_names', held('domain-5', 'host', 't1'))
  })
})
