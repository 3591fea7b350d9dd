import { expect } from 'chai'
import { refuseUnknown, type Refused, RevisionChanged } from '../../src/commands/decider.ts'

describe('a refusal', () => {
  const refusalOf = (kind: Parameters<typeof refuseUnknown>[0]) => {
    try {
      return refuseUnknown(kind)
    } catch (error) {
      return error as Refused
    }
  }
  it('names the kind of the missing resource, if clients know that kind', () => {
    expect(refusalOf('link')).to.include({ name: 'Refused', message: 'Link not found.', what: 'link' })
    expect(refusalOf('bio').message).to.equal('Bio page not found.')
    for (const kind of ['claim', 'block'] as const) expect(refusalOf(kind).what, kind).to.equal('resource')
  })
  it('says which revision a resource has now', () => {
    const refusal = new RevisionChanged(7)
    expect(refusal).to.include({ name: 'RevisionChanged', code: 'changed', revision: 7 })
    expect(refusal.problem.params).to.deep.equal({ revision: 7 })
  })
})
