import { expect } from 'chai'
import { openPendingStreams } from '../../src/cache/pending.ts'

const open = () => {
  let seen = 5n
  const told: string[] = []
  const progress = { seen: () => seen, wait: async () => true }
  const pending = openPendingStreams(progress, (stream, position) => told.push(`${stream} ${position}`))
  return { ...pending, told, advance: (position: bigint) => (seen = position) }
}

describe('streams that the read tables are late with', () => {
  it('are late until the tables have come so far', () => {
    const { add, has, advance } = open()
    add('link-1', 7n)
    expect([has('link-1'), has('link-2')]).to.deep.equal([true, false])
    advance(6n)
    expect(has('link-1')).to.equal(true)
    advance(7n)
    expect(has('link-1')).to.equal(false)
  })
  it('are some or none', () => {
    const { add, any, advance } = open()
    expect(any()).to.equal(false)
    add('link-1', 7n)
    add('link-2', 6n)
    advance(6n)
    expect(any()).to.equal(true)
    advance(7n)
    expect(any()).to.equal(false)
  })
  it('are told of once for each position, unless the tables have it already', () => {
    const { add, told } = open()
    add('link-1', 5n)
    add('link-1', 7n)
    add('link-1', 7n)
    add('link-1', 6n)
    add('link-2', 6n)
    add('link-1', 8n)
    expect(told).to.deep.equal(['link-1 7', 'link-2 6', 'link-1 8'])
  })
  it('stay late for the newest of their positions', () => {
    const { add, has, advance } = open()
    add('link-1', 9n)
    add('link-1', 7n)
    advance(8n)
    expect(has('link-1')).to.equal(true)
  })
})
