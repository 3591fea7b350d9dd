import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { asStored, codec, type Raw, readable, Unreadable } from '../../src/events/codec.ts'
import type { New } from '../../src/events/event.ts'
import { type DomainEvent, events } from '../../src/events/index.ts'
import { NoAccountKey } from '../../src/events/sealing.ts'
import { BrokenSeal, sealPersonal } from '../../src/security/seal.ts'
import { linkCreated, metadata } from '../support/events.ts'
import { memoryKeyring } from '../support/keyring.ts'

// no sealed text contains these by chance: base64url has no space, `@`, `$` or `/`
const data = {
  id: 9,
  email: 'ann@example.com',
  username: 'ann s',
  password: 'scrypt$hash',
  emailToken: 't',
  usernameToken: 'u',
}
const registered: New<DomainEvent> = {
  id: randomUUID(),
  type: 'AccountRegistered',
  data,
  metadata: metadata(9),
}
const asRaw = (stored: object): Raw => ({
  id: registered.id,
  stream: 'account-9',
  revision: 0n,
  position: 1n,
  at: registered.metadata.at,
  type: registered.type,
  data: stored,
  metadata: registered.metadata,
})
const erased = { ...data, email: null, username: null, password: null }

describe('personal fields of an event', () => {
  const keyring = memoryKeyring()
  const { encode, decode } = codec(keyring)
  const seal = async () => JSON.parse((await encode(registered, 'account-9')).data) as Record<string, string>
  const read = async (stored: object) => (await decode([asRaw(stored)]))[0]?.data
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => expect.fail('it did not fail'),
      (error: unknown) => error as Error,
    )

  it('are sealed in the log, differently each time, and read back unchanged', async () => {
    const [one, two] = [await seal(), await seal()]
    expect(JSON.stringify(one)).not.to.match(/ann@|ann s|scrypt\$/)
    expect(one['email']).not.to.equal(two['email'])
    expect(await read(one)).to.deep.equal(data)
  })

  it('read as null once their key is destroyed, even when the account has a new key since', async () => {
    const before = await seal()
    keyring.destroy(9)
    expect(await read(before)).to.deep.equal(erased)
    const after = await seal()
    expect(await read(before)).to.deep.equal(erased)
    expect(await read(after)).to.deep.equal(data)
  })

  it('make the event unreadable when they were changed or moved to another field', async () => {
    const sealed = await seal()
    const { email = '' } = sealed
    const changed = email.slice(0, -2) + (email.endsWith('AA') ? 'BB' : 'AA')
    for (const wrong of [{ email: changed }, { email: sealed['username'] }]) {
      const error = await failure(read({ ...sealed, ...wrong }))
      expect(error).to.be.instanceOf(Unreadable).with.property('name', 'Unreadable')
      expect(error.cause).to.be.instanceOf(BrokenSeal).with.property('name', 'BrokenSeal')
    }
  })

  it('make the event unreadable when they are not sealed', async () => {
    const error = await failure(read({ ...(await seal()), username: 'ann' }))
    expect(error).to.be.instanceOf(Unreadable)
    expect(error.message).to.include('event 1 (AccountRegistered, account-9@0) cannot be read')
  })

  it('are refused when the account has no key to seal them under', async () => {
    const { encode: encodeWithoutKey } = codec({ ...keyring, forSealing: async () => undefined })
    expect(await failure(encodeWithoutKey(registered, 'account-9')))
      .to.be.instanceOf(NoAccountKey)
      .with.property('name', 'NoAccountKey')
  })
})

describe('events that only a newer release can read', () => {
  const { decode } = codec(memoryKeyring())
  const deleted: Raw = { ...asRaw({ id: 7 }), stream: 'link-7', type: 'LinkDeleted', metadata: metadata() }
  const place = { id: deleted.id, stream: 'link-7', revision: 3n, position: 9n, type: 'Unknown' } as const

  it('are opaque values with their place in the log, in order with the others', async () => {
    const newer = { ...deleted, ...place, type: 'LinkRaptured', data: { any: 'thing' } }
    const read = await decode([deleted, newer, { ...deleted, position: 10n }])
    expect(read.map(({ type }) => type)).to.deep.equal(['LinkDeleted', 'Unknown', 'LinkDeleted'])
    expect(read[1]).to.deep.include({ ...place, data: { type: 'LinkRaptured', version: 1 } })
  })

  it('include a known type in a version that this release does not know', async () => {
    const [read] = await decode([{ ...deleted, ...place, type: 'LinkDeleted', metadata: { ...metadata(), v: 99 } }])
    expect(read).to.deep.include({ ...place, data: { type: 'LinkDeleted', version: 99 } })
  })

  it('may have metadata that this release does not know', async () => {
    const [read] = await decode([{ ...deleted, ...place, type: 'LinkRaptured', metadata: { v: 3, when: 'later' } }])
    expect(read).to.deep.include({ ...place, data: { type: 'LinkRaptured', version: 3 } })
    expect(read?.metadata).to.deep.include({ v: 3, account: null })
  })
})

