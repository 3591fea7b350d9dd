import { expect } from 'chai'
import type { TestApp } from '../app.ts'
import { until } from '../client.ts'
import { query } from '../faults.ts'
import { scanPng } from '../qr.ts'

/** Calls the routes of QR codes, and scans their images. `as` is another account's key. */
export const qrClient = (app: () => TestApp, key: () => string) => {
  const add = (body: object, as = key()) => app().post('/api/qr/add', { key: as, body })
  const update = (id: number, body: object, as = key()) => app().put(`/api/qr/${id}/update`, { key: as, body })
  const details = async (id: number) => (await app().get(`/api/qr/${id}`, { key: key() })).json['details']
  const first = async () => (await app().get('/api/qr', { key: key() })).json['data'].qrs[0]
  const create = async (body: object, as = key()) => {
    const { json } = await add(body, as)
    expect(json, JSON.stringify(json)).to.have.all.keys('error', 'id', 'link')
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

  /** Changes an account as an operator's command does. */
  return { add, update, details, first, create, image, says, scans, events }
}
