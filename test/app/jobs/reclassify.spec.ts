import { expect } from 'chai'
import { type Means, mergeChanges, type ReclassifyJob, step } from '../../../src/app/jobs/classes.ts'
import { startReclassifier } from '../../../src/app/jobs/reclassify.ts'
import { StoreUnavailable } from '../../../src/events/store.ts'
import { until } from '../../support/client.ts'

describe('the changes of several accounts', () => {
  const change = (rule: string, visits: number, to = 'bot') => ({ from: 'human', to, rule, visits })

  it('are added up by their classes and rule, most visits first, 500 at most', () => {
    expect(mergeChanges([change('A', 2), change('B', 3)], [change('A', 4), change('A', 1, 'preview')])).to.deep.equal([
      change('A', 6),
      change('B', 3),
      change('A', 1, 'preview'),
    ])
    const many = Array.from({ length: 600 }, (_, n) => change(`rule ${n}`, n))
    expect(mergeChanges(many, [change('rule 7', 1000)])).to.have.length(500)
    expect(mergeChanges(many, [change('rule 7', 1000)])[0]).to.deep.equal(change('rule 7', 1007))
  })
})

describe('the jobs of reclassifications', () => {
  const job = (id: string, account: number): ReclassifyJob => ({
    ...{ id, account, work: 'count', actor: { kind: 'session' }, request: '', done: 0, made: null },
    ...{ visits: 0, changes: [] },
  })
  /** Starts with some jobs, of accounts that cannot be read. Returns what became of them. */
  const start = (jobs: ReclassifyJob[], load: () => Promise<unknown>, isTeam = true) => {
    const ended: (readonly [string, boolean])[] = []
    const problems: string[] = []
    const stop = startReclassifier({
      jobs: {
        next: async () => jobs[0],
        asker: async () => jobs[0]?.actor,
        save: async () => {},
        end: async (id, failed) => {
          ended.push([id, failed])
          jobs.shift()
        },
      },
      claim: () => Promise.reject(new Error('not expected')),
      handler: { handle: () => Promise.reject(new Error('not expected')), load } as never,
      rules: { version: 1, decide: ({ class: same }) => ({ class: same, rule: '' }) },
      openReader: () => ({ reader: {} as never, close: async () => {} }),
      alone: async (work) => (isTeam ? work(new AbortController().signal) : undefined),
      onProblem: (error) => problems.push(String(error)),
      everyMs: 20,
    })
    return { ended, problems, stop }
  }

  it('end each by itself: one that fails is marked, said, and keeps no other from its turn', async () => {
    const jobs = [job('a', 1), job('b', 2)]
    const { ended, problems, stop } = start(jobs, () => Promise.reject(new Error('broken')))
    await until(
      async () => ended.length,
      (n) => n === 2,
    )
    await stop()
    expect(ended).to.deep.equal([
      ['a', true],
      ['b', true],
    ])
    expect(problems).to.deep.equal(['Error: broken', 'Error: broken'])
  })

  it('stay as they are in an outage, however short, and end when their statements are cancelled again and again', async () => {
    const cut = { code: '57P01', message: 'terminating connection due to administrator command' }
    const cancelled = { code: '57014', message: 'canceling statement due to statement timeout' }
    const fail = [cut, new StoreUnavailable('the log does not answer'), cut, cut, cancelled, cancelled, cancelled]
    let failures = 0
    const { ended, problems, stop } = start([job('a', 1)], () => Promise.reject(fail[failures++] as Error))
    await until(
      async () => ended.length,
      (n) => n === 1,
    )
    await stop()
    expect([ended, failures, problems.length]).to.deep.equal([[['a', true]], fail.length, fail.length])
  })

  it('end when the key that requested them has expired since, or may no longer request them', async () => {
    const key = { key: 'k', scopes: ['account'], expires: null }
    const keys = [[], [{ ...key, scopes: ['read'] }], [{ ...key, expires: '2020-01-01T00:00:00.000Z' }]]
    for (const own of keys) {
      const asked = { ...job('a', 1), actor: { kind: 'key', key: 'k' } as const }
      const state = { status: 'active', exclusions: {}, keys: { keys: own } }
      const { ended, problems, stop } = start([asked], async () => ({ state }))
      await until(
        async () => ended.length,
        (n) => n === 1,
      )
      await stop()
      expect([ended, problems]).to.deep.equal([[['a', true]], []])
    }
  })

  it('end though a part was parked: the statistics have passed it, and the next account has its turn', async () => {
    const jobs = [{ ...job('a', 1), work: 'apply' as const, made: 'r' }, job('b', 2)]
    const ended: string[] = []
    let [position, recorded] = [4n, 0]
    // no row says that the part was applied
    const rows = { where: () => rows, orderByRaw: () => rows, limit: () => rows, pluck: async () => [String(position)] }
    const db = Object.assign(() => rows, { raw: async () => ({ rows: [] }) })
    const state = () => ({ status: 'active', parts: recorded, left: recorded, sessions: 0 })
    const means: Means = {
      jobs: {
        next: async () => jobs[0],
        asker: async () => ({ kind: 'operator', name: 'a' }),
        save: async (id, { done }) => {
          if (done === undefined) return
          ended.push(id)
          jobs.shift()
        },
        end: async () => {},
      },
      claim: async () => ({ lost: new AbortController().signal, caughtUp: async () => true, end: async () => {} }),
      handler: {
        load: async () => ({ state: state(), position: 0n }),
        handle: async () => {
          recorded++
          // it is parked a while after it was recorded
          setTimeout(() => (position = 7n), 100)
          return { state: state(), position: 7n }
        },
      } as never,
      reader: { db, table: String } as never,
      plan: async () => ({ changes: [], parts: [{} as never] }),
      ensureGoing: () => {},
    }
    const asked = (one: ReclassifyJob): ReclassifyJob => ({ ...one, actor: { kind: 'operator', name: 'a' } })
    for (const one of [...jobs]) await step(means, asked(one))
    expect(ended).to.deep.equal(['a', 'b'])
    expect([recorded, position]).to.deep.equal([1, 7n])
  })

  it('stay as they are when the process ends meanwhile, and while another one works', async () => {
    const jobs = [job('a', 1)]
    let begun = () => {}
    const loading = new Promise<void>((resolve) => (begun = resolve))
    let fail = (_: Error) => {}
    const first = start(jobs, () => {
      begun()
      return new Promise<never>((_, reject) => (fail = reject))
    })
    await loading
    const other = start(jobs, () => Promise.reject(new Error('not expected')), false)
    const stopped = first.stop()
    fail(new Error('the pool is closed'))
    await Promise.all([stopped, other.stop()])
    expect([first.ended, first.problems, other.ended, jobs.length]).to.deep.equal([[], [], [], 1])
  })
})
