import { expect } from 'chai'
import type { ClickEntry } from '../../../src/clicks/entry.ts'
import { decode, encode, NewerMessage } from '../../../src/clicks/kafka/message.ts'
import { at, click } from '../../support/events.ts'

const clicked = (over: Parameters<typeof click>[0] = {}): ClickEntry => ({
  spool: 's',
  seq: 7,
  rules: 3,
  click: { ...click(over), destination: 'https://example.com/', agent: 'Firefox' },
})
const dropped: ClickEntry = { spool: 's', seq: 8, dropped: { count: 4, from: at(1), to: at(2) } }
const read = (value: string) => decode(Buffer.from(value), 5)

describe('a message in the click topic', () => {
  it('is decoded as it was encoded, with its offset', () => {
    for (const entry of [clicked(), clicked({ link: 0 }), dropped])
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
    expect(decode(null, 0)).to.equal(undefined)
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

  it('is not ignored when it has a newer format version', () => {
    expect(() => read('{"v":2,"spool":"s","anything":[]}')).to.throw(NewerMessage, 'offset 5 has format version 2')
  })
})
