import { expect } from 'chai'
import { useLanguage } from '../../../src/web/core/texts.ts'
import {
  dayIn,
  fieldOf,
  inUtc,
  moment,
  momentIn,
  momentText,
  stamp,
  useZone,
  utcDay,
} from '../../../src/web/core/time.ts'

const evening = new Date('2026-04-21T23:05:09Z')

describe('times of the dashboard', () => {
  after(() => useLanguage('en'))

  it('are in UTC, as the API writes and takes them', () => {
    expect(moment('2026-04-21 23:05:09')).to.deep.equal(evening)
    expect(stamp(evening)).to.equal('2026-04-21 23:05:09')
    expect(stamp(moment('2030-01-31 18:00:00'))).to.equal('2030-01-31 18:00:00')
  })

  it('are written and taken by the clocks of the account, wherever the browser is', async () => {
    await useLanguage('en')
    try {
      useZone('Asia/Kathmandu')
      expect([momentText(evening), inUtc(evening)]).to.deep.equal(['22 April 2026, 04:50', '2026-04-21 23:05:09 UTC'])
      expect(fieldOf(evening)).to.equal('2026-04-22T04:50')
      expect(momentIn('2026-04-22T04:50')).to.deep.equal(new Date('2026-04-21T23:05:00Z'))
      expect(dayIn(evening)).to.deep.equal(new Date('2026-04-22T00:00:00Z'))
      useZone('Europe/Berlin')
      const taken = ['2026-03-29T01:59', '2026-03-29T03:00', '2026-10-25T01:59', '2026-10-25T03:00'].map(momentIn)
      expect(taken.map(stamp)).to.deep.equal([
        '2026-03-29 00:59:00',
        '2026-03-29 01:00:00',
        '2026-10-24 23:59:00',
        '2026-10-25 02:00:00',
      ])
      // days of a period have no clock
      expect(utcDay(new Date('2026-04-21T00:00:00Z'))).to.equal('21 April 2026')
    } finally {
      useZone('UTC')
    }
  })

  it('are written in UTC where the browser does not know the zone', async () => {
    await useLanguage('en')
    useZone('Europe/Atlantis')
    expect(momentText(evening)).to.equal('21 April 2026, 23:05')
  })

  it('are written in UTC, too, where the account has no other zone', async () => {
    await useLanguage('en')
    const forms = ['day', 'shortDay', 'date', 'weekday', 'month', 'clock', 'seconds', 'moment', 'dateAndClock'] as const
    expect(forms.map((form) => momentText(evening, form))).to.deep.equal([
      '21 April 2026',
      '21 Apr',
      '21 Apr 2026',
      'Tue 21 April',
      'April 2026',
      '23:05',
      '23:05:09',
      '21 April 2026, 23:05',
      '21 Apr 2026, 23:05',
    ])
  })

  it('are written as the language of the page does', async () => {
    const written: readonly (readonly [language: string, words: string])[] = [
      ['de', '21. April 2026, 23:05'],
      ['es', '21 de abril de 2026, 23:05'],
      ['fr', '21 avril 2026, 23:05'],
    ]
    for (const [language, words] of written) {
      await useLanguage(language)
      expect(momentText(evening)).to.equal(words)
    }
  })

  it('have midnight at 00:00, not at 24:00', async () => {
    await useLanguage('en')
    expect(momentText(new Date('2026-04-21T00:00:00Z'), 'clock')).to.equal('00:00')
  })
})
