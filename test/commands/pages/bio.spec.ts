import { expect } from 'chai'
import { bio } from '../../../src/commands/pages/bio.ts'
import { fold } from '../../../src/commands/decider.ts'
import type { OwnedCommand } from '../../../src/commands/owned/owned.ts'
import type { BioEvent, BioFields } from '../../../src/events/pages/bio.ts'
import type { Event } from '../../../src/events/index.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(bio)
const [id, account] = [5, 1]
const links = [{ title: 'Shop', url: 'https://example.com/' }]
const fields: BioFields = { ...bio.initialState.fields, name: 'Ann', alias: 'AnnSmith', links }
const numbered: BioFields = { ...fields, links: [{ id: 1, ...links[0]! }], lastEntry: 1 }

const create: OwnedCommand<BioFields> = { type: 'Create', id, account, fields, token: 't' }
const update = (changes: Partial<BioFields>, by = account): OwnedCommand<BioFields> => ({
  type: 'Update',
  id,
  account: by,
  changes,
  token: 't2',
})
const remove: OwnedCommand<BioFields> = { type: 'Delete', id, account }

const created: BioEvent = { type: 'BioCreated', data: { id, account, ...numbered, token: 't' } }
const updated = (changes: Partial<BioFields>, token?: string): BioEvent => ({
  type: 'BioUpdated',
  data: token === undefined ? { id, changes } : { id, changes, token },
})
const deleted: BioEvent = { type: 'BioDeleted', data: { id } }
const fenced = (token: string): Event<'ClaimFenced'> => ({ type: 'ClaimFenced', data: { token } })
const claim = (name: string, token: string) => ({ kind: 'alias', name, token })

describe('creating a bio page', () => {
  it('records its fields and the token of its claim', () => {
    given().when(create).thenEvents(created)
  })
  it('refuses a reserved alias, and keeps one that was reserved later', () => {
    const held = { ...fields, alias: 'report' }
    given()
      .when({ ...create, fields: held } as OwnedCommand<BioFields>)
      .thenRefused('reserved')
    given({ type: 'BioCreated', data: { id, account, ...held, token: 't' } })
      .when(update({ alias: 'Report', title: 'T' }))
      .thenEvents(updated({ alias: 'Report', title: 'T' }))
  })
  it('claims its alias as a link on the service’s own host does', () => {
    given().when(create).thenClaims(claim('0-annsmith', 't'))
  })
  it('refuses an id that is in use or was fenced off', () => {
    given(created)
      .when({ ...create, account: 2 })
      .thenRefused('id_in_use')
    given(fenced('t')).when(create).thenRefused('id_in_use')
  })
})

describe('updating a bio page', () => {
  it('records only what differs, and claims nothing while the alias stays the same', () => {
    given(created)
      .when(update({ name: 'Ann', title: 'Ann Smith' }))
      .thenEvents(updated({ title: 'Ann Smith' }))
    given(created)
      .when(update({ title: 'Ann Smith' }))
      .thenClaims()
    given(created).when(update({ links })).thenNothing()
  })
  it('claims a new alias with a new token', () => {
    given(created)
      .when(update({ alias: 'Bea' }))
      .thenEvents(updated({ alias: 'Bea' }, 't2'))
    given(created)
      .when(update({ alias: 'Bea' }))
      .thenClaims(claim('0-bea', 't2'))
  })
  it('claims nothing when only the letter case of the alias changes', () => {
    given(created)
      .when(update({ alias: 'ANNSMITH' }))
      .thenEvents(updated({ alias: 'ANNSMITH' }))
    given(created)
      .when(update({ alias: 'ANNSMITH' }))
      .thenClaims()
  })
  it('refuses a token that was fenced off', () => {
    given(created, fenced('t2'))
      .when(update({ alias: 'Bea' }))
      .thenRefused('taken', 'alias')
    given(created, fenced('t2'))
      .when(update({ title: 'x' }))
      .thenEvents(updated({ title: 'x' }))
  })
  it('returns not_found for a bio page that is missing, deleted or of another account', () => {
    given().when(update({})).thenRefused('not_found')
    given(created, deleted).when(update({})).thenRefused('not_found')
    given(created).when(update({}, 2)).thenRefused('not_found')
  })
})

