import { expect } from 'chai'
import { requestId } from '../../../src/http/api/requestid.ts'

describe('the id of a request', () => {
  it('is the one that the client has sent', () => {
    for (const sent of ['a', 'order-4711', '7f9c.24_x', 'x'.repeat(64), crypto.randomUUID()])
      expect(requestId(sent)).to.equal(sent)
  })

  it('is a new one instead of a long one, or one with other characters', () => {
    const wrong = [
      '',
      ' ',
      'x'.repeat(65),
      'a b',
      'a\nb',
      'a\r',
      'a"b',
      '{}',
      'a/b',
      '-a',
      'a-',
      '.',
      'ä',
      '\u001b[2J',
      '<b>',
      'a,b',
    ]
    const made = wrong.map(requestId)
    for (const id of made) expect(id).to.match(/^[\da-f-]{36}$/)
    expect(new Set(made).size).to.equal(wrong.length)
  })
})
