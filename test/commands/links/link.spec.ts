import { expect } from 'chai'
import { fold } from '../../../src/commands/decider.ts'
import { aliasClaimName } from '../../../src/commands/links/alias.ts'
import { destinationsOf, isFramed, link, type LinkCommand } from '../../../src/commands/links/link.ts'
import type { Event } from '../../../src/events/index.ts'
import type { LinkEvent } from '../../../src/events/links/link.ts'
import { at, linkCreated, linkFields } from '../../support/events.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(link)
const [id, account] = [42, 1]
const [earlier, now, later] = [at(0), at(10), at(20)]

const created = linkCreated({ id, account })
const updated = (changes: Extract<LinkEvent, { type: 'LinkUpdated' }>['data']['changes'], more = {}): LinkEvent => ({
  type: 'LinkUpdated',
  data: { id, changes, ...more },
})
const deleted: LinkEvent = { type: 'LinkDeleted', data: { id } }
const fenced = (token: string): Event<'ClaimFenced'> => ({ type: 'ClaimFenced', data: { token } })

type Of<T extends LinkCommand['type']> = Extract<LinkCommand, { type: T }>
const create = (over: Partial<Of<'CreateLink'>> = {}): Of<'CreateLink'> => ({
  type: 'CreateLink',
  id,
  account,
  fields: linkFields,
  password: null,
  token: 't',
  now,
  ...over,
})
const update = (over: Partial<Of<'UpdateLink'>>): Of<'UpdateLink'> => ({
  type: 'UpdateLink',
  id,
  account,
  changes: {},
  token: 't2',
  now,
  ...over,
})
const remove: LinkCommand = { type: 'DeleteLink', id, account }

describe('creating a link', () => {
  it('records all its fields, its password and the token of its claim', () => {
    given()
      .when(create({ password: 'hash' }))
      .thenEvents(linkCreated({ password: 'hash' }))
  })
  it('refuses a reserved alias', () => {
    given()
      .when(create({ fields: { ...linkFields, alias: 'Report' } }))
      .thenRefused('reserved')
  })
  it('claims its alias, in lower case, on its domain', () => {
    given().when(create()).thenClaims({ kind: 'alias', name: '0-hello', token: 't' })
    given()
      .when(create({ fields: { ...linkFields, domain: 7 } }))
      .thenClaims({ kind: 'alias', name: '7-hello', token: 't' })
  })
  it('accepts only a future expiry', () => {
    const expiring = (expiry: string) => create({ fields: { ...linkFields, expiry } })
    given()
      .when(expiring(later))
      .thenEvents(linkCreated({ expiry: later }))
    given().when(expiring(earlier)).thenRefused('in_past')
    given().when(expiring(now)).thenRefused('in_past')
  })
  it('refuses the id of another link, deleted or not', () => {
    given(created)
      .when(create({ token: 'another' }))
      .thenRefused('id_in_use')
    given(created, deleted).when(create()).thenRefused('id_in_use')
  })
  it('is refused when its claim was fenced off', () => {
    given(fenced('t')).when(create()).thenRefused('id_in_use')
  })
})