describe('stored events of which one cannot be read', () => {
  const translated = codec(memoryKeyring())
  const deleted = (position: bigint, more: Partial<Raw> = {}): Raw => ({
    ...asRaw({ id: 7 }),
    stream: 'link-7',
    type: 'LinkDeleted',
    metadata: metadata(),
    position,
    ...more,
  })

  it('are read up to that one, which is the problem', async () => {
    const raws = [deleted(1n), deleted(2n), deleted(3n, { data: { id: 'seven' } }), deleted(4n)]
    const { events, problem } = await readable(translated, raws)
    expect(events.map(({ position }) => position)).to.deep.equal([1n, 2n])
    expect(problem?.position).to.equal(3n)
    expect(problem?.unknown()).to.deep.include({ type: 'Unknown', data: { type: 'LinkDeleted', version: 1 } })
  })
  it('are all read when nothing is wrong', async () => {
    const { events, problem } = await readable(translated, [deleted(1n), deleted(2n)])
    expect([events.length, problem]).to.deep.equal([2, undefined])
  })
  it('have no event of a known type without metadata', async () => {
    for (const wrong of [{ v: 1 }, null]) {
      const { problem } = await readable(translated, [deleted(1n, { metadata: wrong })])
      expect(problem).to.be.instanceOf(Unreadable)
    }
  })
  it('are none when the keys cannot be read: that is no fault of an event', async () => {
    const failing = codec({ ...memoryKeyring(), forOpening: () => Promise.reject(new Error('no keys now')) })
    const sealed = asRaw(data)
    expect(await readable(failing, [sealed]).catch(String)).to.equal('Error: no keys now')
    expect((await readable(failing, [deleted(1n)])).events).to.have.length(1)
  })
})

describe('the input of a visitor', () => {
  const keyring = memoryKeyring()
  const { encode, decode } = codec(keyring)
  const given = (fields: string): New<DomainEvent> => ({
    id: randomUUID(),
    type: 'AnswerGiven',
    data: { overlay: 5, account: 9, link: 0, fields },
    metadata: metadata(9),
  })
  const raw = ({ id, type, metadata }: New<DomainEvent>, stream: string, data: object): Raw => ({
    ...{ id, type, metadata, data, stream },
    ...{ revision: 0n, position: 1n, at: metadata.at },
  })
  const store = async (fields: string, stream: string) => {
    const event = given(fields)
    return raw(event, stream, JSON.parse((await encode(event, stream)).data) as object)
  }
  const read = async (...raws: Raw[]) =>
    (await decode(raws)).flatMap(({ data }) => ('fields' in data ? [data.fields] : []))
  const erased: New<DomainEvent> = {
    ...{ id: randomUUID(), metadata: metadata(9) },
    ...{ type: 'AnswerErased', data: { overlay: 5, account: 9 } },
  }

  it('is sealed under a key of its own, without which it reads as null, while other answers open', async () => {
    const [one, two] = [await store('one', 'answer-1'), await store('two', 'answer-2')]
    expect(await read(one, two)).to.deep.equal(['one', 'two'])
    keyring.destroyStream('answer-1')
    expect(await read(one, two)).to.deep.equal([null, 'two'])
  })

  it('reads as null once the event of its erasure is there, also before its key is destroyed', async () => {
    const [one, two] = [await store('one', 'answer-3'), await store('two', 'answer-4')]
    expect(await read(one, two, raw(erased, 'answer-3', erased.data))).to.deep.equal([null, 'two'])
  })

  it('reads as null when the stream has the mark of a destroyed key, also when the account has sealed it', async () => {
    const event = given('old')
    const key = (await keyring.forSealing(9))!
    const old = raw(event, 'answer-5', { ...event.data, fields: sealPersonal(key, '9/AnswerGiven/fields', 'old') })
    expect(await read(old)).to.deep.equal(['old'])
    keyring.destroyStream('answer-5')
    expect(await read(old)).to.deep.equal([null])
  })

  it('reads as null once the key of its account is destroyed', async () => {
    const one = await store('one', 'answer-6')
    keyring.destroy(9)
    expect(await read(one)).to.deep.equal([null])
  })
})

