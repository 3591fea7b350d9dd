import { expect } from 'chai'
import { deletedMessages, toEvents } from '../../src/clicks/batch.ts'
import type { PartitionState } from '../../src/clicks/partition.ts'
import type { SpoolEntry } from '../../src/clicks/spool/segment.ts'
import { events as schemas } from '../../src/events/index.ts'
import { at, classified } from '../support/events.ts'
import { delivered, entries, entry, linksOf, numbers } from '../support/spool.ts'

const batch = (given: readonly SpoolEntry[], upTo: PartitionState['upTo'] = {}) => toEvents({ upTo }, delivered(given))

describe('recording click entries as events', () => {
  it('puts the clicks into one event in order, with the last sequence number', () => {
    const events = batch(entries(1, 3))
    expect(events).to.have.length(1)
    expect(linksOf(events)).to.deep.equal([1, 2, 3])
    expect(events[0]?.data).to.deep.include({ upTo: { s: 3 } })
  })

  it('returns events that match their schemas', () => {
    const dropped = { partition: 0, seq: 5, dropped: { count: 2, from: at(1), to: at(2) } }
    for (const { type, data } of batch([entry(1), entry(3), dropped]))
      expect(schemas[type].parse(data)).to.deep.equal(data)
  })

  it('stores each destination and each user agent once per batch', () => {
    const [event] = batch([
      entry(1, { destination: 'https://a.example/', agent: 'Firefox' }),
      entry(2, { destination: 'https://b.example/', agent: 'Firefox' }),
      entry(3, { destination: 'https://a.example/', agent: 'Safari' }),
    ])
    expect(event?.type === 'LinkClicked' && event.data).to.deep.include({
      destinations: ['https://a.example/', 'https://b.example/'],
      agents: ['Firefox', 'Safari'],
    })
    expect(event?.type === 'LinkClicked' && event.data.clicks.map((c) => [c.destination, c.agent])).to.deep.equal([
      [0, 0],
      [1, 0],
      [0, 1],
    ])
  })

  it('stores each list of languages once per batch, and none for clicks without one', () => {
    const clicks = [['de', 'fr'], [], ['de', 'fr'], undefined].map((languages) => classified({ languages }))
    const [event] = toEvents(
      { upTo: {} },
      clicks.map((click, i) => ({ spool: 's', seq: i + 1, rules: 1, click })),
    )
    expect(event?.type === 'LinkClicked' && event.data.languages).to.deep.equal([['de', 'fr'], []])
    expect(event?.type === 'LinkClicked' && event.data.clicks.map(({ languages }) => languages)).to.deep.equal([
      0,
      1,
      0,
      undefined,
    ])
    expect(event?.type === 'LinkClicked' && event.data.clicks[3]).not.to.have.property('languages')
  })

  it('gives each batch its own dictionaries', () => {
    const events = batch([...entries(1, 500), entry(501, { agent: 'Safari' })])
    expect(events.map((event) => event.type === 'LinkClicked' && event.data.agents)).to.deep.equal([
      ['Firefox'],
      ['Safari'],
    ])
  })

  it('puts at most 500 clicks into a batch', () => {
    const events = batch(entries(1, 1200))
    expect(events.map((event) => linksOf([event]).length)).to.deep.equal([500, 500, 200])
    expect(events.map(({ data }) => 'upTo' in data && data.upTo)).to.deep.equal([{ s: 500 }, { s: 1000 }, { s: 1200 }])
    expect(linksOf(events)).to.deep.equal(numbers(1, 1200))
  })

  it('puts at most 256 KiB into a batch', () => {
    const path = 'x'.repeat(2000)
    const events = batch(
      entries(1, 400).map(({ seq }) => entry(seq, { destination: `https://example.com/${seq}/${path}` })),
    )
    const sizes = events.map(({ data }) => Buffer.byteLength(JSON.stringify(data)))
    expect(Math.max(...sizes)).to.be.at.most(256 * 1024)
    expect(
      events
        .map((event) => linksOf([event]).length)
        .slice(0, -1)
        .every((n) => n > 100),
    ).to.equal(true)
    expect(linksOf(events)).to.deep.equal(numbers(1, 400))
  })

  it('counts every text of a click towards these, not only addresses', () => {
    const long = 'x'.repeat(1000)
    const clicks = {
      rule: classified({ rule: long }),
      referrer: classified({ referrer: long }),
      bot: classified({ bot: long }),
      browser: classified({ browser: { family: 'Firefox', version: long } }),
      os: classified({ os: { family: 'Linux', version: long } }),
    }
    for (const [field, click] of Object.entries(clicks)) {
      const events = toEvents(
        { upTo: {} },
        numbers(1, 400).map((seq) => ({ spool: 's', seq, rules: 1, click })),
      )
      const sizes = events.map(({ data }) => Buffer.byteLength(JSON.stringify(data)))
      expect(Math.max(...sizes), field).to.be.within(128 * 1024, 256 * 1024)
    }
  })

  it('says of which messages Kafka has deleted some before they were recorded', () => {
    expect(deletedMessages({ upTo: { s: 4 } }, 10, 12)).to.deep.equal({
      type: 'ClicksMissing',
      data: {
        spool: '',
        from: 10,
        to: 12,
        offsets: true,
        upTo: { s: 4 },
        taken: { offset: 12, spool: '', seq: 0 },
      },
    })
  })

  it('turns a gap in the numbers into ClicksMissing: at the start, in the middle, and after the last recorded entry', () => {
    const missing = (from: number, to: number, upTo = to) => ({
      type: 'ClicksMissing',
      data: { spool: 's', from, to, upTo: { s: upTo } },
    })
    expect(batch([entry(4)])[0]).to.deep.equal(missing(1, 3))
    const middle = batch([entry(1), entry(2), entry(5), entry(6)])
    expect(middle.map(({ type }) => type)).to.deep.equal(['LinkClicked', 'ClicksMissing', 'LinkClicked'])
    expect(middle[0]?.data).to.deep.include({ upTo: { s: 2 } })
    expect(middle[1]).to.deep.equal(missing(3, 4))
    expect(middle[2]?.data).to.deep.include({ upTo: { s: 6 } })
    expect(batch([entry(12)], { s: 9 })[0]).to.deep.equal(missing(10, 11))
    expect(batch([entry(10)], { s: 9 }).map(({ type }) => type)).to.deep.equal(['LinkClicked'])
  })

  it('turns dropped visits into ClicksDropped, between the clicks before and after them', () => {
    const dropped = { count: 7, from: at(1), to: at(2) }
    const events = batch([entry(1), { partition: 0, seq: 2, dropped }, entry(3)])
    expect(events.map(({ type }) => type)).to.deep.equal(['LinkClicked', 'ClicksDropped', 'LinkClicked'])
    expect(events[1]?.data).to.deep.equal({ spool: 's', ...dropped, upTo: { s: 2 } })
  })

  it('keeps the sequence numbers of other spools', () => {
    expect(batch([entry(1)], { other: 8 })[0]?.data).to.deep.include({ upTo: { other: 8, s: 1 } })
  })

  it('returns no events for no entries', () => {
    expect(batch([])).to.deep.equal([])
  })

  it('ends a batch where the classification rules change', () => {
    const events = toEvents({ upTo: {} }, [...delivered(entries(1, 2)), ...delivered(entries(3, 3), 's', 2)])
    expect(events.map((event) => event.type === 'LinkClicked' && event.data.rules)).to.deep.equal([1, 2])
  })

  it('counts for each spool separately, and skips repeated entries', () => {
    const events = toEvents({ upTo: { a: 1 } }, [
      ...delivered(entries(1, 2), 'a'),
      ...delivered(entries(1, 1), 'b'),
      ...delivered(entries(1, 3), 'a'),
    ])
    expect(linksOf(events)).to.deep.equal([2, 1, 3])
    expect(events.at(-1)?.data).to.deep.include({ upTo: { a: 3, b: 1 } })
  })

  it('keeps the last Kafka message, even when later entries do not come through Kafka', () => {
    const [one, two] = delivered(entries(1, 2))
    const [event] = toEvents({ upTo: {} }, [
      { ...one!, offset: 7 },
      { ...two!, offset: 9 },
    ])
    expect(event?.data).to.deep.include({ taken: { offset: 9, spool: 's', seq: 2 } })
    const state = event?.type === 'LinkClicked' ? event.data : expect.fail('no clicks')
    expect(toEvents(state, delivered(entries(3, 3)))[0]?.data).to.deep.include({ taken: state.taken })
  })
})
