import { expect } from 'chai'
import { checkpointCheck } from '../../../src/app/proof/checkpointcheck.ts'
import type { Finding } from '../../../src/app/proof/finding.ts'

describe('a signed checkpoint that does not fit the log', () => {
  const root = (text: string) => Buffer.from(text)
  const checkpoint = (size: number, text: string, isOutside: boolean) => ({
    ...{ origin: 'a log', size, root: root(text), isOutside },
  })
  const check = (...checkpoints: readonly ReturnType<typeof checkpoint>[]) => {
    const findings: Finding[] = []
    const { at, end } = checkpointCheck(checkpoints, (finding) => findings.push(finding))
    for (let size = 1; size <= 6; size++) at(size, root(`now ${size}`))
    end(6)
    return findings.map(({ ordinal, until }) => [ordinal, until])
  }

  it('says from where on the log was changed, by those of its kind that fit', () => {
    const fits = [checkpoint(2, 'now 2', true), checkpoint(4, 'now 4', false)]
    expect(check(...fits, checkpoint(6, 'before', false)), 'kept beside the log').to.deep.equal([[4, 5]])
  })

  it('does not accept a checkpoint next to the log as proof that one kept elsewhere is right up to there', () => {
    const fits = [checkpoint(2, 'now 2', true), checkpoint(4, 'now 4', false)]
    expect(check(...fits, checkpoint(6, 'before', true))).to.deep.equal([[2, 5]])
    expect(check(fits[1]!, checkpoint(6, 'before', true))).to.deep.equal([[0, 5]])
  })
})
