import { expect } from 'chai'
import type { Context } from 'koa'
import { handler } from '../../../../src/commands/handle.ts'
import { link } from '../../../../src/commands/links/link.ts'
import { writer, type WriterOptions } from '../../../../src/http/api/write/writer.ts'
import { linkFields } from '../../../support/events.ts'
import { countingIds, newMemoryStore } from '../../../support/writer.ts'

describe('a write that is not projected', () => {
  const begin = async () => {
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
          return false
        },
        shows: () => false,
      } as unknown as WriterOptions['progress'],
      onPending: (stream: string) => void steps.push(`pending ${stream}`),
    }
    const ctx = { state: { request: 'r' }, set: (name: string, value: string) => headers.set(name, value) }
    return { write: writer(ctx as unknown as Context, { account: 1, key: 'k' }, options), steps, headers }
  }
  const make = (id: number) =>
    ({ type: 'CreateLink', id, account: 1, fields: linkFields, password: null, token: 't', now: '2026-01-01' }) as const

  it('counts as pending soon when it changes what others read, and is answered after two seconds', async () => {
    const { write, steps, headers } = await begin()
    const { id } = await write.create('link', link, make)
    steps.length = 0
    await write.write(link, { type: 'DeleteLink', id, account: 1 })
    expect(steps).to.deep.equal(['wait 40', 'pending link-1', 'wait 1960'])
    expect(headers.get('X-Projection-Pending')).to.equal('1')
  })

  it('counts as pending well before its answer when it creates what nobody else knows of', async () => {
    const { write, steps, headers } = await begin()
    await write.create('link', link, make)
    expect(steps).to.deep.equal(['wait 1000', 'pending link-1', 'wait 1000'])
    expect(headers.get('X-Projection-Pending')).to.equal('1')
  })
})
