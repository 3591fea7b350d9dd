import { expect } from 'chai'
import { link } from '../../../src/commands/links/link.ts'
import type { Link } from '../../../src/commands/links/state.ts'
import { streamId } from '../../../src/events/streams.ts'
import { forEachFound, type HistorySources, readPage } from '../../../src/http/history/history.ts'
import type { HistoryRow } from '../../../src/queries/history/history.ts'
import { fresh, linkCreated } from '../../support/events.ts'
import { burn } from '../../support/turns.ts'

describe('a page of a history', () => {
  const eventsEach = 5
  const rowsOf = (links: number): readonly HistoryRow[] =>
    Array.from({ length: links * eventsEach }, (_, n) => ({
      stream: `link-${1 + Math.floor(n / eventsEach)}`,
      revision: n % eventsEach,
      position: BigInt(n + 1),
    }))

  /** Sources of links whose events each change the title, which is as long as asked for. */
  const sourcesOf = (titleLength = 1) => {
    const did = { streams: 0, states: 0 }
    const steps = async function* (_: unknown, id: number) {
      did.streams++
      let before: Link = link.initialState
      for (let revision = 0; revision < eventsEach; revision++) {
        const created = linkCreated({ id, account: 1 })
        const changes = { title: String(revision).repeat(titleLength) }
        const event = revision === 0 ? created : ({ type: 'LinkUpdated', data: { id, changes } } as const)
        const at = '2030-01-01T00:00:00.000Z'
        const stored = { ...fresh(event), at, stream: streamId('link', id), revision: BigInt(revision), position: 1n }
        const after = link.evolve(before, event)
        yield { event: stored, before, after }
        before = after
      }
    }
    const originOf = () => {
      did.states++
      return 'https://links.example'
    }
    const ordinals = { of: async () => new Map() }
    return { did, sources: { handler: { steps }, originOf, ordinals } as unknown as HistorySources }
  }
  const page = (rows: readonly HistoryRow[], sources: HistorySources, shown: readonly string[] = []) =>
    readPage({ listed: { rows }, placeOf: ({ position }) => [String(position)], shown: new Set(shown) }, sources)

  it('presents each state once, and links that are not created yet once for all', async () => {
    const { did, sources } = sourcesOf()
    const { rows } = await page(rowsOf(20), sources)
    expect(rows).to.have.length(100)
    expect(rows[7]?.changes).to.deep.equal([{ field: 'title', old: '1', new: '2' }])
    expect(did.states).to.be.at.most(101)
  })

  it('makes nothing of states where changes are not shown', async () => {
    const { did, sources } = sourcesOf()
    const { rows } = await page(rowsOf(20), sources, ['event', 'message'])
    expect([rows.length, did.states]).to.deep.equal([100, 0])
  })

  it('reads no further streams once the answer has no room', async () => {
    const { did, sources } = sourcesOf(200_000)
    const { rows, cut } = await page(rowsOf(200), sources)
    expect([cut, rows.length > 5 && rows.length < 50]).to.deep.equal([true, true])
    expect(did.streams).to.be.below(50)
  })

  it('lets others go between while many streams are read at the same time', async () => {
    const { sources } = sourcesOf()
    let [inTurn, most, isDone] = [0, 0, false]
    const look = () => {
      inTurn = 0
      if (!isDone) setImmediate(look)
    }
    setImmediate(look)
    await forEachFound(rowsOf(30), sources, () => {
      most = Math.max(most, ++inTurn)
      burn(5)
    })
    isDone = true
    expect(most).to.be.below(5)
  })
})
