import { expect } from 'chai'
import { accountName } from '../../../src/cli/account/name.ts'
import { BadCommand } from '../../../src/cli/cli.ts'

describe('the name of an account on the command line', () => {
  const read: readonly [text: string, name: object][] = [
    ['id:219', { id: 219 }],
    ['@219', { username: '219' }],
    ['@Ann', { username: 'ann' }],
    ['Ann@Example.com', { email: 'ann@example.com' }],
    ['ann', { username: 'ann' }],
  ]
  for (const [text, name] of read)
    it(`reads ${text}`, () => {
      expect(accountName(text)).to.deep.equal(name)
    })

  it('refuses digits, which may be an id or the username of another account, and names the right form', () => {
    expect(() => accountName('219')).to.throw(BadCommand, 'write id:219 for the id, @219 for the username')
  })

  for (const text of ['', 'id:', 'id:0', 'id:07', 'id:x', '@', '@a', 'a b', 'ann@', '@ann@example.com'])
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(() => accountName(text)).to.throw(BadCommand, 'write id:7, ann@example.com or @ann')
    })
})
