import { expect } from 'chai'
import { decode, encode, type Notification } from '../../src/postgres/notifications.ts'

const from = 'linkledger-0123456789ab'

describe('notifications between processes', () => {
  const messages: readonly [string, Notification][] = [
    [`log ${from}`, { kind: 'appended', from }],
    [`log ${from} rest`, { kind: 'appended', from, filter: 'domain' }],
    [`log ${from} clicks`, { kind: 'appended', from, filter: 'clicks' }],
    [`seen ${from} rest 12`, { kind: 'projected', from, filter: 'domain', position: 12n }],
    [`tables ${from} a_mark-1 12`, { kind: 'projected', from, filter: 'domain', position: 12n, tables: 'a_mark-1' }],
    [`seen ${from} clicks 12`, { kind: 'projected', from, filter: 'clicks', position: 12n }],
    [`late ${from} link-7 9007199254740993`, { kind: 'pending', from, stream: 'link-7', position: 9007199254740993n }],
    [`live ${from}`, { kind: 'replaced', from }],
    [`reads ${from} 7d3e3dae a_mark-1`, { kind: 'reading', from, log: '7d3e3dae', key: 'a_mark-1' }],
  ]
  for (const [text, notification] of messages)
    it(`are written as older releases write them, and read back: ${text}`, () => {
      expect(encode(notification)).to.equal(text)
      expect(decode(text)).to.deep.equal(notification)
    })

  it('are ignored when a newer release has added a kind', () => {
    expect(decode(`moved ${from} somewhere 1`)).to.equal(undefined)
  })

  it('are read when a newer release has added a field', () => {
    expect(decode(`late ${from} link-7 5 more`)).to.deep.equal({
      kind: 'pending',
      from,
      stream: 'link-7',
      position: 5n,
    })
  })

  it('concern every subscription when a newer release has appended an unknown event', () => {
    expect(decode(`log ${from} visits`)).to.deep.equal({ kind: 'appended', from })
  })

  it('are ignored, without an error, when they are malformed', () => {
    for (const text of [
      '',
      'log',
      'seen',
      `seen ${from}`,
      `seen ${from} rest`,
      `seen ${from} rest x`,
      `late ${from} link-1 -1`,
    ])
      expect(decode(text), text).to.equal(undefined)
  })
})
