import { expect } from 'chai'
import { createSigningClock } from '../../../src/app/proof/clock.ts'
import { isCheckpointDue } from '../../../src/app/proof/proofs.ts'

describe('the clock by which checkpoints are signed', () => {
  const hour = 3_600_000

  it('makes a checkpoint due when the last one is old, or lies in the future', () => {
    const due = (age: number | undefined) => isCheckpointDue(age, 60_000)
    expect([undefined, 60_000, hour, -1, -hour].map(due)).to.deep.equal([true, true, true, true, true])
    expect([0, 59_999].map(due)).to.deep.equal([false, false])
  })

  it('is a problem while it is behind the last checkpoint, which is logged when it begins and when it ends', () => {
    const said: string[] = []
    let now = hour
    const line = (level: string) => (_: unknown, text: string) => void said.push(`${level}: ${text}`)
    const clock = createSigningClock({ warn: line('warn'), info: line('info') }, () => now)
    clock.signedAt(new Date(hour))
    clock.signedAt(new Date(hour + 4000))
    expect([clock.problem(), said], 'the clocks of two machines differ by seconds').to.deep.equal([undefined, []])
    now = 0
    for (const at of [0, 1000]) clock.signedAt(new Date(at))
    expect(clock.problem()).to.equal(
      'the clock is 3604 s behind the last signed checkpoint of the log (1970-01-01T01:00:04.000Z): set it right',
    )
    expect(said).to.have.lengthOf(1)
    expect(said[0]).to.match(/^warn: the clock is behind the last signed checkpoint/)
    now = hour
    clock.signedAt(new Date(hour))
    expect(clock.problem()).to.equal(undefined)
    expect(said[1]).to.match(/^info: the clock is no longer behind/)
  })
})
