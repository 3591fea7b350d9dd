import { expect } from 'chai'
import type { TestApp } from '../app.ts'

/** An id, or a malformed one. */
type Id = number | string | undefined

/** Calls the routes of channels, and creates items for them. `as` is another account's key. */
export const channelClient = (app: () => TestApp, key: () => string) => {
  const add = (body: object, as = key()) => app().post('/api/channel/add', { key: as, body })
  const create = async (body: object = { name: 'Press' }, as = key()) => {
    const { status, json } = await add(body, as)
    expect(status, JSON.stringify(json)).to.equal(200)
    return json as { id: number }
  }
  const update = (id: number, body: object) => app().put(`/api/channel/${id}/update`, { key: key(), body })
  const listed = async (as = key()) => (await app().get('/api/channels', { key: as })).json['data']
  const link = async (body: object = {}, as = key()) => {
    const answer = await app().post('/api/url/add', { key: as, body: { url: 'https://example.com/a', ...body } })
    expect(answer.status, answer.text).to.equal(200)
    return answer.json as { id: number; short: string }
  }
  const bio = async (body: object = {}, as = key()) => {
    const { json } = await app().post('/api/bio/add', { key: as, body: { name: 'Ann', links: [], ...body } })
    return json as { id: number; link: string }
  }
  const qr = async (body: object = {}, as = key()) => {
    const data = 'https://example.com/menu'
    const answer = await app().post('/api/qr/add', { key: as, body: { type: 'link', data, ...body } })
    expect(answer.status, answer.text).to.equal(200)
    return answer.json as { id: number; link: string }
  }
  const assign = (channel: Id, type: string, item: Id, as = key()) =>
    app().post(`/api/channel/${channel}/assign/${type}/${item}`, { key: as })
  const assigned = async (channel: number, type: string, item: number) =>
    expect((await assign(channel, type, item)).json).to.deep.equal({
      error: 0,
      message: 'Item has been added to the channel.',
    })
  const items = async (channel: number, query = '') =>
    (await app().get(`/api/channel/${channel}${query}`, { key: key() })).json
  return { add, create, update, listed, link, bio, qr, assign, assigned, items }
}
