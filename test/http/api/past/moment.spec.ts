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

  it('is the end of a day, and now for today', () => {
    const now = Date.parse('2026-03-02T10:00:00.500Z')
    expect(parseMoment('2026-03-01', now)).to.deep.equal(time('2026-03-01T23:59:59.999Z'))
    expect(parseMoment('2026-03-02', now)).to.deep.equal(time('2026-03-02T10:00:00.500Z'))
    expect(parseMoment('2026-03-03', now), 'in the future').to.deep.equal(time('2026-03-03T23:59:59.999Z'))
    expect(parseMoment('2026-02-29', now)).to.equal(undefined)
  })

  it('is the end of a day in a time zone, and now while it is that day there', () => {
    const now = Date.parse('2026-03-29T23:00:00Z')
    const ending = (day: string) => parseMoment(day, now, 'America/Los_Angeles')
    expect(ending('2026-03-07')).to.deep.equal(time('2026-03-08T07:59:59.999Z'))
    expect(ending('2026-03-08'), 'a day of 23 hours').to.deep.equal(time('2026-03-09T06:59:59.999Z'))
    expect(ending('2026-03-29')).to.deep.equal(time('2026-03-29T23:00:00Z'))
    expect(ending('2026-03-29 10:00')).to.deep.equal(time('2026-03-29T17:00:00Z'))
    expect(ending('2026-03-29T10:00Z')).to.deep.equal(time('2026-03-29T10:00:00Z'))
  })

  it('is nothing else', () => {
    const wrong = ['', '2026-03', '2026-02-30 12:00:00', '25:00', 'event:', 'event:-1', 'event:01', 'event:1.5', 'now']
    for (const text of [...wrong, 'event:1234567890123456', '12:00:00', ' 2026-03-01 12:00:00'])
      expect(parseMoment(text), text).to.equal(undefined)
  })
})
