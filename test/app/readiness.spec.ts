import { expect } from 'chai'
import { readiness } from '../../src/app/readiness.ts'

describe('readiness', () => {
  const halted = { position: 7n, reason: 'links cannot take event 7' }
  const check = ({ up = true, complete = true, stopped = false, problems = [] as readonly string[] } = {}) =>
    readiness({
      listener: { up: () => up },
      tables: { complete: () => complete },
      projector: { state: () => ({ subscriptions: [{ filter: 'domain', halted: stopped ? halted : undefined }] }) },
      clicks: { problems: () => problems },
    })()

  it('has no problems when the database is connected, the read tables are filled and the projector follows the log', () => {
    expect(check()).to.deep.equal({ ready: true, problems: [] })
  })

  it('names every reason why the process is not ready', () => {
    expect(check({ up: false, complete: false, stopped: true })).to.deep.equal({
      ready: false,
      problems: [
        'the database is not connected',
        'the read tables are being filled',
        'the subscription to domain is halted at 7: links cannot take event 7',
      ],
    })
  })

  it('lists problems of the click pipeline, which do not affect readiness', () => {
    expect(check({ problems: ['3 clicks wait in the spool: no space left'] })).to.deep.equal({
      ready: true,
      problems: ['3 clicks wait in the spool: no space left'],
    })
  })
})
