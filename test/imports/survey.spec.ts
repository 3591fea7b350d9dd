import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import type { SourceRecord } from '../../src/imports/records.ts'
import { addressName, survey, visitsOfLink } from '../../src/imports/survey.ts'
import { refusalOf } from './support.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const visitsOf = async function* (aliases: Iterable<string>): AsyncGenerator<SourceRecord> {
  for (const alias of aliases) yield { kind: 'visit', place: { line: 1 }, host: undefined, alias, at: '2020-01-01' }
}
const aliases = function* (count: number, end = '') {
  for (let n = 0; n < count; n++) yield `${n}${end}`
}

describe('the first look at a source', () => {
  it('counts the visits of each address, and keeps little of long ones', async () => {
    const long = 'x'.repeat(1_000_000)
    collect()
    const before = process.memoryUsage().heapUsed
    const all = function* () {
      yield* ['0', '1', '2', '1', long, long]
      yield* aliases(200, long)
    }
    const found = await survey(visitsOf(all()))
    collect()
    expect((process.memoryUsage().heapUsed - before) / 2 ** 20, 'MiB').to.be.at.most(10)
    expect(found.visits).to.equal(206)
    expect([...found.visitsOf.values()].filter((n) => n === 2)).to.have.length(2)
    expect(found.visitsOf.get(addressName({ host: undefined, alias: long }))).to.equal(2)
    const link = { kind: 'link', place: { line: 1 }, url: 'u', addresses: [{ host: undefined, alias: long }] } as const
    expect(visitsOfLink(link, found.visitsOf)).to.equal(2)
  })

  it('refuses visits of more addresses than there is memory for', async () => {
    expect(await refusalOf(survey(visitsOf(aliases(1_000_001))))).to.equal(
      'The file must have visits of at most 1,000,000 addresses.',
    )
  })
})
