import { expect } from 'chai'
import { operatorContext } from '../../../../src/app/operator/caller.ts'
import { block, blockedAddress } from '../../../../src/commands/operator/block.ts'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { until } from '../../../support/client.ts'

describe('restoring a link that had an address, at which another one was blocked since', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp()
    ;({ key } = await app.register())
  })
  after(() => app.close())

  const url = 'https://example.com/a'
  const ask = async (method: string, path: string, body?: object) =>
    app.ask(method, path, { key, ...(body && { body }) })
  const ok = async (method: string, path: string, body?: object) => {
    const { json, text, status } = await ask(method, path, body)
    expect(status, `${method} ${path} ${text}`).to.equal(200)
    return json
  }
  const add = async (custom: string) => Number((await ok('POST', '/api/url/add', { url, custom }))['id'])
  const blockLink = async (id: number, alias: string) => {
    const addresses = [blockedAddress(undefined, alias)]
    const command = { type: 'Block', kind: 'link', value: String(id), reason: 'x', addresses } as const
    await app.app.ledger.handler.handle(block, command, operatorContext(app.config, null))
    await until(
      () => app.visit(`/${alias}`),
      ({ status }) => status === 403,
    )
  }
  /** Adds another link at an address that is free, which the operator blocks and its owner deletes. */
  const blockAnother = async (alias: string) => {
    const id = await add(alias)
    await blockLink(id, alias)
    await ok('DELETE', `/api/url/${id}/delete`)
  }
  const refused = async (id: number, body: object) => {
    const { status, json } = await ask('POST', `/api/url/${id}/restore`, body)
    expect([status, json['code'], json['field']]).to.deep.equal([400, 'blocked', 'custom'])
  }
  const aliases = async (id: number) =>
    ((await ok('GET', `/api/url/${id}`))['details'].addresses as { alias: string }[]).map(({ alias }) => alias)

  it('is refused where the address would be the main one', async () => {
    const id = await add('first')
    await ok('PUT', `/api/url/${id}/update`, { url, custom: 'second', keep_old: false })
    await blockAnother('first')
    await refused(id, { revision: 0, dryRun: true })
    await refused(id, { revision: 0 })
    expect(await aliases(id)).to.deep.equal(['second'])
  })

  it('is refused where the address would be a further one', async () => {
    const id = await add('main')
    await ok('POST', `/api/url/${id}/addresses`, { custom: 'more' })
    const { undo } = await ok('DELETE', `/api/url/${id}/address/2/delete`)
    await blockAnother('more')
    await refused(id, undo.body)
    expect(await aliases(id)).to.deep.equal(['main'])
    expect((await ask('POST', `/api/url/${id}/restore`, { revision: 0 })).status).to.equal(200)
  })

  it('is refused where the link is deleted and the address is its own', async () => {
    const id = await add('deleted')
    await ok('DELETE', `/api/url/${id}/delete`)
    await blockAnother('deleted')
    await refused(id, {})
  })

  it('brings a link back that is blocked itself, which stays so, and with none of the addresses that it did not have then', async () => {
    const id = await add('itself')
    await ok('PUT', `/api/url/${id}/update`, { url, custom: 'itself-2', keep_old: false })
    await blockLink(id, 'itself-2')
    await ok('DELETE', `/api/url/${id}/delete`)
    await refused(id, { revision: 0 })
    await ok('POST', `/api/url/${id}/restore`, {})
    expect((await app.visit('/itself-2')).status).to.equal(403)
  })
})
