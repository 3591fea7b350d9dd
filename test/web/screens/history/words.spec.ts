import { expect } from 'chai'
import { loadTexts, useLanguage } from '../../../../src/web/core/texts.ts'
import {
  fieldName,
  isDeletion,
  isRestorable,
  kindName,
  whatHappened,
  whoDid,
} from '../../../../src/web/screens/history/words.ts'

const speak = async (language: string) => {
  await useLanguage(language)
  await loadTexts()
}
const entry = (type: string, kind: string, message = '', id = 7) => ({ type, resource: { type: kind, id }, message })

describe('the history in words', () => {
  before(() => speak('en'))
  after(() => speak('en'))

  const happened: readonly (readonly [type: string, kind: string, words: string])[] = [
    ['LinkCreated', 'url', 'Link created'],
    ['LinkUpdated', 'url', 'Link changed'],
    ['OverlayDeleted', 'overlay', 'Overlay deleted'],
    ['QrCodeRestored', 'qr', 'QR code restored'],
    ['DomainVerified', 'domain', 'Domain verified'],
    ['ApiKeyDeleted', 'key', 'API key revoked'],
    ['ItemAssignedToChannel', 'channel', 'Added to a channel'],
  ]
  for (const [type, kind, words] of happened)
    it(`says ${type} as "${words}"`, () => expect(whatHappened(entry(type, kind))).to.equal(words))

  it('uses the words of the service where it has none of its own, without the full stop', () => {
    expect(whatHappened(entry('SomethingNew', 'url', 'Link has been polished.'))).to.equal('Link has been polished')
  })

  it('is in the language of the page', async () => {
    await speak('de')
    expect(whatHappened(entry('LinkCreated', 'url'))).to.equal('Link erstellt')
    await speak('en')
  })

  it('names who did it', () => {
    const who: readonly (readonly [actor: Parameters<typeof whoDid>[0], words: string])[] = [
      [{ kind: 'key', key: 3, name: 'Newsletter' }, 'API key Newsletter'],
      [{ kind: 'key', key: 3 }, 'API key'],
      [{ kind: 'session' }, 'You, on the dashboard'],
      [{ kind: 'session', member: { id: 2, name: 'ben', role: 'editor' } }, 'ben (Editor)'],
      [{ kind: 'session', member: { id: 2, name: '', role: 'editor' } }, 'A former member (Editor)'],
      [
        { kind: 'key', key: 3, name: 'sync', member: { id: 2, name: 'ben', role: 'admin' } },
        'API key sync of ben (Admin)',
      ],
      [{ kind: 'operator' }, 'Operator'],
      [{ kind: 'operator', name: 'Ann' }, 'Operator Ann'],
      [{ kind: 'service' }, 'The service itself'],
      [{ kind: 'constructor' }, 'Unknown'],
      [{ kind: 'robot' }, 'Unknown'],
    ]
    for (const [actor, words] of who) expect(whoDid(actor)).to.equal(words)
  })

  it('names kinds and fields, and shows unknown ones as they are', () => {
    expect(kindName('bio')).to.equal('Bio page')
    expect(kindName('gadget')).to.equal('gadget')
    expect(fieldName('longurl')).to.equal('Destination')
    expect(fieldName('brand_new_field')).to.equal('brand new field')
  })
})

describe('a restore in the history', () => {
  const kinds = ['url', 'qr', 'campaign', 'channel', 'pixel', 'domain', 'splash', 'overlay', 'bio', 'webhook']

  it('is offered for every version of every resource', () => {
    for (const kind of kinds) expect(isRestorable(entry('ThingUpdated', kind)), kind).to.equal(true)
  })

  it('is offered for a deleted resource, except a webhook, whose secret is gone', () => {
    const offered = kinds.filter((kind) =>
      isRestorable(entry(kind === 'webhook' ? 'WebhookDeleted' : 'ThingDeleted', kind)),
    )
    expect(offered).to.deep.equal(kinds.filter((kind) => kind !== 'webhook'))
    expect(isDeletion({ type: 'LinkDeleted' })).to.equal(true)
    expect(isDeletion({ type: 'LinkUpdated' })).to.equal(false)
  })

  it('is not offered for entries without a version of their own', () => {
    const others: readonly (readonly [type: string, kind: string])[] = [
      ['ItemAssignedToChannel', 'channel'],
      ['AnswerGiven', 'overlay'],
      ['AnswerErased', 'overlay'],
      ['AddressBlocked', 'url'],
      ['DomainVerified', 'domain'],
      ['WebhookReplayed', 'webhook'],
      ['AccountEmailChanged', 'account'],
      ['ApiKeyAdded', 'key'],
    ]
    for (const [type, kind] of others) expect(isRestorable(entry(type, kind)), type).to.equal(false)
    // an erased resource has no number
    expect(isRestorable(entry('LinkUpdated', 'url', '', 0))).to.equal(false)
  })
})
