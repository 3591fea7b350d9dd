import { expect } from 'chai'
import { openPendingStreams } from '../../src/cache/pending.ts'

const open = () => {
  let seen = 5n
  const added: string[] = []
  const pending = openPendingStreams({ shows: (_, position) => position <= seen }, (stream, position) =>
    added.push(`${stream} ${position}`),
  )
  return { ...pending, added, advance: (position: bigint) => (seen = position) }
}

describe('pending streams', () => {
  it('stay pending until the tables have reached their position', () => {
    const { add, has, advance } = open()
    add('link-1', 7n)
    expect([has('link-1'), has('link-2')]).to.deep.equal([true, false])
    advance(6n)
    expect(has('link-1')).to.equal(true)
    advance(7n)
    expect(has('link-1')).to.equal(false)
  })
  it('report whether there are any', () => {
    const { add, any, advance } = open()
    expect(any()).to.equal(false)
    add('link-1', 7n)
    add('link-2', 6n)
    advance(6n)
    expect(any()).to.equal(true)
    advance(7n)
    expect(any()).to.equal(false)
  })
  it('are reported once for each new position that is not projected yet', () => {
    const { add, added } = open()
    add('link-1', 5n)
    add('link-1', 7n)
    add('link-1', 7n)
    add('link-1', 6n)
    add('link-2', 6n)
    add('link-1', 8n)
    expect(added).to.deep.equal(['link-1 7', 'link-2 6', 'link-1 8'])
  })
  it('stay pending until the newest of their positions is projected', () => {
    const { add, has, advance } = open()
    add('link-1', 9n)
    add('link-1', 7n)
    advance(8n)
    expect(has('link-1')).to.equal(true)
  })
  it('are reported again when their projection is found to be halted', () => {
    const { add, added } = open()
    add('link-1', 7n)
    add('link-1', 7n, true)
    expect(added).to.deep.equal(['link-1 7', 'link-1 7'])
  })
})
