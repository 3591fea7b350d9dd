import { expect } from 'chai'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { type AnswerPagesOptions, createAnswerPages } from '../../../../src/http/public/overlay/answer.ts'
import { answerForm } from '../../../../src/http/public/overlay/signed.ts'

const pepper = Buffer.alloc(32, 7)
const origin = { link: 3, to: 'https://example.com/' }

describe('the reads of a posted answer', () => {
  /** Posts fields to the overlay 5, and returns what was done for them. */
  const post = async (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) => {
    const done = new Set<string>()
    const options: Partial<AnswerPagesOptions> = {
      pepper,
      trustProxy: 0,
      sendPage: () => {},
      withPrefix: (serve) => async (req, res) => void (await serve(req, res)),
      limiter: {
        count: async () => {
          done.add('count')
          return { over: false, wait: 0, left: 1 }
        },
      } as unknown as AnswerPagesOptions['limiter'],
      handler: {
        load: async (_: unknown, id: number) => {
          done.add(`stream ${id}`)
          return { state: { status: 'none' } }
        },
      } as unknown as AnswerPagesOptions['handler'],
    }
    function* body() {
      done.add('form')
      yield Buffer.from(new URLSearchParams(fields).toString())
    }
    const request = { url: '/o/5', method: 'POST', headers, socket: { remoteAddress: '198.51.100.7' } }
    const req = Object.assign(Readable.from(body()), request) as unknown as IncomingMessage
    await createAnswerPages(options as AnswerPagesOptions)(req, {} as ServerResponse)
    return [...done]
  }
  const signed = answerForm(pepper, 5, origin, Date.now()).hidden

  it('is nothing when it comes from a page of another site', async () => {
    for (const site of ['cross-site', 'same-site'])
      expect(await post(signed, { 'sec-fetch-site': site }), site).to.deep.equal([])
  })

  it('is no stream when it is not from a form of ours', async () => {
    expect(await post({ email: 'a@example.com' })).to.deep.equal(['count', 'form'])
    expect(await post({ ...signed, link: '4' })).to.deep.equal(['count', 'form'])
  })

  it('is the stream of the overlay when it is', async () => {
    expect(await post(signed)).to.deep.equal(['count', 'form', 'stream 5'])
  })
})
