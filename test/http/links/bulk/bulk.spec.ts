import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { Failure } from '../../../../src/http/api/errors.ts'
import type { Call, Writer } from '../../../../src/http/api/route.ts'
import { bulkRoutes } from '../../../../src/http/links/bulk/bulk.ts'
import type { BulkServices } from '../../../../src/http/links/bulk/request.ts'
import { type Bulk, doRows } from '../../../../src/http/links/bulk/operations.ts'
import { problem } from '../../../../src/lib/problems/problem.ts'

const rows = (count: number) => Array.from({ length: count }, (_, i) => ({ number: i + 1, value: {} }))
const refused = (message: string) => async () => {
  throw new Failure(429, problem('bad_request', { what: 'stored', message }))
}

const here = () => new AbortController().signal

describe('a bulk request', () => {
  const send = (body: unknown, query: object, call: object, services: object = {}) => {
    const [{ run } = expect.fail('no route')] = bulkRoutes(services as BulkServices)
    return run({ body, query: { op: 'create', dryRun: false, atomic: false, ...query }, ...call } as Call)
  }

  it('counts as one request for every 50 rows, before anything is done', async () => {
    for (const [count, requests] of [
      [1, 1],
      [50, 1],
      [51, 2],
      [1000, 20],
    ] as const) {
      const charged: number[] = []
      // neither a load nor a write: any work after the charge would throw
      const charge = async (requests: number) => {
        charged.push(requests)
        return refused('no more')()
      }
      const error = await send(rows(count), {}, { charge }).catch(String)
      expect([charged, error], String(count)).to.deep.equal([[requests], 'Failure: no more'])
    }
  })

  it('is refused with `atomic` where the log cannot append to many streams at once, with an alternative', async () => {
    const charge = refused('charged')
    const services = { transactions: { supported: false } }
    const error = await send(rows(1), { atomic: true }, { charge }, services).catch(String)
    expect(error).to.include('EventStoreDB').and.to.include('Leave `atomic` out')
  })

  it('does no more rows once its caller is not admitted any more', async () => {
    let left = 2
    const requireAdmitted = async () => {
      if (left-- <= 0) throw new Failure(401, problem('key_required', {}))
    }
    const bulk = { op: 'delete', rows: rows(4), dryRun: false, inTransaction: false, requireAdmitted } as const
    const writer = { load: () => expect.fail(), part: () => ({}) } as unknown as Writer
    // rows have no id here, which is found out behind the right to do them
    const done = await doRows({ ...bulk, from: {}, sources: {} } as unknown as Bulk, writer)
    expect(done.map((row) => 'status' in row && row.status)).to.deep.equal([400, 400, 401, 401])

    const call = { charge: async () => {}, isAdmitted: async () => false, gone: here }
    const withoutWaiting = (work: (writer: Writer) => unknown) => work(writer)
    const answer = await send(rows(2), { op: 'delete' }, { ...call, withoutWaiting })
    expect(answer).to.have.property('failed', 2)
    const transaction = async (decide: (writer: Writer) => unknown) => decide(writer)
    const services = { transactions: { supported: true } }
    const atomic = await send(rows(2), { op: 'delete', atomic: true }, { ...call, transaction }, services).catch(String)
    expect(atomic).to.match(/^Failure: /)
  })

  it('processes no more rows once its client has disconnected', async () => {
    const client = new AbortController()
    let loads = 0
    const load = async () => {
      if (++loads === 2) client.abort()
      throw new Failure(404, problem('not_found', { what: 'link' }))
    }
    const withoutWaiting = (work: (writer: Writer) => unknown) => work({ load, part: () => ({}) } as unknown as Writer)
    const call = { charge: async () => {}, isAdmitted: async () => true, gone: () => client.signal, withoutWaiting }
    const body = Array.from({ length: 200 }, (_, i) => ({ number: i + 1, value: { id: i + 1 } }))
    expect(await send(body, { op: 'update' }, call).catch(String)).to.match(/^Failure: /)
    // those that had begun are done
    expect(loads).to.be.below(100)
  })
})

describe('rows of many bulk requests', () => {
  it('are done some at a time, and accounts take turns', async () => {
    const running: { readonly account: number; readonly end: () => void }[] = []
    const begin = (account: number, count: number) => {
      const load = () =>
        new Promise((_, reject) => running.push({ account, end: () => reject(new Failure(404, gone)) }))
      const gone = problem('not_found', { what: 'link' })
      const all = Array.from({ length: count }, (_, i) => ({ number: i + 1, value: { id: i + 1 } }))
      const bulk = { op: 'update', rows: all, dryRun: false, inTransaction: false, requireAdmitted: async () => {} }
      const writer = { account, load, part: () => ({}) } as unknown as Writer
      return doRows({ ...bulk, from: {}, sources: {} } as unknown as Bulk, writer)
    }
    const settled = async () => {
      for (let before = -1; before !== running.length;) {
        before = running.length
        for (let turn = 0; turn < 20; turn++) await nextTurn()
      }
    }
    const runningOf = (account: number) => running.filter((one) => one.account === account).length
    const large = [begin(1, 500), begin(1, 500), begin(2, 500)]
    await settled()
    expect(running.length).to.be.at.most(64)
    const small = begin(3, 3)
    await settled()
    expect(runningOf(3), 'rows of the last request').to.be.at.least(1)
    let ended = false
    void small.then(() => (ended = true))
    for (let n = 0; !ended && n < 64; n++) {
      running.shift()!.end()
      await settled()
      expect(running.length).to.be.at.most(64)
    }
    expect(ended, 'ended after those that ran before').to.equal(true)
    for (let one = running.shift(); one; one = running.shift()) {
      one.end()
      if (running.length === 0) await settled()
    }
    await Promise.all(large)
  })
})
