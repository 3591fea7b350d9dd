import type { DomainEvent } from '../../../src/events/index.ts'
import { links } from '../../../src/projections/links/link.ts'
import { at, linkCreated, linkFields } from '../../support/events.ts'
import { projectionSpec } from '../../support/given.ts'

const { given } = projectionSpec(links)
const id = 42
const created = linkCreated({ id, password: 'scrypt' })
const updated = (
  changes: Extract<DomainEvent, { type: 'LinkUpdated' }>['data']['changes'],
  more = {},
): DomainEvent => ({
  type: 'LinkUpdated',
  data: { id, changes, ...more },
})
const deleted: DomainEvent = { type: 'LinkDeleted', data: { id } }
const restored = (data: Omit<Extract<DomainEvent, { type: 'LinkRestored' }>['data'], 'id'>): DomainEvent => ({
  type: 'LinkRestored',
  data: { id, ...data },
})

const { notes: _, last_variant: __, ...columns } = linkFields
/** Returns the row of the link, last changed at a position. */
const row = (position: bigint, changed = {}) => ({
  id,
  account: 1,
  ...columns,
  tag_keys: [],
  entered: null,
  alias_key: 'hello',
  password: 'scrypt',
  unframed: [],
  created: at(1),
  import: null,
  deleted: null,
  revision: position - 1n,
  position,
  ...changed,
})

describe('the table of links', () => {
  it('has the destinations that refuse frames, in place of those before', () => {
    const refusing = (...urls: string[]): DomainEvent => ({
      type: 'LinkFramingChecked',
      data: { id, unframed: urls.map((url) => ({ url, reason: 'frame-ancestors', since: at(2) })) },
    })
    const unframed = [{ url: 'https://b.example/', reason: 'frame-ancestors', since: at(2) }]
    given(created, refusing('https://a.example/'), refusing('https://b.example/')).thenRows(
      'links',
      row(3n, { unframed }),
    )
  })
  it('has all fields of a link', () => given(created).thenRows('links', row(1n)))
  it('does not contain the token of the claim', () =>
    given(created, updated({ alias: 'Bye', domain: null }, { token: 't2' })).thenRows(
      'links',
      row(2n, { alias: 'Bye', alias_key: 'bye' }),
    ))
  it('updates changed fields and keeps the others', () => {
    const changes = {
      title: 'Press',
      expiry: at(99),
      location: [{ name: 'Canada', url: 'https://example.ca/' }],
      parameters: [{ name: 'a', value: 'b' }],
    }
    given(created, updated(changes)).thenRows('links', row(2n, changes))
    given(created, updated(changes), updated({ expiry: null, location: [] })).thenRows(
      'links',
      row(3n, { ...changes, expiry: null, location: [] }),
    )
  })
  it('is searchable by the current alias in lower case', () =>
    given(created, updated({ alias: 'HELLO' })).thenRows('links', row(2n, { alias: 'HELLO', alias_key: 'hello' })))
  it('changes, removes or keeps the password as the event says', () => {
    given(created, updated({}, { password: 'other' })).thenRows('links', row(2n, { password: 'other' }))
    given(created, updated({}, { password: null })).thenRows('links', row(2n, { password: null }))
    given(created, updated({ title: 'x' })).thenRows('links', row(2n, { title: 'x' }))
  })
  it('has the address as it was sent, until another address comes without it', () => {
    const sent = updated({ url: 'https://example.org/', entered: 'https://Example.org' })
    const address = { url: 'https://example.org/', entered: 'https://Example.org' }
    given(created, sent, updated({ title: 'x' })).thenRows('links', row(3n, { ...address, title: 'x' }))
    given(created, sent, updated({ url: 'https://example.net/' })).thenRows(
      'links',
      row(3n, { url: 'https://example.net/' }),
    )
  })
  it('has tags, and with each of them the account that it belongs to', () => {
    given(created, updated({ tags: ['a', 'b c'] })).thenRows(
      'links',
      row(2n, { tags: ['a', 'b c'], tag_keys: ['1/a', '1/b c'] }),
    )
    given(linkCreated({ id, tags: ['a'], password: 'scrypt' }), updated({ tags: [] })).thenRows('links', row(2n))
  })
  it('has the variants, without the highest id that one has had', () => {
    const variants = [{ id: 3, url: 'https://example.com/b', weight: 1 }]
    given(created, updated({ variants, last_variant: 3, starts: at(9) })).thenRows(
      'links',
      row(2n, { variants, starts: at(9) }),
    )
  })
  it('keeps notes apart, until they are cleared, the link is deleted or its account erased', () => {
    const noted = linkCreated({ id, notes: 'For Ann' })
    const theirs = linkCreated({ id: 43, alias: 'b', account: 2, notes: 'Theirs' })
    const erased: DomainEvent = { type: 'AccountErased', data: { id: 1 } }
    const kept = { link: 43, account: 2, notes: 'Theirs' }
    given(noted, theirs).thenRows('link_notes', { link: id, account: 1, notes: 'For Ann' }, kept)
    given(noted, updated({}, { notes: 'For Bob' })).thenRows('link_notes', { link: id, account: 1, notes: 'For Bob' })
    for (const end of [updated({}, { notes: null }), deleted, erased])
      given(noted, theirs, end).thenRows('link_notes', kept)
  })
  it('has no link of an erased account', () => {
    const theirs = linkCreated({ id: 43, alias: 'b', account: 2 })
    const past = [created, theirs, { type: 'AccountErased', data: { id: 1 } }] as const
    given(...past).thenRows('link_counts', { account: 2, n: 1, archived: 0 })
    given(...past, updated({ title: 'Late' })).thenRows(
      'links',
      row(2n, { ...{ id: 43, alias: 'b', alias_key: 'b', account: 2 }, password: null, created: at(2), revision: 0n }),
    )
  })
  it('keeps the row of a deleted link, so that caches learn of the deletion', () =>
    given(created, deleted).thenRows('links', row(2n, { deleted: at(2) })))
  it('has a restored link with the fields that the event changes, and with its password unless that changes', () => {
    given(created, deleted, restored({ deleted: true, changes: { title: 'Press' } })).thenRows(
      'links',
      row(3n, { title: 'Press' }),
    )
    given(created, restored({ to: 0, changes: {}, password: null })).thenRows('links', row(2n, { password: null }))
  })
  it('has the notes that come back with a link, or were cleared by a restore', () => {
    const noted = linkCreated({ id, notes: 'For Ann' })
    const notes = { link: id, account: 1, notes: 'For Ann' }
    given(noted, deleted, restored({ deleted: true, changes: {}, notes: 'For Ann' })).thenRows('link_notes', notes)
    given(noted, restored({ to: 0, changes: {}, notes: null })).thenRows('link_notes')
    given(noted, restored({ to: 0, changes: { title: 'x' } })).thenRows('link_notes', notes)
  })
  it('keeps the tags of a link when other fields change', () =>
    given(linkCreated({ id, tags: ['a'], password: 'scrypt' }), updated({ title: 'x' })).thenRows(
      'links',
      row(2n, { tags: ['a'], tag_keys: ['1/a'], title: 'x' }),
    ))
  it('has the revision of the link and the position in the log', () => {
    const other = linkCreated({ id: 43, alias: 'other' })
    given(other, created, updated({ title: 'x' })).thenRows(
      'links',
      { ...row(1n), id: 43, alias: 'other', alias_key: 'other', password: null },
      row(3n, { title: 'x', created: at(2), revision: 1n }),
    )
  })
})

