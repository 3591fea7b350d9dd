import { expect } from 'chai'
import { pauseAfter } from '../../../../src/app/jobs/webhooks/pauses.ts'

describe('the pause before a message is sent again', () => {
  const within = (pause: number, least: number) => expect(pause).to.be.within(least, least * 1.1)

  it('doubles with each try, up to 15 minutes', () => {
    for (const [tries, least] of [
      [1, 5000],
      [2, 10_000],
      [8, 640_000],
      [9, 900_000],
      [500, 900_000],
    ] as const)
      within(pauseAfter(tries, 5000, 0), least)
  })

  it('is as long as the receiver requests, and never shorter than without a request', () => {
    expect(pauseAfter(1, 5000, 3_600_000)).to.equal(3_600_000)
    within(pauseAfter(1, 5000, 1000), 5000)
  })
})
