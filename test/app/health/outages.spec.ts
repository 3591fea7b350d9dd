import { expect } from 'chai'
import { openOutages } from '../../../src/app/health/outages.ts'
import { noAnswer } from '../../../src/clicks/kafka/client.ts'
import { ConnectionRefused } from '../../../src/clicks/kafka/failure.ts'
import { library } from '../../../src/clicks/kafka/library.ts'
import { StoreUnavailable } from '../../../src/events/store.ts'
import { NotReady, Unavailable } from '../../../src/lib/unavailable.ts'
import { until } from '../../support/client.ts'
import { keepLines } from '../../support/logger.ts'

const failure = (fields: object, message = 'it failed') => Object.assign(new Error(message), fields)

describe('the log of outages', () => {
  let close = () => {}
  afterEach(() => close())

  const open = (engine: 'postgres' | 'eventstoredb' = 'postgres', every = 60_000) => {
    const { lines, logger } = keepLines()
    const outages = openOutages(logger, { engine, every, interval: 5, settle: 10 })
    close = outages.close
    const texts = () => lines.map(({ msg }) => msg)
    return { ...outages, lines, texts }
  }
  const begun = (name: string) => `${name} fails: further failures are counted until the end, and not logged one by one`
  const over = (texts: () => string[], text: string) => until(async () => texts().includes(text), Boolean)

  const kinds = {
    PostgreSQL: [
      failure({ code: '57P01' }, 'terminating connection due to administrator command'),
      failure({ code: 'ECONNREFUSED', syscall: 'connect' }),
      failure({ code: 'ENOENT', syscall: 'connect' }),
      failure({ code: 'ETIMEDOUT' }, 'PostgreSQL did not answer for 11000 ms'),
      failure({ name: 'KnexTimeoutError' }),
      new Error('Connection terminated unexpectedly'),
      new StoreUnavailable('the event log cannot be reached'),
    ],
    EventStoreDB: [new StoreUnavailable('the event store at a:2113 (EVENTSTORE_URL) cannot be reached')],
    Kafka: [
      new (library().KafkaJSNumberOfRetriesExceeded)('broker away', { retryCount: 2, retryTime: 300 }),
      new (library().KafkaJSConnectionError)('Connection error: connect ECONNREFUSED'),
      noAnswer(20_000)(),
      new ConnectionRefused('SASL: check KAFKA_SASL_USERNAME'),
    ],
  }
  for (const [name, errors] of Object.entries(kinds))
    it(`is a line at the beginning, one now and then and one at the end for ${name}, with a count, for any number of failures`, async () => {
      const { log, watch, lines, texts } = open(name === 'EventStoreDB' ? 'eventstoredb' : 'postgres', 20)
      let isAway = true
      watch(name as 'Kafka', async () => {
        if (isAway) throw new Error('away')
      })
      log.error({ err: errors[0], request: 'r-1', path: '/api/urls' }, 'request failed')
      for (let n = 1; n < 500; n++) {
        log.error({ err: errors[n % errors.length] }, 'request failed')
        log.warn({ err: errors[n % errors.length] }, 'clicks wait in the spool')
      }
      await over(texts, `${name} fails still`)
      isAway = false
      await over(texts, `${name} works again`)
      const [first, ...rest] = lines
      expect(first).to.include({ msg: begun(name), level: 50, what: 'request failed', request: 'r-1' })
      expect(first?.['err']).to.have.property('message', errors[0]?.message)
      expect(rest.pop())
        .to.include({ msg: `${name} works again`, level: 40, failures: 999 })
        .and.to.have.keys('level', 'time', 'pid', 'hostname', 'msg', 'seconds', 'failures', 'reference')
      for (const line of rest) expect(line).to.include({ msg: `${name} fails still`, failures: 999 })
      expect(JSON.stringify(rest)).to.not.include('stack')

      log.error({ err: errors[0] }, 'request failed')
      expect(texts().at(-1), 'another outage').to.equal(begun(name))
    })

  it('ends with the first answer after which nothing fails', async () => {
    const { log, watch, texts } = open()
    let answers = 0
    const fail = () => log.error({ err: failure({ code: '57014' }, 'canceled') }, 'request failed')
    watch('PostgreSQL', async () => {
      if (++answers < 10) fail()
    })
    fail()
    await over(texts, 'PostgreSQL works again')
    expect(answers).to.be.at.least(10)
    expect(texts()).to.deep.equal([begun('PostgreSQL'), 'PostgreSQL works again'])
  })

  it('has one line for each error that is no outage: faults of the program, of disks and of other servers', () => {
    const { log, texts } = open()
    const errors = [
      new Error('a defect'),
      failure({ code: 'ENOENT', syscall: 'open' }),
      failure({ code: 'ENOTFOUND', syscall: 'queryA' }),
      failure({ code: '42P01' }),
      'no error',
    ]
    for (const err of errors) log.error({ err }, 'something failed')
    log.warn('a warning')
    log.warn({ setting: 'X' }, 'another')
    expect(texts()).to.deep.equal([...errors.map(() => 'something failed'), 'a warning', 'another'])
  })

  it('counts requests that took too long with the engine that fails, and else as an outage of the service', async () => {
    const { log, texts, lines } = open()
    const slow = new Unavailable('no response within 5000 ms')
    log.error({ err: slow }, 'request failed')
    log.error({ err: new NotReady('the read tables are being filled') }, 'request failed')
    await over(texts, 'requests are answered again')
    log.error({ err: failure({ code: '57P01' }) }, 'request failed')
    log.error({ err: slow }, 'request failed')
    close()
    expect(texts().slice(-2)).to.deep.equal([begun('PostgreSQL'), 'PostgreSQL fails still'])
    expect(lines.at(-1)).to.include({ failures: 2, last: 'no response within 5000 ms' })
  })

  it('has the reference that visitors get, the same for all of an outage', () => {
    const { failed, lines } = open()
    const away = failure({ code: '57P01' })
    const reference = failed(away, 'a public request failed')
    expect(reference).to.match(/^[A-Z\d]{4}-[A-Z\d]{4}$/)
    expect(failed(away, 'a public request failed')).to.equal(reference)
    expect(lines.map((line) => line['reference'])).to.deep.equal([reference])
    expect(failed(new Error('a defect'), 'a public request failed')).to.equal(undefined)
  })

  it('reports at the end of the process that an outage continues', () => {
    const { log, texts } = open()
    log.error({ err: failure({ code: '57P01' }) }, 'request failed')
    close()
    expect(texts()).to.deep.equal([begun('PostgreSQL'), 'PostgreSQL fails still'])
  })
})
