import { expect } from 'chai'
import type { DomainCheck } from '../../../src/commands/domains/check.ts'
import { checkDomains, startDomainChecks } from '../../../src/app/jobs/domaincheck.ts'
import type { Reader } from '../../../src/queries/reader.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { freshDatabase } from '../../support/database.ts'
import { until } from '../../support/client.ts'

describe('daily checks of branded domains', () => {
  let app: TestApp
  let accounts: readonly number[]
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' }, await freshDatabase())
    const registered = [await app.register(), await app.register(), await app.register()]
    accounts = registered.map(({ id }) => id)
  })
  after(() => app.close())

  /** Has these verified domains of each account, and no others; none was checked yet. */
  const haveDomains = async (counts: readonly number[]) => {
    const { reader } = app.app.ledger
    await reader.db.raw(`delete from state.domain_checks`)
    await reader.db.raw(`delete from ${reader.table('domains')}`)
    for (const [n, count] of counts.entries())
      await reader.db.raw(
        `insert into ${reader.table('domains')}
           (id, account, domain, redirectroot, redirect404, apple, android, verified, proof, created, revision, position)
         select ? + n, ?, 'https://d' || n || '-' || ? || '.example', '', '', '{}', '{}', true, 'txt', now(), 1, 1
         from generate_series(1, ?) n`,
        [(n + 1) * 1_000_000, accounts[n]!, n, count],
      )
    return looking(reader)
  }
  /** What runs need of a service whose name servers say nothing, and the hosts that they have looked at. */
  const looking = (reader: Reader) => {
    const seen: string[] = []
    const look = async (_: number, host: string) => {
      seen.push(host)
      return { txt: null, points: null, hasRecord: null, pointsHere: null }
    }
    const check = { look, lost: () => undefined, proves: () => false } as unknown as DomainCheck
    const onProblem = (error: unknown) => {
      throw error
    }
    return { seen, tools: { reader, handler: app.app.ledger.handler, check, onFailed: () => {}, onProblem } }
  }
  const aDayLater = () =>
    app.app.ledger.db.raw(`update state.domain_checks set checked_at = checked_at - interval '25 hours'`)

  it('take those that wait longest: none a second time before all had their first', async () => {
    const { seen, tools } = await haveDomains([150])
    await checkDomains(tools)
    // the first ones are due again when the next run begins
    await aDayLater()
    await checkDomains(tools)
    expect(seen).to.have.length(200)
    expect(new Set(seen.slice(0, 150)).size).to.equal(150)
  })

  it('take turns by account, in whichever run', async () => {
    const { seen, tools } = await haveDomains([150, 150, 1])
    await checkDomains(tools)
    const of = (n: number) => seen.filter((host) => host.endsWith(`-${n}.example`)).length
    expect([of(2), of(0) > 40, of(1) > 40]).to.deep.equal([1, true, true])
    await aDayLater()
    await checkDomains(tools)
    expect([of(2), of(0) > 90, of(1) > 90]).to.deep.equal([2, true, true])
  })

  it('go on while some are due', async () => {
    const { seen, tools } = await haveDomains([250])
    let runs = 0
    const watching =
      <T>(work: () => Promise<T>) =>
      () => {
        runs++
        return work()
      }
    // the clock begins one run, and none after it
    const { setInterval: clock } = globalThis
    globalThis.setInterval = ((begin: () => void) => setTimeout(begin, 1)) as unknown as typeof setInterval
    const stop = startDomainChecks({ ...tools, watching })
    globalThis.setInterval = clock
    await until(
      async () => seen.length,
      (count) => count >= 250,
    )
    await stop()
    expect([new Set(seen).size, seen.length, runs]).to.deep.equal([250, 250, 3])
  })
})
