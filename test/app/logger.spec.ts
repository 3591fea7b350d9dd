import { expect } from 'chai'
import { Refused } from '../../src/commands/decider.ts'
import { BadConfig } from '../../src/config.ts'
import { describeError } from '../../src/logger.ts'
import { problem } from '../../src/lib/problems/problem.ts'

describe('an error in the log', () => {
  const typeOf = (error: unknown) => (describeError(error) as { readonly type?: string }).type

  it('has the name of its kind as its type', () => {
    expect(typeOf(new BadConfig('wrong'))).to.equal('BadConfig')
    expect(typeOf(new TypeError('wrong'))).to.equal('TypeError')
    expect(typeOf(new DOMException('stopped', 'AbortError'))).to.equal('AbortError')
    expect(typeOf(new Error('wrong'))).to.equal('Error')
  })

  it('has its class as its type when its name is only "error"', () => {
    class DatabaseError extends Error {
      override readonly name = 'error'
    }
    class Lost extends Error {}
    expect(typeOf(new DatabaseError('wrong'))).to.equal('DatabaseError')
    expect(typeOf(new Lost('wrong'))).to.equal('Lost')
    expect(typeOf(new Refused(problem('required')))).to.equal('Refused')
  })

  it('has its kind, message, stack, code and cause, and no other property', () => {
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', address: 'secret' })
    const described = describeError(Object.assign(new Error('failed', { cause }), { body: 'secret' }))
    expect(described).to.have.all.keys('type', 'message', 'stack', 'cause')
    expect(described).to.have.nested.property('cause.code', 'ECONNREFUSED')
    expect(JSON.stringify(described)).not.to.include('secret')
  })

  it('has at most 256 characters of its message, also when it is not an Error', () => {
    expect(describeError(new Error('x'.repeat(1000))))
      .to.have.property('message')
      .with.length(256)
    expect(describeError('x'.repeat(1000))).to.deep.equal({ message: 'x'.repeat(256) })
  })
})
