import { expect } from 'chai'
import type { TestApp } from '../app.ts'

/** An id, or a malformed one. */
export type Id = number | string | undefined

/** Calls the routes of campaigns, and visits their pages. `as` is another account's key. */
export const campaignClient = (app: () => TestApp, key: () => string) => {
  const add = (body: object = {}, as = key()) => app().post('/api/campaign/add', { key: as, body })
  const create = async (body: object = {}, as = key()) => {
    const { status, json } = await add(body, as)
    expect(status, JSON.stringify(json)).to.equal(200)
    return json as { id: number; rotator: string; list: string }
  }
  const update = (id: Id, body: object) => app().put(`/api/campaign/${id}/update`, { key: key(), body })
  const listed = async (query = '') => (await app().get(`/api/campaigns${query}`, { key: key() })).json['data']
  const link = async (body: object = {}, as = key()) => {
    const answer = await app().post('/api/url/add', { key: as, body: { url: 'https://example.com/a', ...body } })
    expect(answer.status, answer.text).to.equal(200)
    return answer.json as { id: number; short: string }
  }
  const assign = (campaign: Id, link: Id, as = key()) =>
    app().post(`/api/campaign/${campaign}/assign/${link}`, { key: as })
  const assigned = async (campaign: number, link: number) =>
    expect((await assign(campaign, link)).json).to.deep.equal({
      error: 0,
      message: 'Link has been added to the campaign.',
    })
  const campaignOf = async (link: number) =>
    (await app().get(`/api/url/${link}`, { key: key() })).json['details'].campaign
  const pathOf = (address: string) => new URL(address).pathname
  const visit = (address: string, headers = {}) => app().visit(pathOf(address), headers)
  const free = (() => {
    let n = 0
    return () => `slug-${++n}`
  })()
  return { add, create, update, listed, link, assign, assigned, campaignOf, pathOf, visit, free }
}
