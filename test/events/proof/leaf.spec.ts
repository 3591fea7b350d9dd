import { expect } from 'chai'
import {
  clickTexts,
  clockAfter,
  countClicks,
  leafOf,
  leavesOf,
  type StoredEvent,
} from '../../../src/events/proof/leaf.ts'
import { hashLeaf } from '../../../src/lib/transparency/merkle.ts'
import { at, click, clicked, recorded } from '../../support/events.ts'

describe('the leaf of a batch of clicks', () => {
  const eventOf = (more: Readonly<Record<string, unknown>>) =>
    ({
      ...{
        id: '0197b0c2-6a3e-7c1d-9a55-0f2f6c0d1e11',
        stream: 'clicks-local-0',
        revision: 3n,
        position: 9n,
        at: at(5),
      },
      ...{ type: 'LinkClicked', metadata: { v: 2, at: at(5) } },
      data: { ...clicked(click(), click()).data, ...more },
    }) as unknown as StoredEvent
  const leaf = (more: Readonly<Record<string, unknown>>) => leafOf(eventOf(more), 8, at(5))
  const saltsOf = (salt: unknown) =>
    Array.from(clickTexts(eventOf({ salt })), (text) => (JSON.parse(text) as { salt?: unknown }).salt)

  it('gives each click a salt that no other click shows', () => {
    const [first, second] = saltsOf('AAAA')
    expect([first, second]).to.deep.equal([
      'agyAzeq3mzjzAxmosrXwv_SfC-BGhbzH3lykSk3QMxo',
      'VDNOWRPLN68f8x4W8r9FqivG1U-UYW5n8yqRoRVjUqA',
    ])
    expect(saltsOf('BBBB')).not.to.include.members([first])
    expect(leaf({ salt: 'AAAA' })).not.to.include('AAAA')
    expect(leaf({ salt: 'AAAA' })).not.to.equal(leaf({ salt: 'BBBB' }))
  })

  it('has no clicks of other events, for any of their data', () => {
    const other = (type: string, data: unknown) => [...clickTexts({ type, data } as StoredEvent)]
    expect(other('FromANewerRelease', null)).to.deep.equal([])
    expect(other('LinkClicked', null)).to.deep.equal([])
    expect(other('LinkCreated', { clicks: [{}] })).to.deep.equal([])
  })

  it('is unchanged for a batch without a salt', () => {
    expect(saltsOf(undefined)).to.deep.equal([undefined, undefined])
    const [first, second] = clickTexts(eventOf({}))
    expect(first).to.equal(second)
    expect(JSON.parse(leaf({}))).not.to.have.nested.property('data.salt')
    expect(JSON.parse(leaf({ salt: 7 })), 'no salt').to.have.nested.property('data.salt', 7)
  })

  it('shows of each click all that the lists of the batch say about it', () => {
    const { agents } = clicked(click(), click()).data
    const [first] = Array.from(clickTexts(eventOf({})), (text) => JSON.parse(text) as Record<string, unknown>)
    expect(first!['agent']).to.deep.equal(agents[0])
    const numbered = [...clickTexts(eventOf({ agents: 'no list' }))]
    expect(JSON.parse(numbered[0]!)).to.have.property('agent', 0)
  })

  it('is that of any other event when its clicks are none', () => {
    const data = (leafText: string) => (JSON.parse(leafText) as { data: unknown }).data
    const { clicks: _, ...rest } = JSON.parse(JSON.stringify(clicked(click()).data)) as Record<string, unknown>
    for (const clicks of ['none', [{}, 7], [{}, null], [[]]])
      expect(data(leaf({ ...rest, clicks }))).to.deep.include({ clicks })
    expect(data(leaf({ clicks: [] }))).to.have.deep.nested.property('clicks.count', 0)
  })

  it('is counted by its clicks', () => {
    const other = { type: 'LinkDeleted', data: { id: 7 } } as unknown as StoredEvent
    expect(countClicks([eventOf({}), other, eventOf({})])).to.equal(4)
    expect(countClicks([])).to.equal(0)
  })
})

describe('the clock of the log', () => {
  it('is that of its newest event, and never goes back', () => {
    expect(clockAfter([], at(5))).to.equal(at(5))
    expect(clockAfter([{ at: at(6) }, { at: at(4) }], at(5))).to.equal(at(6))
    expect(clockAfter([{ at: at(4) }], at(5))).to.equal(at(5))
  })

  it('is the time in the leaf of each event, regardless of the clock of its process', () => {
    const event = (seconds: number) =>
      ({ ...recorded([{ type: 'LinkDeleted', data: { id: 7 } }])[0]!, at: at(seconds) }) as StoredEvent
    const events = [event(6), event(4), event(7)]
    const hashes = leavesOf(events, { size: 10, at: at(5) })
    const texts = [6, 6, 7].map((seconds, i) => leafOf(events[i]!, 10 + i, at(seconds)))
    expect(hashes.map(String)).to.deep.equal(texts.map(hashLeaf).map(String))
    expect(JSON.parse(texts[1]!)).to.deep.include({ ordinal: 11 }).and.to.have.nested.property('metadata.at', at(6))
  })
})

describe('the leaf of an event that JSON cannot have', () => {
  const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
  const eventWith = (data: unknown) =>
    ({ ...recorded([clicked(click())])[0], type: 'Strange', data }) as unknown as StoredEvent
  const leaf = (data: unknown) => {
    const problems: string[] = []
    const text = leafOf(eventWith(data), 8, at(5), { onInvalid: (why) => problems.push(why) })
    return { text, problems }
  }

  it('is marked as invalid, without its data, and the reason is reported', () => {
    for (const data of [{ a: Infinity }, [-Infinity], nested(100), nested(20_000)]) {
      const { text, problems } = leaf(data)
      expect(JSON.parse(text)).to.include({ ordinal: 8, type: 'Strange', invalid: true })
      expect(text).not.to.include('data')
      expect(problems).to.have.length(1)
      expect(problems[0]).to.match(/^(a number that is too large|more than 100 levels), and so no canonical form$/)
    }
  })

  it('is as ever up to 100 levels with those of the leaf', () => {
    const { text, problems } = leaf(nested(99))
    expect(problems).to.deep.equal([])
    expect(JSON.parse(text)).to.deep.include({ data: nested(99) })
  })
})
