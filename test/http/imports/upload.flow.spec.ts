import { expect } from 'chai'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { importFolder } from '../../../src/http/imports/file.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'

type Own = Awaited<ReturnType<TestApp['register']>>

describe('the file of an import', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp()
  })
  after(() => app.close())

  const kept = async (on = app) => readdir(importFolder(on.config.DATA_DIR)).catch(() => [])

  /** Begins to send a file, of which more can be written. */
  const begin = ({ key }: Own, on = app) => {
    const sent = request(`${on.address}/api/import`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'text/csv' },
    })
    const answer = once(sent, 'response').then(async ([res]) => {
      const json = JSON.parse(await text(res)) as { readonly code?: string; readonly id: string }
      return { status: (res as { statusCode: number }).statusCode, json }
    })
    answer.catch(() => {})
    sent.on('error', () => {})
    sent.write('url,alias\n')
    return { sent, answer }
  }
  const arriving = (files: number, on = app) =>
    until(
      () => kept(on),
      (names) => names.filter((name) => name.endsWith('.part')).length === files,
    )

  it('may come slowly: the import begins when it is there, and only once', async () => {
    const own = await app.register()
    const { sent, answer } = begin(own)
    for (let n = 0; n < 14; n++) {
      sent.write(`https://example.com/${n},slow-${n}\n`)
      await pause(500)
    }
    sent.end()
    const { status, json } = await answer
    expect(status, JSON.stringify(json)).to.equal(200)
    const { details } = await until(
      async () => (await app.get(`/api/import/${json.id}`, own)).json as { details: { state: string } },
      (found) => found.details.state === 'done',
    )
    expect(details).to.include({ created: 14 })
    expect((await app.get('/api/imports', own)).json['data']).to.include({ result: 1 })
  }).timeout(300_000)

  it('that is broken off leaves nothing, and begins nothing', async () => {
    const own = await app.register()
    const { sent } = begin(own)
    await arriving(1)
    sent.destroy()
    await arriving(0)
    expect((await app.get('/api/imports', own)).json['data']).to.include({ result: 0 })
  })

  it('comes with at most four others of its account at the same time', async () => {
    const [own, other] = [await app.register(), await app.register()]
    const files = Array.from({ length: 5 }, () => begin(own))
    await arriving(5)
    const { status, json } = await begin(own).answer
    expect([status, json.code]).to.deep.equal([409, 'still_running'])
    const another = begin(other)
    await arriving(6)
    for (const { sent } of [...files, another]) sent.destroy()
    await arriving(0)
  })

  it('that still comes when the service stops is refused, and leaves nothing', async () => {
    const on = await startTestApp()
    const { answer } = begin(await on.register(), on)
    await arriving(1, on)
    const began = performance.now()
    const stopped = on.app.close()
    const { status, json } = await answer
    expect([status, json.code]).to.deep.equal([503, 'unavailable'])
    await stopped
    expect(performance.now() - began).to.be.below(15_000)
    expect(await kept(on)).to.deep.equal([])
    await on.close()
  }).timeout(300_000)
})
