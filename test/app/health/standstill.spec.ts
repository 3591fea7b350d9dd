import { expect } from 'chai'
import { createStandstill } from '../../../src/app/health/standstill.ts'

describe('work that repeats', () => {
  it('is a problem from its first failure on, with the last reason, until it has worked', () => {
    let now = 0
    const job = createStandstill('nothing is signed', () => now)
    expect(job.problem()).to.equal(undefined)
    job.failed(new Error('the disk is full'))
    now = 60_000
    job.failed('the tree is damaged')
    expect(job.problem()).to.equal('nothing is signed since 1970-01-01T00:00:00.000Z: the tree is damaged')
    job.worked()
    expect(job.problem()).to.equal(undefined)
    job.failed(new Error('again'))
    expect(job.problem()).to.equal('nothing is signed since 1970-01-01T00:01:00.000Z: again')
  })
})