describe('the ids of the entries of a bio page', () => {
  const [shop, blog, talk] = ['shop', 'blog', 'talk'].map((title) => ({ title, url: `https://${title}.example/` })) as [
    { title: string; url: string },
    { title: string; url: string },
    { title: string; url: string },
  ]
  const [shop1, blog2, talk3] = [
    { id: 1, ...shop },
    { id: 2, ...blog },
    { id: 3, ...talk },
  ]
  const made: BioEvent = {
    type: 'BioCreated',
    data: { id, account, ...fields, links: [shop1, blog2], lastEntry: 2, token: 't' },
  }
  /** as a release wrote it that did not count clicks */
  const old: BioEvent = { type: 'BioCreated', data: { id, account, ...fields, links: [shop, blog], token: 't' } }

  it('count up from 1 in a new page, regardless of the ids in the request', () => {
    given()
      .when({ ...create, fields: { ...fields, links: [{ id: 9, ...shop }, blog] } })
      .thenEvents(made)
  })
  it('stay the same when titles, addresses and the order change', () => {
    const renamed = { id: 2, title: 'Journal', url: 'https://journal.example/' }
    given(made)
      .when(update({ links: [renamed, shop1] }))
      .thenEvents(updated({ links: [renamed, shop1] }))
  })
  it('are those of the entries with the same addresses when a client sends none', () => {
    given(made)
      .when(update({ links: [shop, blog] }))
      .thenNothing()
    given(made)
      .when(update({ links: [talk, { ...blog, title: 'Journal' }, shop] }))
      .thenEvents(updated({ links: [talk3, { ...blog2, title: 'Journal' }, shop1], lastEntry: 3 }))
  })
  it('are never given again, so that no entry inherits the clicks of another', () => {
    given(made, updated({ links: [shop1] }))
      .when(update({ links: [shop, talk] }))
      .thenEvents(updated({ links: [shop1, talk3], lastEntry: 3 }))
    given(made, updated({ links: [] }))
      .when(update({ links: [blog2] }))
      .thenEvents(updated({ links: [blog2] }))
  })
  it('are the places of the entries in a page of an older release', () => {
    given(old)
      .when(update({ links: [shop, blog] }))
      .thenNothing()
    given(old)
      .when(update({ links: [blog] }))
      .thenEvents(updated({ links: [blog2], lastEntry: 2 }))
    given(old, updated({ links: [blog2], lastEntry: 2 }))
      .when(update({ links: [blog, talk] }))
      .thenEvents(updated({ links: [blog2, talk3], lastEntry: 3 }))
  })
  it('are different for entries with the same address', () => {
    given(made)
      .when(update({ links: [shop, shop] }))
      .thenEvents(updated({ links: [shop1, { ...talk3, ...shop }], lastEntry: 3 }))
  })
  it('are refused when the page never had them, or when they are sent twice', () => {
    for (const links of [[{ id: 3, ...talk }], [{ id: 0, ...talk }], [shop1, { ...blog, id: 1 }]])
      given(made).when(update({ links })).thenRefused('repeated')
  })
})

describe('deleting a bio page', () => {
  it('succeeds once, and only for the owner', () => {
    given(created).when(remove).thenEvents(deleted)
    given(created).when(remove).thenClaims()
    given(created)
      .when({ ...remove, account: 2 })
      .thenRefused('not_found')
  })
})

describe('the tokens of a bio page', () => {
  it('are divided into held, spent and fenced ones', () => {
    const tokens = (...events: readonly (BioEvent | Event<'ClaimFenced'>)[]) => fold(bio, events).tokens
    const moved = updated({ alias: 'Bea' }, 't2')
    expect(tokens(created)).to.deep.equal({ held: { alias: 't' }, spent: [], fenced: [] })
    expect(tokens(created, moved)).to.deep.equal({ held: { alias: 't2' }, spent: ['t'], fenced: [] })
    expect(tokens(created, moved, deleted)).to.deep.equal({ held: {}, spent: ['t', 't2'], fenced: [] })
    expect(tokens(created, fenced('t3'))).to.deep.equal({ held: { alias: 't' }, spent: [], fenced: ['t3'] })
  })
})