describe('a log that is copied without its keys', () => {
  it('stays as it is stored, sealed fields included', async () => {
    const stored = { ...registered, data: { ...data, email: 'sealed text' } }
    const { data: text, metadata: meta } = await asStored.encode(stored, 'account-9')
    expect([JSON.parse(text), JSON.parse(meta)]).to.deep.equal([stored.data, stored.metadata])
    const raws = [asRaw({ id: 'anything' })]
    expect(await asStored.decode(raws)).to.deep.equal(raws)
  })
})

describe('the content of a bio page', () => {
  const keyring = memoryKeyring()
  const { encode, decode } = codec(keyring)
  const content = {
    name: 'ann s',
    title: 'Ann S',
    description: 'd',
    avatar: '',
    links: [{ title: 'My shop', url: 'https://example.com/ann' }],
  }
  const blank = { name: '', title: '', description: '', avatar: '', links: [] }
  const created = { type: 'BioCreated' as const, data: { id: 5, account: 9, alias: 'page', ...content } }
  const changed = { type: 'BioUpdated' as const, data: { id: 5, changes: { title: 'Bea B', alias: 'other' } } }
  const erasure = { type: 'AccountErased' as const, data: { id: 9 } }
  const withIds = (event: DomainEvent) => ({ ...event, id: randomUUID(), metadata: metadata(9) })
  const raw = ({ id, type, metadata }: New<DomainEvent>, data: object, position: bigint): Raw => ({
    ...{ id, type, metadata, data, position },
    ...{ stream: 'bio-5', revision: position, at: metadata.at },
  })
  const store = async (events: readonly DomainEvent[]) =>
    Promise.all(
      events.map(async (event, n) => {
        const made = withIds(event)
        return raw(made, JSON.parse((await encode(made, 'bio-5')).data) as object, BigInt(n))
      }),
    )
  const read = async (raws: readonly Raw[]) => (await decode(raws)).map(({ data }) => data)

  it('is sealed in the log and reads back unchanged, but for the address', async () => {
    const raws = await store([created, changed])
    const stored = JSON.stringify(raws.map(({ data }) => data))
    expect(stored).to.include('page')
    expect(stored).not.to.match(/ann s|Ann S|My shop|\/ann|Bea B/)
    expect(await read(raws)).to.deep.equal([created.data, changed.data])
  })

  it('reads as empty from the erasure of its account on, even while the key is still known', async () => {
    const [early, erased, late, update] = await store([created, erasure, created, changed])
    expect(await read([early!, erased!, late!, update!])).to.deep.equal([
      created.data,
      erasure.data,
      { ...created.data, ...blank },
      { ...changed.data, changes: { alias: 'other' } },
    ])
    keyring.destroy(9)
    expect(await read([early!, update!])).to.deep.equal([
      { ...created.data, ...blank },
      { ...changed.data, changes: { alias: 'other' } },
    ])
  })

  it('reads as it is when release 0.1.0 has stored it in clear', async () => {
    const raws = [created, changed].map((event, n) => raw(withIds(event), event.data, BigInt(n)))
    expect(await read(raws)).to.deep.equal([created.data, changed.data])
  })
})

