import { expect } from 'chai'
import { approval, type ApprovalCommand } from '../../../src/commands/approvals/approval.ts'
import { fold } from '../../../src/commands/decider.ts'

describe('proposals of a member', () => {
  const propose = (member: number, target = 0, command: object = {}): ApprovalCommand => ({
    ...{ type: 'Propose', id: 7, kind: 'link', target, revision: 0, member },
    command: { ...command },
  })
  const after = (commands: readonly ApprovalCommand[], from = approval.initialState) =>
    commands.reduce((state, command) => fold(approval, approval.decide(command, state), state), from)
  const many = (member: number, n: number) => Array.from({ length: n }, (_, link) => propose(member, link + 1))

  it('are limited to 500 pending ones per member, without limiting other members', () => {
    const state = after(many(2, 500))
    expect(() => approval.decide(propose(2), state)).to.throw('At most 500 changes that you proposed wait')
    expect(approval.decide(propose(3), state)).to.have.length(1)
    const withdrawn = after([{ type: 'Refuse', id: 7, number: 1, member: 2 }], state)
    expect(approval.decide(propose(2), withdrawn)).to.have.length(1)
  })

  it('are at most 1,000 of all members', () => {
    const state = after(Array.from({ length: 10 }, (_, member) => many(member + 1, 100)).flat())
    expect(() => approval.decide(propose(11), state)).to.throw('At most 1,000 changes of an account wait')
  })

  it('are not repeated while they wait', () => {
    const [change, other] = [{ type: 'DeleteLink' }, { type: 'UpdateLink' }]
    const state = after([propose(2, 1, change)])
    expect(approval.decide(propose(2, 1, { ...change, token: 'drawn again' }), state)).to.deep.equal([])
    for (const differs of [propose(3, 1, change), propose(2, 2, change), propose(2, 1, other)])
      expect(approval.decide(differs, state)).to.have.length(1)
    const refused = after([{ type: 'Refuse', id: 7, number: 1, member: 3 }], state)
    expect(approval.decide(propose(2, 1, change), refused)).to.have.length(1)
  })

  it('are withdrawn by their proposer, also under another number', () => {
    const why = (member: number, own?: boolean) => {
      const state = after(many(2, 1))
      const [event] = approval.decide({ type: 'Refuse', id: 7, number: 1, member, ...(own && { own }) }, state)
      return event?.data
    }
    expect(why(2)).to.include({ why: 'withdrawn' })
    expect(why(3)).to.include({ why: 'refused' })
    expect(why(3, true)).to.include({ why: 'withdrawn', member: 3 })
  })
  it('are not refused by what was known of them before they were approved once more', () => {
    const approve = (member: number): ApprovalCommand => ({ type: 'Approve', id: 7, number: 1, member })
    const refuse = (unmade?: number): ApprovalCommand => ({ type: 'Refuse', id: 7, number: 1, member: 4, unmade })
    const once = after([...many(2, 1), approve(3)])
    const seen = once.open[1]?.approved
    expect(approval.decide(refuse(seen), once)).to.have.length(1)
    const twice = after([approve(5)], once)
    for (const known of [undefined, seen])
      expect(() => approval.decide(refuse(known), twice)).to.throw('This change is approved already')
    // and what was refused is approved no more
    expect(() => approval.decide(approve(5), after([refuse(seen)], once))).to.throw('no open proposal')
  })
})
