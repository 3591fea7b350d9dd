import { expect } from 'chai'
import { PixelType } from '../../../src/events/pages/pixel.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'

describe('the pixel API', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp()
    ;({ key } = await app.register())
  })
  after(() => app.close())

  const add = (body: object, as = key) => app.post('/api/pixel/add', { key: as, body })

  it('creates pixels of all thirteen types and lists them newest first', async () => {
    for (const type of PixelType.options)
      expect((await add({ type, name: `My ${type}`, tag: 'GTM-AB12/c_d.e' })).json).to.have.all.keys(
        'error',
        'id',
        'revision',
      )
    const { json } = await app.get('/api/pixels?limit=5&page=3', { key })
    expect(json).to.deep.include({ error: '0' })
    expect(json['data']).to.deep.include({ result: 13, perpage: 5, currentpage: 3, nextpage: 3, maxpage: 3 })
    expect(json['data'].pixels.map((p: { type: string }) => p.type)).to.deep.equal(
      PixelType.options.slice(0, 3).toReversed(),
    )
    expect(json['data'].pixels[0]).to.have.all.keys('id', 'type', 'name', 'tag', 'date', 'revision')
  })

  it('updates name and tag, but not the type', async () => {
    const { id } = (await add({ type: 'bing', name: 'Old', tag: 'abc' })).json
    const answer = await app.put(`/api/pixel/${id}/update`, { key, body: { name: 'New', tag: 'def', type: 'reddit' } })
    expect(answer.json).to.deep.equal({ error: 0, message: 'Pixel has been updated.', revision: 1 })
    const [first] = (await app.get('/api/pixels', { key })).json['data'].pixels
    expect(first).to.include({ id, type: 'bing', name: 'New', tag: 'def' })
  })

  it('requires a tag on update and keeps a name that is not sent', async () => {
    const { id } = (await add({ type: 'bing', name: 'Kept', tag: 'abc' })).json
    expect((await app.put(`/api/pixel/${id}/update`, { key, body: { name: 'x' } })).json['message']).to.match(
      /^`tag` is required/,
    )
    await app.put(`/api/pixel/${id}/update`, { key, body: { tag: 'xyz' } })
    expect((await app.get('/api/pixels', { key })).json['data'].pixels[0]).to.include({ name: 'Kept', tag: 'xyz' })
  })

  it('deletes a pixel once, and only for its owner', async () => {
    const { id } = (await add({ type: 'tiktok', name: 'x', tag: 'abc' })).json
    const other = await app.register()
    const foreign = await app.del(`/api/pixel/${id}/delete`, { key: other.key })
    expect((await app.del(`/api/pixel/${id}/delete`, { key })).json).to.deep.equal({
      error: 0,
      message: 'Pixel has been deleted.',
      undo: { method: 'POST', path: `/api/pixel/${id}/restore` },
    })
    const again = await app.del(`/api/pixel/${id}/delete`, { key })
    expect([again.status, foreign.status]).to.deep.equal([404, 404])
    expect(again.text).to.equal(foreign.text)
  })

  it('rejects markup in a tag', async () => {
    for (const type of PixelType.options)
      for (const tag of [`');alert(1)//`, '<script>', 'a b', 'ab', 'x'.repeat(65), 'é23'])
        expect((await add({ type, name: 'x', tag })).status).to.equal(400)
  })

  it('names a valid value for an invalid field', async () => {
    expect((await add({ type: 'myspace', name: 'x', tag: 'abc' })).json['message']).to.match(
      /^`type` must be one of gtmpixel, /,
    )
    expect((await add({ type: 'bing', tag: 'abc' })).json['message']).to.match(/^`name` is required/)
    expect((await add({ type: 'bing', name: '', tag: 'abc' })).json['message']).to.match(/^`name` must not be empty/)
  })
})