describe('the texts of an account', () => {
  const keyring = memoryKeyring()
  const { encode, decode } = codec(keyring)
  const marker = 'Ann’s wedding'
  const texts = { title: marker, tags: [marker], metatitle: marker, metadescription: marker, metaimage: marker }
  const own = linkCreated({ description: marker, ...texts }).data
  const kept = { url: own.url, alias: own.alias, parameters: own.parameters }
  const none = { title: '', description: '', tags: [], metatitle: '', metadescription: '', metaimage: '' }
  const key = { id: 9, number: 2, key: 'k', hash: 'h', scopes: [], expires: null, addresses: null }
  const store = async (event: DomainEvent, request = '') => {
    const made: New<DomainEvent> = { ...event, id: randomUUID(), metadata: { ...metadata(9), request } }
    const stored = await encode(made, 'link-42')
    return { ...asRaw(JSON.parse(stored.data) as object), type: event.type, metadata: JSON.parse(stored.metadata) }
  }
  const read = async (raw: Raw) => (await decode([raw]))[0]

  it('are sealed in every event that has some, and read back unchanged', async () => {
    const events: DomainEvent[] = [
      { type: 'LinkCreated', data: own },
      { type: 'LinkUpdated', data: { id: 42, changes: { title: marker, url: own.url } } },
      { type: 'LinkRestored', data: { id: 42, to: 0, changes: { tags: [marker] } } },
      { type: 'CampaignCreated', data: { id: 1, account: 9, name: marker, slug: 's', public: true } },
      { type: 'ChannelUpdated', data: { id: 1, changes: { description: marker } } },
      { type: 'PixelCreated', data: { id: 1, account: 9, type: 'bing', name: marker, tag: marker } },
      { type: 'SplashUpdated', data: { id: 1, changes: { message: marker, banner: marker, label: marker } } },
      { type: 'OverlayUpdated', data: { id: 1, changes: { question: marker, options: [marker], coupon: marker } } },
      { type: 'ApiKeyAdded', data: { ...key, name: marker } },
      { type: 'ApiKeyUpdated', data: { id: 9, number: 2, name: marker } },
      { type: 'WebhookUpdated', data: { id: 1, changes: { name: marker } } },
    ]
    for (const event of events) {
      const raw = await store(event)
      expect(JSON.stringify(raw.data), event.type).not.to.include(marker)
      expect((await read(raw))?.data, event.type).to.deep.equal(event.data)
    }
  })

  it('are blank for a release that does not know of it, and without the key; where visitors go is not', async () => {
    const raw = await store({ type: 'LinkCreated', data: own })
    const { personal: _, ...older } = raw.data as Record<string, unknown>
    expect(events.LinkCreated.parse(older)).to.deep.include({ ...none, ...kept })
    keyring.destroy(9)
    expect((await read(raw))?.data).to.deep.include({ ...none, ...kept })
  })

  it('leave a blank name in the change of a key, so that an older release has something to change', async () => {
    const { data } = await store({ type: 'ApiKeyUpdated', data: { id: 9, number: 2, name: marker } })
    expect(data).to.deep.include({ id: 9, number: 2, name: '' })
    const scopes = await store({ type: 'ApiKeyUpdated', data: { id: 9, number: 2, scopes: ['read'] } })
    expect(scopes.data).to.deep.equal({ id: 9, number: 2, scopes: ['read'] })
  })

  it('stay as they are when all of them are blank, and as an older release has stored them in clear', async () => {
    const cleared: DomainEvent = { type: 'LinkUpdated', data: { id: 42, changes: { title: '', url: own.url } } }
    expect((await store(cleared)).data).to.deep.equal(cleared.data)
    const raw = { ...asRaw(own), type: 'LinkCreated' }
    expect((await read(raw))?.data).to.deep.equal(own)
  })

  it('include the id that a client has chosen for its request, but not those that the service makes', async () => {
    const event: DomainEvent = { type: 'LinkDeleted', data: { id: 42 } }
    const raw = await store(event, 'ann-smith')
    expect(JSON.stringify(raw.metadata)).not.to.include('ann-smith')
    expect((await read(raw))?.metadata.request).to.equal('ann-smith')
    expect((await read(raw))?.metadata).not.to.have.property('personal')
    for (const request of ['', 'command line', randomUUID()])
      expect((await store(event, request)).metadata)
        .to.include({ request })
        .and.not.to.have.property('personal')
    keyring.destroy(9)
    expect((await read(raw))?.metadata.request).to.equal('')
    const { encode: withoutKey } = codec({ ...keyring, forSealing: async () => undefined })
    const made: New<DomainEvent> = { ...event, id: randomUUID(), metadata: { ...metadata(9), request: 'ann-smith' } }
    expect((await withoutKey(made, 'link-42')).metadata).not.to.include('ann-smith')
  })
})
