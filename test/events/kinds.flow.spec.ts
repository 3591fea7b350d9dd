import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { kinds, ownedKinds, resourceKinds } from '../../src/events/kinds.ts'
import { exportedLists } from '../../src/http/accounts/export/resources.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { bodies } from '../support/bodies.ts'

describe('every kind of resource', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' })
    ;({ key } = await app.register())
  })
  after(() => app.close())

  const ok = async (method: string, path: string, body?: object) => {
    const { json, text, status } = await app.ask(method, path, { key, ...(body && { body }) })
    expect(status, `${method} ${path} ${text}`).to.equal(200)
    return json
  }
  const typesOf = async (path: string) => {
    const { data } = await ok('GET', `${path}/history`)
    return (data as { readonly events: readonly { readonly type: string }[] }).events.map(({ type }) => type)
  }

  for (const kind of ownedKinds) {
    const { path, label, list, kept } = kinds[kind]
    it(`is created, changed, listed, deleted and restored, with a history: ${kind}`, async () => {
      const [add, update] = bodies[path]!
      const { id } = await ok('POST', `/api/${path}/add`, add())
      const one = `/api/${path}/${id as number}`
      await ok('PUT', `${one}/update`, update)
      const { data } = await ok('GET', list)
      expect(JSON.stringify(data), list).to.include(`"id":${id as number}`)
      const { undo } = await ok('DELETE', `${one}/delete`)
      const before = await typesOf(one)
      expect(before).to.have.length.at.least(3)
      expect(undo).to.deep.equal(kept ? { method: 'POST', path: `${one}/restore` } : null)
      if (!kept) return
      expect(await ok('POST', `${one}/restore`)).to.include({ message: `${label} has been restored.` })
      expect(await typesOf(one)).to.have.length.above(before.length)
    })
  }

  it('is in the export of its account', () => {
    expect(exportedLists.map(({ list }) => list)).to.include.members(ownedKinds.map((kind) => kinds[kind].list))
  })

  it('has a screen in the dashboard', () => {
    const routes = readFileSync(new URL('../../src/web/routes.ts', import.meta.url), 'utf8')
    for (const kind of resourceKinds) expect(routes, kind).to.include(`path: '${kinds[kind].screen}'`)
  })
})
