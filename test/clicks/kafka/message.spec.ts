import { expect } from 'chai'
import type { ClickEntry } from '../../../src/clicks/entry.ts'
import { decode, encode, InvalidMessage, NewerMessage } from '../../../src/clicks/kafka/message.ts'
import { at, classified } from '../../support/events.ts'

const clicked = (over: Parameters<typeof classified>[0] = {}): ClickEntry => ({
  spool: 's',
  seq: 7,
  rules: 3,
  click: classified(over),
})
const dropped: ClickEntry = { spool: 's', seq: 8, dropped: { count: 4, from: at(1), to: at(2) } }
const read = (value: string) => decode(Buffer.from(value), 5, 'l')

describe('a message in the click topic', () => {
  it('is decoded as it was encoded, with its offset', () => {
    for (const entry of [clicked(), clicked({ link: 0 }), clicked({ languages: ['fr', 'en'] }), dropped])
      expect(read(encode('l', entry).value)).to.deep.equal({ log: 'l', entry: { ...entry, offset: 5 } })
  })

  it('holds its format version, its event log and its number, and the click as documented', () => {
    const json = JSON.parse(encode('l', clicked()).value) as object
    expect(json).to.have.all.keys('v', 'log', 'spool', 'seq', 'rules', 'click')
    expect(json).to.deep.include({ v: 1, log: 'l', spool: 's', seq: 7, rules: 3 })
    expect(JSON.parse(encode('l', { ...clicked(), offset: 9 }).value)).not.to.have.property('offset')
  })

  it('has a key that keeps the clicks of a link, or of a QR code without a link, together', () => {
    expect(encode('l', clicked({ link: 42 })).key).to.equal('link:42')
    expect(encode('l', clicked({ link: 0, source: { kind: 'qr', id: 7 } })).key).to.equal('qr:7')
    expect(encode('l', dropped).key).to.equal(null)
  })

  it('may have fields that this version does not know', () => {
    const value = JSON.stringify({ ...(JSON.parse(encode('l', clicked()).value) as object), more: 1 })
    expect(read(value)?.entry).to.deep.equal({ ...clicked(), offset: 5 })
  })

  it('is ignored when it is not in our format', () => {
    expect(decode(null, 0, 'l')).to.equal(undefined)
    for (const value of [
      '',
      'null',
      '[]',
      '{',
      '"x"',
      '{"v":1,"spool":"s","seq":1}',
      '{"v":"2","spool":"s"}',
      '{"v":2}',
    ])
      expect(read(value), value).to.equal(undefined)
  })

  it('is an error when it is of our event log and format version but does not fit the schema', () => {
    const valid = JSON.parse(encode('l', clicked()).value) as object
    for (const [over, field] of [
      [{ seq: '7' }, 'seq'],
      [{ spool: 1 }, 'spool'],
      [{ rules: undefined }, 'rules'],
      [{ click: { link: 'https://secret.example/' } }, 'click.at'],
      [{ click: undefined, dropped: { count: 0 } }, 'dropped.count'],
    ] as const) {
      const value = JSON.stringify({ ...valid, ...over })
      expect(() => read(value), value).to.throw(InvalidMessage, `message at offset 5 has format version 1`)
      expect(() => read(value), value).to.throw(field)
      expect(() => read(value), value).not.to.throw('secret')
    }
  })

  it('is ignored when it is of another event log, valid or not, also in a newer format version', () => {
    for (const value of ['{"v":1,"log":"other","spool":"s"}', '{"v":2,"log":"other","spool":"s"}', '{"v":1,"log":7}'])
      expect(read(value), value).to.equal(undefined)
  })

  it('is not ignored when it has a newer format version', () => {
    expect(() => read('{"v":2,"log":"l","spool":"s","anything":[]}')).to.throw(NewerMessage, 'has format version 2')
    expect(() => read('{"v":2,"spool":"s","anything":[]}')).to.throw(NewerMessage, 'offset 5 has format version 2')
  })
})
