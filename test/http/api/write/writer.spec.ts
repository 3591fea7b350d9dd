import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import type { Context } from 'koa'
import { handler } from '../../../../src/commands/handle.ts'
import { link } from '../../../../src/commands/links/link.ts'
import { withoutWaitingOf } from '../../../../src/http/api/write/transaction.ts'
import { writer, type WriterOptions } from '../../../../src/http/api/write/writer.ts'
import { linkFields } from '../../../support/events.ts'
import { countingIds, newMemoryStore } from '../../../support/writer.ts'

describe('a write that is not projected', () => {
  const begin = async (pace?: Promise<boolean>) => {
    const steps: string[] = []
    const headers = new Map<string, string>()
    const { next } = countingIds()
    const options = {
      handler: handler(await newMemoryStore()),
      nextId: { link: next } as unknown as WriterOptions['nextId'],
      quotas: { reserve: async () => () => {} },
      progress: {
        wait: async (_: bigint, ms: number) => {
          steps.push(`wait ${ms}`)
          return ms === 250 && pace ? pace : false
        },
        shows: () => false,
      } as unknown as WriterOptions['progress'],
      // these are asked about callers who are limited to their own work
      reader: undefined as unknown as WriterOptions['reader'],
      rules: { find: async () => undefined },
      pending: undefined as unknown as WriterOptions['pending'],
      onPending: (stream: string) => void steps.push(`pending ${stream}`),
    }
    const ctx = { state: { request: 'r' }, set: (name: string, value: string) => headers.set(name, value) }
    const by = [ctx as unknown as Context, { account: 1, key: 'k' }, options] as const
    return { write: writer(...by), withoutWaiting: withoutWaitingOf(...by, {}), steps, headers }
  }
  const make = (id: number) =>
    ({ type: 'CreateLink', id, account: 1, fields: linkFields, password: null, token: 't', now: '2026-01-01' }) as const

  it('counts as pending soon when it changes an existing resource, and gets a response after two seconds', async () => {
    const { write, steps, headers } = await begin()
    const { id } = await write.create('link', link, make)
    steps.length = 0
    await write.write(link, { type: 'DeleteLink', id, account: 1 })
    expect(steps).to.deep.equal(['wait 40', 'pending link-1', 'wait 1960'])
    expect(headers.get('X-Projection-Pending')).to.equal('1')
  })

  it('counts as pending well before its response when it creates a resource that no other client knows', async () => {
    const { write, steps, headers } = await begin()
    await write.create('link', link, make)
    expect(steps).to.deep.equal(['wait 1000', 'pending link-1', 'wait 1000'])
    expect(headers.get('X-Projection-Pending')).to.equal('1')
  })

  it('is followed by the next one of a request with many a moment later at most, or once it can be read', async () => {
    let read = (_: boolean) => {}
    const { withoutWaiting, steps } = await begin(new Promise((resolve) => (read = resolve)))
    let created = 0
    const work = withoutWaiting(async ({ create }) => {
      for (; created < 2; created++) await create('link', link, make)
    })
    while (!steps.includes('wait 250')) await nextTurn()
    expect(created).to.equal(0)
    read(true)
    await work
    expect([created, steps.filter((step) => step === 'wait 250').length]).to.deep.equal([2, 2])
  })
})
