import { expect } from 'chai'
import { filled } from '../../../src/web/parts/when.tsx'

describe('a text with a moment', () => {
  it('has it where its name is', () => {
    expect(filled('created {when} by {name}', { when: 7, name: 'Ada' })).to.deep.equal([
      'created ',
      7,
      ' by ',
      'Ada',
      '',
    ])
    expect(filled('{other} and {when}', { when: 7 })).to.deep.equal(['', '{other}', ' and ', 7, ''])
  })
})
