import { expect } from 'chai'
import type { TestApp } from '../app.ts'

const long = 'https://example.com/a?b=c#d'

/** Calls the routes of links. `as` is another account's key. */
export const linkClient = (app: () => TestApp, key: () => string) => {
  const add = async (body: object = {}, by = key()) => {
    const { json, status } = await app().post('/api/url/add', { key: by, body: { url: long, ...body } })
    expect(status, JSON.stringify(json)).to.equal(200)
    return json as { id: number; shorturl: string; short: string }
  }
  const update = (id: number, body: object, by = key()) =>
    app().put(`/api/url/${id}/update`, { key: by, body: { url: long, ...body } })
  const details = async (id: number) => (await app().get(`/api/url/${id}`, { key: key() })).json['details']
  const leadsTo = async (alias: string) => {
    const { status, headers } = await app().visit(`/${alias}`)
    return status === 302 ? headers.get('Location') : status
  }
  const free = (() => {
    let n = 0
    return () => `alias-${++n}`
  })()
  return { add, update, details, leadsTo, free }
}
