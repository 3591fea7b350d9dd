import { expect } from 'chai'
import { gunzipSync } from 'node:zlib'
import { kinds, ownedKinds } from '../../src/events/kinds.ts'
import { exportedLists } from '../../src/http/accounts/export/resources.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { bodies } from '../support/bodies.ts'
import { untar } from '../support/tar.ts'

type Row = Readonly<Record<string, unknown>>

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
      for (const what of ['Created', 'Updated', 'Deleted'])
        expect(
          before.filter((type) => type.endsWith(what)),
          what,
        ).to.have.length(1)
      expect(undo).to.deep.equal(kept ? { method: 'POST', path: `${one}/restore` } : null)
      if (!kept) return
      expect(await ok('POST', `${one}/restore`)).to.include({ message: `${label} has been restored.` })
      expect(await typesOf(one)).to.have.length.above(before.length)
    })
  }

  it('is in the export of its account, as its list or its details show it', async () => {
    const ids = new Map<string, unknown>()
    for (const kind of ownedKinds) {
      const { path } = kinds[kind]
      const [add] = bodies[path]!
      ids.set(kind, (await ok('POST', `/api/${path}/add`, add()))['id'])
    }
    const response = await fetch(`${app.address}/api/account/export`, { headers: { Authorization: `Bearer ${key}` } })
    expect(response.status).to.equal(200)
    const files = untar(gunzipSync(Buffer.from(await response.arrayBuffer())))
    for (const kind of ownedKinds) {
      const { folder } = exportedLists.find(({ list }) => list === kinds[kind].list)!
      const rows = [...files]
        .filter(([name]) => name.startsWith(`${folder}/`))
        .flatMap(([, text]) => text.trimEnd().split('\n'))
        .map((line) => JSON.parse(line) as Row)
      const idOf = (row: Row) =>
        row['details'] === undefined ? row['id'] : (row['id'] ?? (row['details'] as Row)['id'])
      expect(rows.map(idOf), kind).to.include(ids.get(kind))
    }
  })
})
