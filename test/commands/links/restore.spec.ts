import { expect } from 'chai'
import { fold } from '../../../src/commands/decider.ts'
import { link, type LinkCommand } from '../../../src/commands/links/link.ts'
import type { Event } from '../../../src/events/index.ts'
import { completed, type LinkEvent, type LinkFields } from '../../../src/events/links/link.ts'
import { unreadable } from '../../../src/security/seal.ts'
import { linkCreated, linkFields } from '../../support/events.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(link)
const [id, account] = [42, 1]

const created = linkCreated({ id, account })
const updated = (changes: Partial<LinkFields>, more: object = {}): LinkEvent => ({
  type: 'LinkUpdated',
  data: { id, changes, ...more },
})
const deleted: LinkEvent = { type: 'LinkDeleted', data: { id } }
const restored = (data: object): LinkEvent => ({ type: 'LinkRestored', data: { id, changes: {}, ...data } })
const fenced: Event<'ClaimFenced'> = { type: 'ClaimFenced', data: { token: 't2' } }
const restore = (
  former?: Partial<LinkFields> & { password?: string | null },
): Extract<LinkCommand, { type: 'RestoreLink' }> => {
  const { password = null, ...fields } = former ?? {}
  return {
    type: 'RestoreLink',
    id,
    account,
    token: 't2',
    now: '2030-01-31T00:00:00.000Z',
    ...(former && { to: { revision: 0, fields: { ...linkFields, ...fields }, password } }),
  }
}

describe('restoring a link', () => {
  it('brings a deleted one back with its last values, and claims its alias again', () => {
    const past = [created, updated({ title: 'Press' }), deleted] as const
    given(...past)
      .when(restore())
      .thenEvents(restored({ deleted: true, token: 't2' }))
    given(...past)
      .when(restore())
      .thenClaims({ kind: 'alias', name: '0-hello', token: 't2' })
    const state = fold(link, [...past, restored({ deleted: true, token: 't2' })])
    expect(state.status).to.equal('open')
    expect(completed(state.fields)).to.deep.equal({ ...linkFields, title: 'Press' })
    expect(state.tokens).to.deep.equal({ held: { alias: 't2' }, spent: ['t'], fenced: [] })
  })

  it('shows that a deleted one is archived, and its notes', () => {
    given(created, updated({ archived: true }, { notes: 'For Ann' }), deleted)
      .when(restore())
      .thenEvents(restored({ deleted: true, archived: true, notes: 'For Ann', token: 't2' }))
    given(created, updated({}, { notes: 'For Ann' }), deleted)
      .when(restore({ notes: null }))
      .thenEvents(restored({ to: 0, deleted: true, notes: null, token: 't2' }))
    given(created, deleted)
      .when(restore({ notes: 'For Ann', archived: true }))
      .thenEvents(
        restored({ to: 0, deleted: true, archived: true, notes: 'For Ann', changes: { archived: true }, token: 't2' }),
      )
  })

  it('restores the values of a revision, and records only differences', () => {
    given(created, updated({ title: 'Press', tags: ['a'] }))
      .when(restore({ tags: ['a'] }))
      .thenEvents(restored({ to: 0, changes: { title: '' } }))
    given(created, updated({ title: 'Press' }))
      .when(restore({ title: 'Press' }))
      .thenNothing()
    given(created).when(restore()).thenNothing()
    given(created, updated({ title: 'Press' }))
      .when(restore({}))
      .thenClaims()
  })

  it('keeps fields that were entered together with the address to which they belong', () => {
    const [url, entered] = ['https://example.org/', 'https://Example.org']
    given(created, updated({ url, entered }))
      .when(restore({}))
      .thenEvents(restored({ to: 0, changes: { url: linkFields.url, entered: null } }))
    given(created)
      .when(restore({ url, entered }))
      .thenEvents(restored({ to: 0, changes: { url, entered } }))
    given(created, updated({ entered }))
      .when(restore({ url, entered }))
      .thenEvents(restored({ to: 0, changes: { url, entered } }))
    given(created, updated({ url, entered }))
      .when(restore({ url, entered, title: 'Press' }))
      .thenEvents(restored({ to: 0, changes: { title: 'Press' } }))
  })

  it('seals notes and password outside of the changes', () => {
    given(created, updated({ title: 'Press' }, { notes: 'For Ann', password: 'hash' }))
      .when(restore({ title: 'Press' }))
      .thenEvents(restored({ to: 0, notes: null, password: null }))
    given(created)
      .when(restore({ notes: 'For Ann', password: 'hash' }))
      .thenEvents(restored({ to: 0, notes: 'For Ann', password: 'hash' }))
    given(created, updated({}, { notes: 'For Ann' }))
      .when(restore({ notes: 'For Ann' }))
      .thenNothing()
  })

  it('keeps a password that is no longer readable', () => {
    given(created, updated({ title: 'Press' }, { password: 'hash' }))
      .when(restore({ password: unreadable }))
      .thenEvents(restored({ to: 0, changes: { title: '' } }))
  })

  it('gives no id of a variant a second time', () => {
    const [a, b] = ['https://a.example/', 'https://b.example/'].map((url, i) => ({ id: i + 1, url, weight: 1 }))
    const past = [created, updated({ variants: [a!, b!], last_variant: 2 })] as const
    given(...past)
      .when(restore({}))
      .thenEvents(restored({ to: 0, changes: { variants: [] } }))
  })

  it('claims the alias and the domain that it had', () => {
    const past = [created, updated({ alias: 'bye', domain: 7 }, { token: 't1' })] as const
    given(...past)
      .when(restore({}))
      .thenEvents(restored({ to: 0, token: 't2', changes: { alias: 'Hello', domain: null } }))
    given(...past)
      .when(restore({}))
      .thenClaims({ kind: 'alias', name: '0-hello', token: 't2' })
    given(created, updated({ alias: 'hello' }))
      .when(restore({}))
      .thenEvents(restored({ to: 0, changes: { alias: 'Hello' } }))
  })

  it('is refused with a claim that was fenced off, unless it needs none', () => {
    given(created, deleted, fenced).when(restore()).thenRefused('taken', 'alias')
    given(created, updated({ alias: 'bye', domain: null }, { token: 't1' }), fenced)
      .when(restore({}))
      .thenRefused('taken', 'alias')
    given(created, updated({ title: 'Press' }), fenced)
      .when(restore({}))
      .thenEvents(restored({ to: 0, changes: { title: '' } }))
  })

  it('is refused under an alias that is reserved now, unless the link has that already', () => {
    given(created)
      .when(restore({ alias: 'report' }))
      .thenRefused('reserved')
    given(linkCreated({ id, account, alias: 'report' }), deleted)
      .when(restore())
      .thenEvents(restored({ deleted: true, token: 't2' }))
  })

  it('is refused for a link that is missing or of another account', () => {
    given().when(restore()).thenRefused('not_found', 'link')
    for (const past of [[created], [created, deleted]] as const)
      given(...past)
        .when({ ...restore(), account: 2 })
        .thenRefused('not_found', 'link')
  })
})
