import { expect } from 'chai'
import { openLate } from '../../src/cache/pending.ts'

const open = () => {
  let seen = 5n
  const told: string[] = []
  const progress = { seen: () => seen, wait: async () => true }
  const late = openLate(progress, (stream, position) => told.push(`${stream} ${position}`))
  return { ...late, told, advance: (position: bigint) => (seen = position) }
}

describe('streams that the read tables are late with', () => {
  it('are late until the tables have come so far', () => {
    const { note, is, advance } = open()
    note('link-1', 7n)
    expect([is('link-1'), is('link-2')]).to.deep.equal([true, false])
    advance(6n)
    expect(is('link-1')).to.equal(true)
    advance(7n)
    expect(is('link-1')).to.equal(false)
  })
  it('are some or none', () => {
    const { note, any, advance } = open()
    expect(any()).to.equal(false)
    note('link-1', 7n)
    note('link-2', 6n)
    advance(6n)
    expect(any()).to.equal(true)
    advance(7n)
    expect(any()).to.equal(false)
  })
  it('are told of once for each position, unless the tables have it already', () => {
    const { note, told } = open()
    note('link-1', 5n)
    note('link-1', 7n)
    note('link-1', 7n)
    note('link-1', 6n)
    note('link-2', 6n)
    note('link-1', 8n)
    expect(told).to.deep.equal(['link-1 7', 'link-2 6', 'link-1 8'])
  })
  it('stay late for the newest of their positions', () => {
    const { note, is, advance } = open()
    note('link-1', 9n)
    note('link-1', 7n)
    advance(8n)
    expect(is('link-1')).to.equal(true)
  })
})
