import { expect } from 'chai'
import { parseMoment } from '../../../../src/http/api/past/moment.ts'

describe('a moment of the past', () => {
  const time = (at: string) => ({ kind: 'time', at: new Date(at) })

  it('is a time in UTC or with an offset, to the millisecond', () => {
    expect(parseMoment('2026-03-01 12:00:00')).to.deep.equal(time('2026-03-01T12:00:00Z'))
    expect(parseMoment('2026-03-01T12:00')).to.deep.equal(time('2026-03-01T12:00:00Z'))
    expect(parseMoment('2026-03-01T14:00:00+02:00')).to.deep.equal(time('2026-03-01T12:00:00Z'))
    expect(parseMoment('2026-03-01T12:00:00.257Z')).to.deep.equal(time('2026-03-01T12:00:00.257Z'))
  })

  it('is an event by its ordinal', () => {
    expect(parseMoment('event:0')).to.deep.equal({ kind: 'event', ordinal: 0 })
    expect(parseMoment('event:123456')).to.deep.equal({ kind: 'event', ordinal: 123_456 })
  })

  it('is nothing else', () => {
    const wrong = [
      '',
      '2026-03-01',
      '2026-02-30 12:00:00',
      '25:00',
      'event:',
      'event:-1',
      'event:01',
      'event:1.5',
      'now',
    ]
    for (const text of [...wrong, 'event:1234567890123456', '12:00:00', ' 2026-03-01 12:00:00'])
      expect(parseMoment(text), text).to.equal(undefined)
  })
})