describe('updating a link', () => {
  it('records only what differs', () => {
    given(created)
      .when(update({ changes: { title: 'Press', description: '', type: 'direct' } }))
      .thenEvents(updated({ title: 'Press' }))
    given(created, updated({ title: 'Press' }))
      .when(update({ changes: { title: '' } }))
      .thenEvents(updated({ title: '' }))
  })
  it('forgets the address as it was sent when another one comes without it', () => {
    const url = 'https://example.org/'
    const sent = updated({ url, entered: 'https://Example.org' })
    const [same, plain] = [
      { url, entered: 'https://Example.org' },
      { url, entered: null },
    ]
    given(created, sent)
      .when(update({ changes: same }))
      .thenNothing()
    given(created, sent)
      .when(update({ changes: plain }))
      .thenEvents(updated({ entered: null }))
    given(created, sent, updated({ url: 'https://example.net/' }))
      .when(update({ changes: { url: 'https://example.net/', entered: null } }))
      .thenNothing()
  })
  it('spells its alias as its domain does, and claims another name for it there', () => {
    const { alias } = linkFields
    const exact = updated({ domain: 7, alias: `/${alias}` }, { token: 't2' })
    given(created)
      .when(update({ changes: { domain: 7 }, exact: true }))
      .thenEvents(exact)
    given(created)
      .when(update({ changes: { domain: 7 }, exact: true }))
      .thenClaims({ kind: 'alias', name: `7=${alias}`, token: 't2' })
    given(created, exact)
      .when(update({ changes: { alias: 'Sale/2026.html' }, token: 't3' }))
      .thenClaims({ kind: 'alias', name: '7=Sale/2026.html', token: 't3' })
    given(created, exact)
      .when(update({ changes: { domain: null }, exact: false, token: 't3' }))
      .thenEvents(updated({ domain: null, alias }, { token: 't3' }))
    given(created, exact, updated({ domain: 7, alias: '/a.b' }, { token: 't3' }))
      .when(update({ changes: { domain: null }, exact: false }))
      .thenRefused('wrong_form', 'alias')
    given(created)
      .when(update({ changes: { alias: 'a.b' } }))
      .thenRefused('wrong_form', 'alias')
    given(created, exact)
      .when(update({ changes: { alias: 'report' } }))
      .thenRefused('reserved')
  })
  it('emits no event when nothing changes', () => {
    const location = [{ name: 'Canada', url: 'https://example.ca/' }]
    given(created).when(update({})).thenNothing()
    given(created, updated({ location }))
      .when(update({ changes: { location, url: linkFields.url }, password: null }))
      .thenNothing()
  })
  it('seals notes next to the changes, and records them only when they differ', () => {
    given(created)
      .when(update({ changes: { notes: 'For Ann', title: 'Press' } }))
      .thenEvents(updated({ title: 'Press' }, { notes: 'For Ann' }))
    given(created, updated({}, { notes: 'For Ann' }))
      .when(update({ changes: { notes: 'For Ann' } }))
      .thenNothing()
    given(created, updated({}, { notes: 'For Ann' }))
      .when(update({ changes: { notes: null } }))
      .thenEvents(updated({}, { notes: null }))
    given(created)
      .when(update({ changes: { notes: null } }))
      .thenNothing()
  })
  it('archives once, and says so when the link is deleted', () => {
    const archived = updated({ archived: true })
    given(created)
      .when(update({ changes: { archived: true } }))
      .thenEvents(archived)
    for (const past of [[created], [created, archived, updated({ archived: false })]])
      given(...past)
        .when(update({ changes: { archived: false, tags: [] } }))
        .thenNothing()
    given(created, archived)
      .when(remove)
      .thenEvents({ type: 'LinkDeleted', data: { id, archived: true } })
  })
  it('has to start before it expires, whichever of both changes', () => {
    const order = (starts: string | null, expiry: string | null) =>
      given(created).when(update({ changes: { starts, expiry } }))
    order(at(40), at(50)).thenEvents(updated({ starts: at(40), expiry: at(50) }))
    order(at(50), at(50)).thenRefused('wrong_order')
    given(created, updated({ expiry: at(50) }))
      .when(update({ changes: { starts: at(60) } }))
      .thenRefused('wrong_order')
    given(created, updated({ starts: at(60) }))
      .when(update({ changes: { expiry: at(50) } }))
      .thenRefused('wrong_order')
    given()
      .when(create({ fields: { ...linkFields, starts: at(60), expiry: at(50) } }))
      .thenRefused('wrong_order')
    // so that the title of an older link can be changed
    given(created, updated({ starts: at(60), expiry: at(50) }))
      .when(update({ changes: { title: 'x' } }))
      .thenEvents(updated({ title: 'x' }))
  })
  it('claims a new alias with a new token', () => {
    const rename = update({ changes: { alias: 'Bye' } })
    given(created)
      .when(rename)
      .thenEvents(updated({ alias: 'Bye', domain: null }, { token: 't2' }))
    given(created).when(rename).thenClaims({ kind: 'alias', name: '0-bye', token: 't2' })
  })
  it('claims its alias again on another domain', () => {
    const move = update({ changes: { domain: 7 } })
    given(created)
      .when(move)
      .thenEvents(updated({ alias: 'Hello', domain: 7 }, { token: 't2' }))
    given(created).when(move).thenClaims({ kind: 'alias', name: '7-hello', token: 't2' })
  })
  it('claims nothing when only the letter case of the address changes', () => {
    given(created)
      .when(update({ changes: { alias: 'HELLO' } }))
      .thenEvents(updated({ alias: 'HELLO' }))
    given(created)
      .when(update({ changes: { alias: 'HELLO' } }))
      .thenClaims()
    given(created)
      .when(update({ changes: { title: 'x' } }))
      .thenClaims()
  })
  it('keeps an alias that was reserved later, and refuses to take another such one', () => {
    const held = linkCreated({ id, account, alias: 'report' })
    given(held)
      .when(update({ changes: { alias: 'report', title: 'T' } }))
      .thenEvents(updated({ title: 'T' }))
    given(held)
      .when(update({ changes: { alias: 'privacy' } }))
      .thenRefused('reserved')
  })
  it('refuses a token that was fenced off', () => {
    given(created, fenced('t2'))
      .when(update({ changes: { alias: 'Bye' } }))
      .thenRefused('taken', 'alias')
    given(created, fenced('t2'))
      .when(update({ changes: { title: 'x' } }))
      .thenEvents(updated({ title: 'x' }))
  })
  it('sets, changes and removes the password', () => {
    const secret = updated({}, { password: 'hash' })
    given(created)
      .when(update({ password: 'hash' }))
      .thenEvents(secret)
    given(created, secret)
      .when(update({ password: 'other' }))
      .thenEvents(updated({}, { password: 'other' }))
    given(created, secret)
      .when(update({ password: null }))
      .thenEvents(updated({}, { password: null }))
    given(created, secret)
      .when(update({ changes: { title: 'x' } }))
      .thenEvents(updated({ title: 'x' }))
  })
  it('accepts a future expiry or none, and leaves an unchanged past one alone', () => {
    given(created)
      .when(update({ changes: { expiry: later } }))
      .thenEvents(updated({ expiry: later }))
    given(created, updated({ expiry: later }))
      .when(update({ changes: { expiry: null } }))
      .thenEvents(updated({ expiry: null }))
    given(created)
      .when(update({ changes: { expiry: earlier } }))
      .thenRefused('in_past')
    given(created, updated({ expiry: earlier }))
      .when(update({ changes: { expiry: earlier, title: 'x' } }))
      .thenEvents(updated({ title: 'x' }))
  })
  it('returns not_found for a link that is missing, deleted or of another account', () => {
    given().when(update({})).thenRefused('not_found')
    given(created, deleted).when(update({})).thenRefused('not_found')
    given(created)
      .when(update({ account: 2, changes: { expiry: earlier } }))
      .thenRefused('not_found')
  })
})

