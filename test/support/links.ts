import { expect } from 'chai'
import { after, before } from 'mocha'
import type { Overrides } from '../../src/app/overrides.ts'
import { startTestApp, type TestApp } from './app.ts'
import { type Answer, until } from './client.ts'

export const long = 'https://example.com/a?b=c&d=%20#e'

/** Starts a service with an account for the enclosing `describe`, and returns what its tests need to make links. */
export const useLinks = (settings: Readonly<Record<string, string>> = {}, overrides: Overrides = {}) => {
  let app: TestApp
  let key = ''
  let n = 0
  before(async () => {
    app = await startTestApp(settings, undefined, overrides)
    ;({ key } = await app.register())
    // on a busy machine the tables are not ready yet when the service starts
    await until(
      () => app.get('/api/account', { key }),
      ({ status }) => status === 200,
    )
  })
  after(() => app.close())

  const api = async (path: string, body: object, method: 'post' | 'put' = 'post') => {
    const { status, json, text } = await app[method](path, { key, body })
    expect(status, text).to.equal(200)
    return json
  }
  const statistics = async (id: number): Promise<Answer['json']> =>
    (await app.get(`/api/url/${id}`, { key })).json['data'] as Answer['json']
  return {
    app: () => app,
    key: () => key,
    api,
    /** Creates a resource and returns its id. */
    create: async (kind: string, body: object) => Number((await api(`/api/${kind}/add`, body))['id']),
    /** Creates a link to `long`. */
    add: async (body: object = {}) => {
      const { id, short } = await api('/api/url/add', { url: long, custom: `link-${++n}`, ...body })
      return { id: Number(id), path: new URL(String(short)).pathname }
    },
    update: (id: number, body: object) => api(`/api/url/${id}/update`, { url: long, ...body }, 'put'),
    clicks: async (id: number) => Number((await statistics(id))['clicks']),
    /**
     * Returns the clicks so far. Clicks are counted in order, so one more click with a unique referrer shows when all
     * earlier ones are counted.
     */
    clicksSoFar: async (id: number, path: string) => {
      const marker = `marker-${++n}.example`
      await app.visit(path, { Referer: `https://${marker}/` })
      await until(
        () => statistics(id),
        ({ topReferrers }) => marker in Object(topReferrers),
      )
      // read again: the total and the referrers are not read at the same moment
      return Number((await statistics(id))['clicks']) - 1
    },
    post: (path: string, body: string, headers: Record<string, string> = {}) =>
      app.post(path, { body, headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers } }),
  }
}
