import { join } from 'node:path'
import { expect } from 'chai'
import { until } from '../support/client.ts'
import { events } from '../../src/events/index.ts'
import { changes, typesSince } from './changes.ts'
import { type Difference, differences, tableDifferences, unexplained, withProfiles } from './compare.ts'
import { readTableNames, readTables, type StoredTable } from './database.ts'
import { foldAll } from './folds.ts'
import { ask, type Question, type Reply } from './questions.ts'
import { readJson, readLines, releases, startOn, versions } from './release.ts'

interface Totals {
  readonly clicks: number
  readonly uniqueClicks: number
  readonly visits: number
}
interface Answer {
  readonly question: Question
  readonly reply: Reply
}

for (const version of versions)
  describe(`data that release ${version} has stored`, () => {
    const dir = join(releases, version)
    const expectSame = (found: readonly Difference[], part: string) =>
      expect(
        unexplained(
          found,
          part,
          changes.filter(({ release }) => release === version),
        ),
      ).to.deep.equal([])
    let started: Awaited<ReturnType<typeof startOn>>
    before(async function () {
      this.timeout(300_000)
      started = await startOn(dir)
    })
    after(() => started?.close())

    /**
     * Returns the differences between the service's responses and the stored ones, for the requests that pass the
     * filter.
     */
    const compareReplies = async (part: string, wanted: (question: Question) => boolean) => {
      const { app, release } = started
      const answers = (await readLines(dir, 'answers.jsonl')) as unknown as Answer[]
      const found: Difference[] = []
      for (const { question, reply } of answers.filter((answer) => wanted(answer.question))) {
        const { as, method, path, headers = {} } = question
        const who = as === undefined ? (headers['Host'] ?? '') : `as ${as}`
        const now = await ask(app.address, question, release.accounts, reply.words)
        found.push(...differences(reply, now, `${part}/${method} ${path} ${who}`))
      }
      return found
    }

    it('folds every stream to the state it had', async () => {
      const stored = await readJson<Record<string, object>>(dir, 'folds.json')
      const now = await foldAll(started.app.app.ledger, Object.keys(stored))
      expectSame(
        Object.keys(stored).flatMap((stream) => differences(stored[stream], now[stream], `folds/${stream}`)),
        'folds',
      )
    })

    it('projects every row of the read tables as it was', async () => {
      const { app } = started
      const stored = withProfiles(await readJson<Record<string, StoredTable>>(dir, 'tables.json'))
      const names = await readTableNames(app.connection)
      const now = withProfiles(await readTables(app.connection, names, app.app.ledger.tables.name))
      expectSame(
        Object.entries(stored).flatMap(([name, table]) => tableDifferences(table, now[name], `tables/${name}`)),
        'tables',
      )
    })

    it('answers every GET request of the API as it did', async () => {
      const found = await compareReplies('answers', ({ as }) => as !== undefined)
      expectSame(found, 'answers')
    })

    it('has visits whose classes can be corrected, which statistics show as counted then, and taken back', async () => {
      const { app, release } = started
      const { key } = release.accounts[0]!
      const total = async (query = '') =>
        (await app.get(`/api/stats?from=2020-01-01&interval=month${query}`, { key })).json['data'].total as Totals
      const before = await total()
      expect(before.clicks).to.be.above(0)
      const exclude = (hours: readonly number[]) => app.put('/api/account/exclusions', { key, body: { hours } })
      const reclassify = async (body: object) => (await app.post('/api/account/reclassify', { key, body })).json
      await exclude(Array.from({ length: 24 }, (_, hour) => hour))
      const { id, changes: found } = await reclassify({})
      const to = (found as readonly { readonly to: string; readonly rule: string }[]).map(
        (one) => `${one.to} ${one.rule}`,
      )
      // the rules of now differ, too
      expect(to).to.include('excluded exclusions').and.have.length.above(1)
      await until(total, ({ clicks }) => clicks === 0)
      expect(await total('&classes=then')).to.deep.equal(before)
      await reclassify({ undo: id })
      await until(total, ({ clicks }) => clicks === before.clicks)
      expect(await total()).to.deep.equal(before)
    })

    // last, because these visits are recorded and would change the statistics
    it('leads visitors to the same addresses and shows them the same data', async () => {
      const found = await compareReplies('pages', ({ as }) => as === undefined)
      expectSame(found, 'pages')
    })
  })

describe('the logs of stored releases', () => {
  it('hold every type of event, except those added since', async () => {
    const logs = await Promise.all(versions.map((version) => readLines(join(releases, version), 'log.jsonl')))
    const stored = new Set(logs.flat().map(({ type }) => String(type)))
    const newer = Object.keys(events).filter((type) => !stored.has(type))
    expect(newer).to.have.members(typesSince)
  })
})