describe('the number of links of an account', () => {
  it('counts links that are not deleted', () => {
    const [second, theirs] = [linkCreated({ id: 43, alias: 'b' }), linkCreated({ id: 44, alias: 'c', account: 2 })]
    const [ours, other] = [
      { account: 1, archived: 0 },
      { account: 2, n: 1, archived: 0 },
    ]
    given(created, second, theirs).thenRows('link_counts', { ...ours, n: 2 }, other)
    given(created, second, theirs, deleted).thenRows('link_counts', { ...ours, n: 1 }, other)
  })
  it('does not change when a link is updated', () => {
    given(created, updated({ title: 'x' })).thenRows('link_counts', { account: 1, n: 1, archived: 0 })
    given(created, deleted).thenRows('link_counts', { account: 1, n: 0, archived: 0 })
  })
  it('counts archived links, and knows of a deleted one whether it was archived', () => {
    const archived: DomainEvent = { type: 'LinkDeleted', data: { id, archived: true } }
    const counts = (...past: DomainEvent[]) => ({
      are: (n: number, away: number) => given(...past).thenRows('link_counts', { account: 1, n, archived: away }),
    })
    counts(linkCreated({ id, archived: true })).are(1, 1)
    counts(created, updated({ archived: true })).are(1, 1)
    counts(created, updated({ archived: true }), updated({ archived: false })).are(1, 0)
    counts(created, updated({ archived: true }), archived).are(0, 0)
    const back = (more: object) => restored({ changes: {}, ...more })
    counts(created, deleted, back({ deleted: true })).are(1, 0)
    counts(created, updated({ archived: true }), archived, back({ deleted: true, archived: true })).are(1, 1)
    counts(created, back({ changes: { archived: true } })).are(1, 1)
    counts(created, updated({ archived: true }), back({ changes: { archived: false } })).are(1, 0)
    counts(created, back({ changes: { title: 'x' } })).are(1, 0)
  })
})
