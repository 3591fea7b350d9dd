import { expect } from 'chai'
import { headingOf } from '../../../../src/web/screens/accounts/heading.ts'

describe('the page of a member', () => {
  const texts = { former: 'A former member', roleName: (role: string) => `role ${role}` }
  const details = { id: 2, name: 'ann', role: 'editor', status: 'active', date: '' } as const

  it('says nothing of them until the answer is there', () => {
    expect(headingOf(undefined, texts)).to.equal(undefined)
  })

  it('shows their name and role, or that they are a former member', () => {
    expect(headingOf({ details }, texts)).to.deep.equal({ called: 'ann', text: 'role editor' })
    const former = { ...details, name: '', status: 'former' } as const
    expect(headingOf({ details: former }, texts)).to.deep.equal({ called: 'A former member', text: 'A former member' })
  })
})
