import { expect } from 'chai'
import { encode } from 'jpeg-js'
import { openFetch } from '../../../src/lib/fetch.ts'
import { pngOf } from '../../../src/qr/logo.ts'
import { startTestApp, type TestApp } from '../app.ts'
import { until } from '../client.ts'
import { openStage, query, randomFrom, seed } from '../faults.ts'
import { noise, scanPng } from '../qr.ts'
import { startStub } from '../stub.ts'

/**
 * Returns the set-up of a spec about QR codes: a picture and its files. `start` opens a service, which can fetch them,
 * and registers an account.
 */
export const qrSetUp = () => {
  const random = randomFrom(seed)
  const picture = noise(64, 48, random)
  const logos = { png: pngOf(picture), jpeg: encode(picture, 80).data }
  const stage = openStage()
  const start = async () => {
    const stub = await startStub((req, res) => res.end(req.url === '/logo.jpg' ? logos.jpeg : logos.png))
    stage.later(stub.close)
    const guardedFetch = openFetch({ resolve: async () => ['127.0.0.1'], denied: () => false, ports: [stub.port] })
    const app = await startTestApp({ TRUST_PROXY: '1' }, undefined, { guardedFetch })
    stage.later(app.close)
    return { app, stub, key: (await app.register()).key }
  }
  return { random, picture, logos, stage, start }
}

/** Calls the routes of QR codes, and scans their images. `as` is another account's key. */
export const qrClient = (app: () => TestApp, key: () => string) => {
  const add = (body: object, as = key()) => app().post('/api/qr/add', { key: as, body })
  const update = (id: number, body: object, as = key()) => app().put(`/api/qr/${id}/update`, { key: as, body })
  const details = async (id: number) => (await app().get(`/api/qr/${id}`, { key: key() })).json['details']
  const first = async () => (await app().get('/api/qr', { key: key() })).json['data'].qrs[0]
  const create = async (body: object, as = key()) => {
    const { json } = await add(body, as)
    expect(json, JSON.stringify(json)).to.have.all.keys('error', 'id', 'link', 'revision')
    return { id: Number(json['id']), path: new URL(String(json['link'])).pathname }
  }
  const image = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(app().address + path, { headers, method, redirect: 'manual' })
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const says = async (path: string) => scanPng((await image(path)).bytes)
  const scans = async (id: number, clicks: number) => {
    const read = async () => (await app().get(`/api/qr/${id}`, { key: key() })).json
    const found = await until(read, (json) => json['data'].clicks >= clicks)
    expect(found['data'].clicks).to.equal(clicks)
    return found
  }
  const events = (id: number) =>
    query<{ type: string; data: Record<string, unknown> }>(
      app().connection,
      'select type, data from log.events where stream = $1 order by revision',
      [`qr-${id}`],
    )

  return { add, update, details, first, create, image, says, scans, events }
}
