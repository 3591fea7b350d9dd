import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../support/client.ts'
import { closeWithin, createStops, type Stop } from '../../src/cli/start.ts'

describe('stopping the service', () => {
  it('does not wait longer than it may for a server that is silent', async () => {
    let onLate = () => {}
    const late = new Promise<string>((resolve) => (onLate = () => resolve('late')))
    void closeWithin(() => new Promise(() => {}), 1, onLate)
    expect(await late).to.equal('late')
  })

  it('ends by itself when everything is closed in time', async () => {
    let isLate = false
    await closeWithin(
      async () => {},
      1,
      () => (isLate = true),
    )
    await new Promise((done) => setTimeout(done, 20))
    expect(isLate).to.equal(false)
  })

  it('loses no signal that comes in the turn in which a service that waited gets ready', async () => {
    const before = [process.listenerCount('SIGTERM'), process.listenerCount('SIGINT')]
    const stops = createStops()
    const heard: string[] = []
    const noted =
      (what: string): Stop =>
      (signal) =>
        void heard.push(`${what} ${signal}`)
    try {
      stops.by(noted('waits'))
      await pause(1)
      process.kill(process.pid, 'SIGTERM')
      stops.by(noted('runs'))
      await until(
        async () => heard,
        ({ length }) => length > 0,
      )
      expect(heard).to.deep.equal(['runs SIGTERM'])
    } finally {
      stops.end()
    }
    expect([process.listenerCount('SIGTERM'), process.listenerCount('SIGINT')]).to.deep.equal(before)
  })
})
