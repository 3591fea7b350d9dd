import { expect } from 'chai'
import { block, type BlockCommand, blockedAddress, blockId } from '../../../src/commands/operator/block.ts'
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
  it('applies to the addresses of the blocked resource, also to those that are added later', () => {
    const command = (...addresses: string[]): BlockCommand => ({ ...doBlock, addresses })
    const event = (...addresses: string[]) =>
      ({ type: 'AddressBlocked', data: { ...subject, reason: 'phishing', addresses } }) as const
    given().when(command('/a')).thenEvents(event('/a'))
    given(event('/a')).when(command('/a', 'go.example.com/b')).thenEvents(event('/a', 'go.example.com/b'))
    given(event('/a', '/b')).when(command('/b')).thenNothing()
    given(event('/a')).when(doBlock).thenNothing()
    given(event('/a'), unblocked).when(command('/a')).thenEvents(event('/a'))
    given(blocked).when(command('/a')).thenEvents(event('/a'))
  })
  it('has addresses in one spelling, with the host of a branded domain before them', () => {
    expect(blockedAddress(undefined, 'Sale')).to.equal('/sale')
    expect(blockedAddress('https://Go.Example.com', 'Sale')).to.equal('go.example.com/sale')
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