describe('the variants of a link', () => {
  const [a, b, c] = ['https://a.example/', 'https://b.example/', 'https://c.example/']
  const variants = (...given: (readonly [url: string, weight: number, id?: number])[]) =>
    given.map(([url, weight, id]) => ({ url, weight, ...(id === undefined ? {} : { id }) }))
  const numbered = (...given: (readonly [id: number, url: string, weight: number])[]) =>
    given.map(([id, url, weight]) => ({ id, url, weight }))
  const two = updated({ variants: numbered([1, a, 1], [2, b, 1]), last_variant: 2 })
  const change = (...given: Parameters<typeof variants>) => update({ changes: { variants: variants(...given) } })

  it('get ids, also when the link is a copy of another', () => {
    const { variants: _, last_variant: __, ...fields } = linkFields
    given()
      .when(create({ fields: { ...fields, variants: variants([a, 1, 7], [b, 1, 9]) } }))
      .thenEvents(linkCreated({ variants: numbered([1, a, 1], [2, b, 1]), last_variant: 2 }))
    given(created)
      .when(change([a, 1], [b, 1]))
      .thenEvents(two)
  })
  it('keep their ids when their URL, weight or place changes', () => {
    given(created, two)
      .when(change([b, 5], [a, 1]))
      .thenEvents(updated({ variants: numbered([2, b, 5], [1, a, 1]) }))
    given(created, two)
      .when(change([c, 1, 1], [b, 1]))
      .thenEvents(updated({ variants: numbered([1, c, 1], [2, b, 1]) }))
    given(created, two)
      .when(change([a, 1], [b, 1]))
      .thenNothing()
  })
  it('get an id each when two have the same URL', () => {
    given(created, two)
      .when(change([a, 1], [a, 2]))
      .thenEvents(updated({ variants: numbered([1, a, 1], [3, a, 2]), last_variant: 3 }))
    given(created, two)
      .when(change([a, 1], [c, 1, 1]))
      .thenEvents(updated({ variants: numbered([3, a, 1], [1, c, 1]), last_variant: 3 }))
  })
  it('may be sent with the last id that one has had', () => {
    given(created, two)
      .when(change([a, 1, 1], [c, 1, 2]))
      .thenEvents(updated({ variants: numbered([1, a, 1], [2, c, 1]) }))
    given(created, two)
      .when(change([a, 1, 0]))
      .thenRefused('repeated')
  })
  it('never get the id of one that is gone', () => {
    const none = updated({ variants: [] })
    given(created, two, none)
      .when(change([c, 1], [a, 1]))
      .thenEvents(updated({ variants: numbered([3, c, 1], [4, a, 1]), last_variant: 4 }))
    given(created, two)
      .when(change([c, 1], [b, 1]))
      .thenEvents(updated({ variants: numbered([3, c, 1], [2, b, 1]), last_variant: 3 }))
  })
  it('are refused with an id that names none of them, or one twice', () => {
    given(created, two)
      .when(change([a, 1, 3], [b, 1]))
      .thenRefused('repeated')
    given(created, two)
      .when(change([a, 1, 1], [b, 1, 1]))
      .thenRefused('repeated')
  })
  it('are among the destinations that are asked whether they can be framed', () =>
    expect(destinationsOf({ ...linkFields, variants: numbered([1, a, 1], [2, b, 1]) })).to.deep.equal([
      linkFields.url,
      a,
      b,
    ]))
})

