import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { readForm } from '../../../src/http/public/postedform.ts'

describe('a posted form', () => {
  const sent = () => new PassThrough()
  const read = (body: PassThrough) => readForm(body as unknown as IncomingMessage, 10)

  it('is read up to a limit', async () => {
    const [short, long] = [sent(), sent()]
    short.end('a=1&b=2')
    long.end('a=1&b=2&c=3')
    expect(Object.fromEntries((await read(short)) ?? [])).to.deep.equal({ a: '1', b: '2' })
    expect(await read(long)).to.equal(undefined)
  })

  it('is none when the client goes away meanwhile, which is no outage of the service', async () => {
    const body = sent()
    body.write('a=')
    const form = read(body)
    body.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }))
    expect(await form).to.equal(undefined)
  })
})
