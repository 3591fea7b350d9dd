import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { closingOf } from '../../../src/http/server/closing.ts'

describe('the signal of a request', () => {
  const response = (state: object) =>
    Object.assign(new EventEmitter(), { writableEnded: false, closed: false, ...state }) as unknown as ServerResponse

  it('is the same for each caller, and aborts when the client is gone', () => {
    const res = response({})
    const gone = closingOf({ res })
    const signal = gone()
    expect([gone(), res.listenerCount('close'), signal.aborted]).to.deep.equal([signal, 1, false])
    res.emit('close')
    expect(signal.aborted).to.equal(true)
  })

  it('has aborted where the client has its answer, or is gone', () => {
    for (const state of [{ writableEnded: true }, { closed: true }])
      expect(closingOf({ res: response(state) })().aborted).to.equal(true)
  })
})
