import { expect } from 'chai'
import {
  clockIn,
  intervals,
  isZone,
  localTime,
  momentIn,
  monthsBefore,
  startsIn,
  type Interval,
} from '../../src/lib/zone.ts'
import { onCalendar } from '../support/calendar.ts'
import { randomFrom, repeatable, seed } from '../support/faults.ts'

const hour = 3_600_000
const of = (zone: string, from: string, to: string, interval: Interval) =>
  startsIn(zone, Date.parse(from), Date.parse(to), interval).map((start) => localTime(zone, start))
const lengths = (zone: string, from: string, to: string) => {
  const starts = startsIn(zone, Date.parse(from), Date.parse(to), 'day')
  return starts.slice(1).map((start, n) => (start - starts[n]!) / hour)
}

describe(`time zones (${repeatable})`, () => {
  it('are those of the tz database, in any letter case', () => {
    for (const name of [
      'Europe/Berlin',
      'europe/berlin',
      'UTC',
      'Asia/Kolkata',
      'America/Argentina/Ushuaia',
      'Etc/GMT+5',
    ])
      expect(isZone(name), name).to.equal(true)
    for (const name of [
      '',
      'Berlin',
      'Europe/Atlantis',
      '+01:00',
      '1',
      '../Europe/Berlin',
      `A${'b'.repeat(99)}`,
      'UTC\n',
    ])
      expect(isZone(name), name).to.equal(false)
  })

  it('have days of 23 and of 25 hours', () => {
    expect(lengths('Europe/Berlin', '2026-03-28T00:00Z', '2026-03-31T00:00Z')).to.deep.equal([24, 23, 24])
    expect(lengths('Europe/Berlin', '2026-10-24T00:00Z', '2026-10-27T00:00Z')).to.deep.equal([24, 25, 24])
    expect(lengths('Australia/Lord_Howe', '2026-04-03T13:00Z', '2026-04-06T00:00Z')).to.deep.equal([24, 24.5])
  })

  it('begin a day later where clocks skip midnight, and leave out a day that they skip', () => {
    expect(of('America/Havana', '2026-03-07T12:00Z', '2026-03-09T12:00Z', 'day')).to.deep.equal([
      '2026-03-07T00:00:00-05:00',
      '2026-03-08T01:00:00-04:00',
      '2026-03-09T00:00:00-04:00',
    ])
    expect(of('Pacific/Apia', '2011-12-29T12:00Z', '2011-12-31T12:00Z', 'day')).to.deep.equal([
      '2011-12-29T00:00:00-10:00',
      '2011-12-31T00:00:00+14:00',
      '2012-01-01T00:00:00+14:00',
    ])
  })

  it('have an hour twice, or none, or a longer one where clocks change by half an hour', () => {
    expect(of('Europe/Berlin', '2026-10-25T00:30Z', '2026-10-25T02:30Z', 'hour')).to.deep.equal([
      '2026-10-25T02:00:00+02:00',
      '2026-10-25T02:00:00+01:00',
      '2026-10-25T03:00:00+01:00',
    ])
    expect(of('Europe/Berlin', '2026-03-29T00:30Z', '2026-03-29T01:30Z', 'hour')).to.deep.equal([
      '2026-03-29T01:00:00+01:00',
      '2026-03-29T03:00:00+02:00',
    ])
    expect(of('Australia/Lord_Howe', '2026-04-04T14:10Z', '2026-04-04T16:00Z', 'hour')).to.deep.equal([
      '2026-04-05T01:00:00+11:00',
      '2026-04-05T02:00:00+10:30',
    ])
  })

  it('begin weeks with Monday, also at a half and at three quarters of an hour', () => {
    expect(of('Asia/Kathmandu', '2026-12-30T00:00Z', '2027-01-05T00:00Z', 'week')).to.deep.equal([
      '2026-12-28T00:00:00+05:45',
      '2027-01-04T00:00:00+05:45',
    ])
    expect(of('America/St_Johns', '2026-01-31T12:00Z', '2026-02-01T12:00Z', 'month')).to.deep.equal([
      '2026-01-01T00:00:00-03:30',
      '2026-02-01T00:00:00-03:30',
    ])
  })

  it('read a time that comes twice as the first, and one that is skipped as the end of the gap', () => {
    const moment = (clock: string) => localTime('Europe/Berlin', momentIn('Europe/Berlin', Date.parse(`${clock}Z`)))
    expect(moment('2026-10-25T02:30')).to.equal('2026-10-25T02:30:00+02:00')
    expect(moment('2026-03-29T02:30')).to.equal('2026-03-29T03:00:00+02:00')
    expect(moment('2026-06-01T12:00')).to.equal('2026-06-01T12:00:00+02:00')
  })

  it('have the last day of a month some months before, where it has no such day', () => {
    const before = (day: string, months: number) => monthsBefore(new Date(`${day}T12:00:00Z`), months).toISOString()
    expect(before('2027-03-31', 1)).to.equal('2027-02-28T12:00:00.000Z')
    expect(before('2027-05-31', 3)).to.equal('2027-02-28T12:00:00.000Z')
    expect(before('2028-02-29', 12)).to.equal('2027-02-28T12:00:00.000Z')
    expect(before('2027-03-15', 1)).to.equal('2027-02-15T12:00:00.000Z')
    expect(before('2027-01-31', 2)).to.equal('2026-11-30T12:00:00.000Z')
  })

  it('begin intervals where a calendar turns a page, in any zone', () => {
    const random = randomFrom(seed)
    const zones = Intl.supportedValuesOf('timeZone')
    for (let n = 0; n < 20; n++) {
      const zone = zones[random(zones.length)]!
      const from = Date.UTC(2012) + random(15 * 365 * 24 * 60) * 60_000
      for (const interval of intervals) {
        const to = from + { hour: 2, day: 80, week: 400, month: 800 }[interval] * 24 * hour
        const starts = startsIn(zone, from, to, interval)
        const about = `${zone} ${new Date(from).toISOString()} ${interval}`
        expect(starts[0], about).to.be.at.most(from)
        expect(clockIn(zone, starts[0]!), about).to.be.at.most(clockIn(zone, from))
        const next = [...starts.slice(1), to]
        for (const [i, start] of starts.entries()) {
          const page = onCalendar(zone, new Date(start), interval)
          // Lord Howe has an hour of 90 minutes, with two differences to UTC
          if (interval !== 'hour' || zone !== 'Australia/Lord_Howe')
            expect(onCalendar(zone, new Date(next[i]! - 1), interval), about).to.equal(page)
          if (i > 0) expect(onCalendar(zone, new Date(start - 1), interval), about).not.to.equal(page)
        }
      }
    }
  })
})
