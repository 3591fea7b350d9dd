import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { listenOn } from '../../../src/http/server/listen.ts'
import { closeServer, createHttpServer, serve } from '../../../src/http/server/server.ts'
import { type LongTurn, longTurnMs, watchTurns } from '../../../src/lib/async/turns.ts'
import { client, until } from '../../support/client.ts'
import { burn, expectShortTurns, watchService, withBound } from '../../support/turns.ts'

/** ms, so that a turn is too long wherever in it the timer is due */
const long = 400

const handlers: Readonly<Record<string, () => Promise<void>>> = {
  '/at-once': async () => burn(long),
  '/behind-an-await': async () => {
    await sleep(10)
    burn(long)
  },
  '/in-pieces': async () => {
    for (let piece = 0; piece < 40; piece++) {
      burn(long / 40)
      await sleep(0)
    }
  },
  '/short': () => sleep(10),
}

describe('a turn of the event loop', () => {
  const server = createHttpServer()
  let get: (path: string) => Promise<unknown>
  let turns: LongTurn[] = []
  let stop: () => void
  before(async () => {
    const handle = async ({ url = '' }: IncomingMessage, res: ServerResponse) => {
      await handlers[url]?.()
      res.end()
    }
    serve(server, { api: handle, redirect: handle, below: {}, probes: {} })
    const address = `http://127.0.0.1:${await listenOn(server, 0, '127.0.0.1')}`
    ;({ get } = client(address))
    stop = watchTurns((turn) => {
      // a busy machine may stop this process in any turn
      if (turn.cpuMs > longTurnMs) turns.push(turn)
    })
  })
  beforeEach(() => (turns = []))
  after(async () => {
    stop()
    await closeServer(server, 1000)
  })

  const paths = () => turns.flatMap(({ response }) => response?.req.url ?? [])

  for (const path of ['/at-once', '/behind-an-await'])
    it(`that takes too long is reported with its request, and no other: ${path.slice(1)}`, async () => {
      await Promise.all(['/short', path, '/short'].map(get))
      expect(
        await until(
          async () => paths(),
          ({ length }) => length > 0,
        ),
      ).to.deep.equal([path])
    })

  it('that takes too long without a request is reported with none', async () => {
    await get('/short')
    burn(long)
    await until(
      async () => turns,
      ({ length }) => length > 0,
    )
    expect(paths()).to.deep.equal([])
  })

  it('is not that of a request whose work is done in pieces', async () => {
    await get('/in-pieces')
    await sleep(100)
    expect(paths()).to.deep.equal([])
  })

  it('fails the test in which a service takes far too long for one', async () => {
    const unwatch = watchService()
    await withBound(300, async () => {
      expectShortTurns()
      await get('/at-once')
      await until(
        async () => paths(),
        ({ length }) => length > 0,
      )
      expect(expectShortTurns).to.throw(/more than 300 ms: \d+ ms in GET \/at-once$/)
      expectShortTurns()
    })
    unwatch()
  })
})
