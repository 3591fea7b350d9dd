import { expect } from 'chai'
import { createJobs, createStandstill } from '../../../src/app/health/standstill.ts'
import { startDomainChecks } from '../../../src/app/jobs/domaincheck.ts'
import { startErasures } from '../../../src/app/jobs/erasure.ts'
import { sendMails } from '../../../src/app/jobs/mail/mail.ts'
import { startTextErasure } from '../../../src/app/jobs/texterasure.ts'
import { NotReady } from '../../../src/lib/unavailable.ts'
import { until } from '../../support/client.ts'

describe('work that repeats', () => {
  it('is a problem from its first failure on, with the last reason, until it has worked', () => {
    let now = 0
    const job = createStandstill('nothing is signed', () => now)
    expect(job.problem()).to.equal(undefined)
    job.failed(new Error('the disk is full'))
    now = 60_000
    job.failed('the tree is damaged')
    expect(job.problem()).to.equal('nothing is signed since 1970-01-01T00:00:00.000Z: the tree is damaged')
    expect(job.seconds()).to.equal(60)
    job.worked()
    expect([job.problem(), job.seconds()]).to.deep.equal([undefined, 0])
    job.failed(new Error('again'))
    expect(job.problem()).to.equal('nothing is signed since 1970-01-01T00:01:00.000Z: again')
  })

  it('says in plain words that PostgreSQL does not answer, and nothing of the pool of a library', () => {
    const why = (error: Error) => {
      const job = createStandstill('nothing is signed', () => 0)
      job.failed(error)
      return job.problem()?.split('Z: ')[1]
    }
    const pool =
      'Knex: Timeout acquiring a connection. The pool is probably full. Are you missing a .transacting(trx) call?'
    expect(why(Object.assign(new Error(pool), { name: 'KnexTimeoutError' }))).to.equal(
      'no connection to PostgreSQL could be had in time',
    )
    expect(why(new Error('Query read timeout'))).to.equal('PostgreSQL did not answer in time, or ended the connection')
    const readOnly = 'cannot execute DELETE in a read-only transaction'
    expect(why(Object.assign(new Error(readOnly), { code: '25006' }))).to.equal(readOnly)
  })

  it('has worked when a run of it ends, unless a part of the run has failed', async () => {
    const job = createStandstill('nothing is erased', () => 0)
    const logged: string[] = []
    const onProblem = job.telling((error, what: string) => logged.push(`${what}: ${String(error)}`))
    const run = (work: () => Promise<void>) =>
      job
        .watching(work)()
        .catch(() => {})
    await run(() => Promise.reject(new Error('the log is away')))
    expect(job.problem()).to.include('the log is away')
    await run(async () => onProblem('refused', 'account 7'))
    expect([job.problem(), logged]).to.deep.equal([
      'nothing is erased since 1970-01-01T00:00:00.000Z: refused',
      ['account 7: refused'],
    ])
    await run(async () => {})
    expect(job.problem()).to.equal(undefined)
    const filling = new NotReady('tables that are filled for the first time say it themselves')
    await run(() => Promise.reject(filling))
    onProblem(filling, 'account 8')
    expect([job.problem(), logged.length]).to.deep.equal([undefined, 1])
  })

  it('is listed by its name', () => {
    const jobs = createJobs()
    const [mail] = [jobs.open('mail', 'no mail is sent'), jobs.open('cleanup', 'nothing is deleted')]
    expect([jobs.problems(), jobs.seconds()]).to.deep.equal([[], { mail: 0, cleanup: 0 }])
    mail.failed('refused')
    expect(jobs.problems()).to.have.length(1)
  })
})

describe('the work of a process with the role http', () => {
  const db = Object.assign(() => db, { raw: () => Promise.reject(new Error('broken')) })
  const reader = { db, table: () => 't' } as never
  const handler = {} as never

  it('reports that it has stopped, for each job', async () => {
    const works: Readonly<Record<string, (watch: object) => () => Promise<void>>> = {
      erasures: (watch) => startErasures({ reader, handler, finish: async () => {}, ...watch } as never),
      texts: (watch) => startTextErasure({ reader, handler, keys: {}, keptMonths: 1, ...watch } as never),
      domains: (watch) => startDomainChecks({ reader, handler, every: 1, ...watch } as never),
    }
    for (const [name, startWork] of Object.entries(works)) {
      const job = createStandstill(name)
      const stop = startWork({ watching: job.watching, onProblem: () => {} })
      expect(await until(async () => job.problem() ?? '', Boolean), name).to.include(`${name} since`)
      await stop()
    }
  })

  it('is mail that the server does not accept, for any recipient', async () => {
    const job = createStandstill('no mail is sent')
    const mail = { id: 1, age: 0, tries: 0, account: null, content: { kind: 'written', id: 'm', to: 'a@example.com' } }
    let answer = () => Promise.reject(new Error('421 too busy'))
    const due = [[mail], [], [mail], []]
    const options = {
      outbox: { take: async () => due.shift(), remove: async () => {}, postpone: async () => {} },
      links: {},
      send: () => answer(),
      onProblem: () => {},
      sending: job,
    } as never
    await sendMails(options)
    await sendMails(options)
    expect(job.problem()).to.include('421 too busy')
    answer = () => Promise.resolve(undefined as never)
    await sendMails(options)
    expect(job.problem()).to.equal(undefined)
  })
})
