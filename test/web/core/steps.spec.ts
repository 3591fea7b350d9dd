import { expect } from 'chai'
import type * as RouterModule from '../../../src/web/core/router.ts'
import type * as StepsModule from '../../../src/web/core/steps.ts'
import { usePage } from '../page.ts'

let router: typeof RouterModule
let steps: typeof StepsModule

/** An hour of the day on which everything happened. */
const hour = (n: number) => `2026-04-09 ${String(n).padStart(2, '0')}:00:00`
const change = (event: number) => ({ event, time: hour(event) })
/** Changes with the newest first, as the API lists them. */
const changes = (...events: readonly number[]) => events.map((event) => change(event))

describe('stepping from change to change', () => {
  const page = usePage(async () => {
    router = await import('../../../src/web/core/router.ts')
    steps = await import('../../../src/web/core/steps.ts')
  })
  const show = (query: string) => {
    router.at.value = { path: '/links/7', query: new URLSearchParams(query) }
  }
  /** Shows the state after an event. */
  const showEvent = (event: number) => show(`at=event:${event}@2026-04-09T${String(event).padStart(2, '0')}:00:00Z`)
  const shown = () => router.at.value.query.get('at')
  const subject = '/api/url/7'
  beforeEach(() => page.answer(() => ({ body: { error: 0, data: { events: [] } } })))
  after(() => show(''))

  it('goes back from now to right after the change before the newest, without asking', async () => {
    show('')
    // all known changes are shown: there may be older ones that are not known
    page.answer(() => ({ body: { error: 0, data: { events: changes(6, 5) } } }))
    await steps.toPrevious(subject, changes(6, 5))
    expect(shown()).to.equal('event:5@2026-04-09T05:00:00Z')
  })

  it('goes back one change at a time, asking only when the known ones end', async () => {
    showEvent(5)
    await steps.toPrevious(subject, changes(6, 5, 4))
    expect(shown()).to.equal('event:4@2026-04-09T04:00:00Z')
    expect(page.asked).to.have.lengthOf(0)
    page.answer(() => ({ body: { error: 0, data: { events: changes(4, 3) } } }))
    await steps.toPrevious(subject, changes(6, 5, 4))
    expect(shown()).to.equal('event:3@2026-04-09T03:00:00Z')
    expect(page.asked.map(({ path }) => path)).to.deep.equal([
      '/api/url/7/history?limit=100&fields=event%2Ctime&to=2026-04-09+04%3A00%3A01',
    ])
  })

  it('goes back from the first change to one second before it', async () => {
    showEvent(3)
    page.answer(() => ({ body: { error: 0, data: { events: changes(3) } } }))
    await steps.toPrevious(subject, changes(3))
    expect(shown()).to.equal('2026-04-09T02:59:59Z')
  })

  it('goes on to the next change, and from the last one to now', async () => {
    showEvent(4)
    await steps.toNext(subject, changes(6, 5, 4))
    expect(shown()).to.equal('event:5@2026-04-09T05:00:00Z')
    expect(page.asked).to.have.lengthOf(0)
    showEvent(6)
    await steps.toNext(subject, changes(6, 5, 4))
    expect(shown()).to.equal(null)
  })

  it('loads the next change where the known ones begin later', async () => {
    showEvent(2)
    page.answer(() => ({ body: { error: 0, data: { events: [...changes(2, 3)] } } }))
    await steps.toNext(subject, changes(6, 5))
    expect(shown()).to.equal('event:3@2026-04-09T03:00:00Z')
    expect(page.asked[0]?.path).to.include('order=oldest&from=2026-04-09+02%3A00%3A00')
  })

  it('stays at now, which has no later change', async () => {
    show('')
    await steps.toNext(subject, changes(6, 5))
    expect(shown()).to.equal(null)
    expect(page.asked).to.have.lengthOf(0)
  })

  it('goes by the time where a change has no number yet', async () => {
    show('at=2026-04-09T04:30:00Z')
    await steps.toNext(subject, [{ event: null, time: hour(5) }, ...changes(4)])
    expect(shown()).to.equal('2026-04-09T05:00:00Z')
  })
})
