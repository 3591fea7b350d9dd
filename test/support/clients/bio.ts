import { expect } from 'chai'
import type { TestApp } from '../app.ts'

/** Calls the routes of bio pages, and visits them. `as` is another account's key. */
export const bioClient = (app: () => TestApp, key: () => string) => {
  const add = (body: object, as = key()) =>
    app().post('/api/bio/add', { key: as, body: { name: 'Ann', links: [], ...body } })
  const create = async (body: object = {}, as = key()) => {
    const { status, json } = await add(body, as)
    expect(status, JSON.stringify(json)).to.equal(200)
    return { id: Number(json['id']), path: new URL(String(json['link'])).pathname }
  }
  const addLink = (body: object, as = key()) =>
    app().post('/api/url/add', { key: as, body: { url: 'https://example.com/', ...body } })
  const update = (id: number, body: object, as = key()) => app().put(`/api/bio/${id}/update`, { key: as, body })
  const remove = (id: number, as = key()) => app().del(`/api/bio/${id}/delete`, { key: as })
  const details = async (id: number) => (await app().get(`/api/bio/${id}`, { key: key() })).json['details']
  const heading = async (path: string, by = app()) => {
    const { status, text } = await by.visit(path)
    return status === 200 ? /<h1[^>]*>(.*?)<\/h1>/.exec(text)?.[1] : status
  }
  const refusal = async (body: object) => {
    const { status, json } = await add(body)
    expect([status, json['error']]).to.deep.equal([400, 1])
    return String(json['message'])
  }
  const free = (() => {
    let n = 0
    return () => `ann-${++n}`
  })()
  return { add, create, addLink, update, remove, details, heading, refusal, free }
}
