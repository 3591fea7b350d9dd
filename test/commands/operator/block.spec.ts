import { expect } from 'chai'
import { block, type BlockCommand, blockId } from '../../../src/commands/operator/block.ts'
import { fold, streamOf } from '../../../src/commands/decider.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(block)
const subject = { kind: 'host', value: 'evil.example' } as const
const doBlock: BlockCommand = { type: 'Block', ...subject, reason: 'phishing' }
const unblock: BlockCommand = { type: 'Unblock', ...subject }
const blocked = { type: 'AddressBlocked', data: { ...subject, reason: 'phishing' } } as const
const unblocked = { type: 'AddressUnblocked', data: subject } as const

describe('a block', () => {
  it('records its reason, and a new one', () => {
    given().when(doBlock).thenEvents(blocked)
    given(blocked)
      .when({ ...doBlock, reason: 'malware' })
      .thenEvents({ type: 'AddressBlocked', data: { ...subject, reason: 'malware' } })
  })
  it('ends, and may begin again', () => {
    const events = [blocked, unblocked] as const
    expect(block.decide(unblock, fold(block, [blocked]))).to.deep.equal([unblocked])
    given(...events)
      .when(doBlock)
      .thenEvents(blocked)
  })
  it('cannot be ended when there is none', () => {
    given().when(unblock).thenRefused('not_found')
    given(blocked, unblocked).when(unblock).thenRefused('not_found')
  })
  it('has a stream of its own, whose name has no characters of a pattern', () => {
    expect(streamOf(block, doBlock)).to.equal('block-host-evil.example')
    expect(blockId({ kind: 'pattern', value: 'sites.example/view/a b$*' })).to.match(/^pattern-[\w-]{43}$/)
  })
})