describe('a link that shows its destination in a frame', () => {
  it('is one of type frame, or with an overlay', () => {
    expect(['frame', 'overlay-7'].every(isFramed)).to.equal(true)
    expect(['direct', 'splash', 'splash-7', 'no-overlay-'].some(isFramed)).to.equal(false)
  })
})

describe('deleting a link', () => {
  it('is recorded and claims nothing', () => {
    given(created).when(remove).thenEvents(deleted)
    given(created).when(remove).thenClaims()
  })
  it('returns not_found for a link that is missing, deleted or of another account', () => {
    given().when(remove).thenRefused('not_found')
    given(created, deleted).when(remove).thenRefused('not_found')
    given(created)
      .when({ ...remove, account: 2 })
      .thenRefused('not_found')
  })
})

describe('the tokens of a link', () => {
  const tokens = (...events: readonly (LinkEvent | Event<'ClaimFenced'>)[]) => fold(link, events).tokens
  it('are divided into held, spent and fenced ones', () => {
    const moved = updated({ alias: 'Bye', domain: null }, { token: 't2' })
    expect(tokens(created)).to.deep.equal({ held: { alias: 't' }, spent: [], fenced: [] })
    expect(tokens(created, moved)).to.deep.equal({ held: { alias: 't2' }, spent: ['t'], fenced: [] })
    expect(tokens(created, moved, deleted)).to.deep.equal({ held: {}, spent: ['t', 't2'], fenced: [] })
    expect(tokens(created, fenced('t2'))).to.deep.equal({ held: { alias: 't' }, spent: [], fenced: ['t2'] })
    expect(tokens(created, updated({ title: 'x' }))).to.deep.equal({ held: { alias: 't' }, spent: [], fenced: [] })
  })
  it('belong to aliases that are compared in lower case and per domain', () => {
    expect(aliasClaimName({ domain: null, alias: 'HeLLo' })).to.equal(aliasClaimName({ domain: null, alias: 'hello' }))
    expect(aliasClaimName({ domain: 7, alias: 'hello' })).not.to.equal(aliasClaimName({ domain: null, alias: 'hello' }))
  })
})

describe('checking the frames of a link', () => {
  const [main, other] = [linkFields.url, 'https://other.example/']
  type Answers = Of<'CheckFraming'>['answers']
  const check = (answers: Answers, at = now): LinkCommand => ({ type: 'CheckFraming', id, answers, now: at })
  const checked = (...unframed: Extract<LinkEvent, { type: 'LinkFramingChecked' }>['data']['unframed']): LinkEvent => ({
    type: 'LinkFramingChecked',
    data: { id, unframed },
  })
  const refusal = (url: string, since = now) => ({ url, reason: 'x-frame-options' as const, since })
  const two = linkCreated({ id, account, location: [{ name: 'Canada', url: other }] })

  it('records the destinations that refuse, and since when, only when that changes', () => {
    const refuses = [{ url: main, reason: 'x-frame-options' as const }]
    given(two)
      .when(check(refuses))
      .thenEvents(checked(refusal(main)))
    given(two, checked(refusal(main)))
      .when(check(refuses, later))
      .thenEvents()
    given(two, checked(refusal(main)))
      .when(check([...refuses, { url: other, reason: 'x-frame-options' }], later))
      .thenEvents(checked(refusal(main), refusal(other, later)))
    given(two, checked(refusal(main)))
      .when(check([{ url: main, reason: null }]))
      .thenEvents(checked())
    given(two)
      .when(check([{ url: main, reason: null }]))
      .thenEvents()
  })
  it('keeps the last result for a destination that does not respond', () => {
    given(two, checked(refusal(main)))
      .when(check([], later))
      .thenEvents()
    given(two, checked(refusal(main)))
      .when(check([{ url: other, reason: 'x-frame-options' }], later))
      .thenEvents(checked(refusal(main), refusal(other, later)))
  })
  it('forgets a destination that the link no longer has', () => {
    given(two, checked(refusal(other)), updated({ location: [] }))
      .when(check([]))
      .thenEvents(checked())
  })
  it('records nothing of a link that is deleted or does not exist', () => {
    const refuses = [{ url: main, reason: 'x-frame-options' as const }]
    given(two, deleted).when(check(refuses)).thenEvents()
    given().when(check(refuses)).thenEvents()
  })
})
