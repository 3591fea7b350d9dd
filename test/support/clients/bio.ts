import { expect } from 'chai'
import { startTestApp, type TestApp } from '../app.ts'
import { openStage } from '../faults.ts'

const links = [
  { title: 'My shop', url: 'https://shop.example.com/?from=bio' },
  { title: 'Tom & Jerry', url: 'https://example.com/?a=1&b=2' },
]
/** A bio page with all fields but its alias, as a client sends it. */
export const fullPage = {
  name: 'Ann, public',
  title: 'Ann Smith',
  description: 'Gardener and baker.',
  avatar: 'https://cdn.example.com:8443/ann.png',
  theme: 'color',
  color: '#3b0d2e',
  links,
}

/**
 * Returns the set-up of a spec about bio pages: `start` opens a service with an account, `startSecond` another process
 * of it.
 */
export const bioSetUp = () => {
  const stage = openStage()
  const open = async (...args: Parameters<typeof startTestApp>) => {
    const app = await startTestApp(...args)
    stage.later(app.close)
    return app
  }
  const start = async () => {
    const app = await open()
    return { app, key: (await app.register()).key }
  }
  const startSecond = ({ app, connection }: TestApp) => open({ BASE_URL: app.baseUrl }, connection)
  return { stage, start, startSecond }
}

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
