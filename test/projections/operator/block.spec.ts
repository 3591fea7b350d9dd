import type { Event } from '../../../src/events/index.ts'
import { blocks } from '../../../src/projections/operator/block.ts'
import { at, inStream } from '../../support/events.ts'
import { projectionSpec } from '../../support/given.ts'

const { given } = projectionSpec(blocks)
const what = { kind: 'host', value: 'bad.example' } as const
const [first, second] = ['block-host-aaaa', 'block-host-bbbb']

describe('the table of blocks by the operator', () => {
  const blocked = (stream: string, position: bigint, name?: string, addresses?: string[]) => {
    const event: Event<'AddressBlocked'> = {
      type: 'AddressBlocked',
      data: { ...what, reason: 'phishing', ...(addresses && { addresses }) },
    }
    const recorded = inStream(event, stream, position)
    const actor = { kind: 'operator', ...(name !== undefined && { name }) } as const
    return { ...recorded, metadata: { ...recorded.metadata, actor } }
  }
  const unblocked = (stream: string, position: bigint) =>
    inStream({ type: 'AddressUnblocked', data: what }, stream, position)
  const row = (id: string, position: bigint, changed = {}) => ({
    id,
    ...what,
    reason: 'phishing',
    addresses: [],
    operator: '',
    changed: at(Number(position)),
    position,
    ...changed,
  })

  it('has the reason, and the operator if it is known', () =>
    given(blocked(first, 1n, 'ann'), blocked(second, 2n)).thenRows(
      'blocks',
      row('host-aaaa', 1n, { operator: 'ann' }),
      row('host-bbbb', 2n),
    ))
  it('has the short addresses that are blocked with it, until it is unblocked', () => {
    const withAddresses = blocked(first, 1n, undefined, ['/sale', 'go.example.com/sale'])
    given(withAddresses).thenRows('blocks', row('host-aaaa', 1n, { addresses: ['/sale', 'go.example.com/sale'] }))
    given(withAddresses, unblocked(first, 2n)).thenRows('blocks', row('host-aaaa', 2n, { reason: null }))
  })
  it('keeps the row of a lifted block, without a reason, so that caches learn of it', () =>
    given(blocked(first, 1n), unblocked(first, 2n)).thenRows('blocks', row('host-aaaa', 2n, { reason: null })))
})
