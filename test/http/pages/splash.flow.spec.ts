import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'

const full = {
  name: 'Spring',
  title: 'Spring sale',
  message: 'Everything half price.\nThis week only.',
  logo: 'https://cdn.example.com/logo.png',
  banner: 'https://cdn.example.com/banner.jpg',
  product: 'https://shop.example.com/spring?from=splash',
  label: 'To the sale',
  productLabel: 'See the bikes',
  color: '#14213d',
  counter: 5,
}

describe('the splash page API', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp()
    ;({ key } = await app.register())
  })
  after(() => app.close())

  const add = (body: object, as = key) => app.post('/api/splash/add', { key: as, body })
  const create = async (body: object = full) => Number((await add(body)).json['id'])
  const update = (id: number, body: object) => app.put(`/api/splash/${id}/update`, { key, body })
  const details = async (id: number) => (await app.get(`/api/splash/${id}`, { key })).json['details']
  const head = () => app.domainHead()
  const refusal = async (body: object) => {
    const { status, json } = await add(body)
    expect([status, json['error']]).to.deep.equal([400, 1])
    return String(json['message'])
  }

  it('creates a splash page and returns it as it was sent', async () => {
    const answer = await add(full)
    expect(answer.status).to.equal(200)
    expect(answer.json).to.have.all.keys('error', 'id', 'revision')
    const { id } = answer.json
    const read = await app.get(`/api/splash/${id}`, { key })
    expect(read.json).to.have.all.keys('error', 'details')
    expect(read.json['error']).to.equal(0)
    expect(read.json['details']).to.deep.include({ id, ...full })
    expect(read.json['details'].date).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  })

  it('requires only a name', async () => {
    const id = await create({ name: 'Plain' })
    const nothing = {
      title: '',
      message: '',
      logo: '',
      banner: '',
      product: '',
      label: '',
      productLabel: '',
      color: '',
      counter: 10,
    }
    expect(await details(id)).to.deep.include({ name: 'Plain', ...nothing })
    expect(await refusal({})).to.match(/^`name` is required/)
    expect(await refusal({ name: '' })).to.match(/^`name` must not be empty/)
  })

  it('lists splash pages newest first under `splash`', async () => {
    const own = await app.register()
    for (const name of ['a', 'b', 'c']) await add({ name }, own.key)
    const { json } = await app.get('/api/splash?limit=2', { key: own.key })
    expect(json['error']).to.equal('0')
    expect(json['data']).to.deep.include({ result: 3, perpage: 2, currentpage: 1, nextpage: 2, maxpage: 2 })
    expect(json['data'].splash.map(({ name }: { name: string }) => name)).to.deep.equal(['c', 'b'])
    expect(json['data'].splash[0]).to.have.all.keys('id', 'name', 'date', 'revision')
  })

  it('updates only the fields sent; an empty string or null clears a field', async () => {
    const id = await create()
    const answer = await update(id, { title: 'Last days', counter: 0, logo: '', message: null })
    expect(answer.json).to.deep.equal({ error: 0, message: 'Splash page has been updated.', revision: 1 })
    expect(await details(id)).to.deep.include({ ...full, title: 'Last days', counter: 0, logo: '', message: '' })
    await update(id, { counter: null })
    expect(await details(id)).to.include({ counter: 10 })
  })

  it('emits no event when an update changes nothing', async () => {
    const id = await create()
    await update(id, { title: 'Last days' })
    const before = await head()
    expect((await update(id, { title: 'Last days' })).status).to.equal(200)
    expect((await update(id, {})).status).to.equal(200)
    expect(await head()).to.equal(before)
  })

  it('returns 404 after deletion and for another account', async () => {
    const id = await create()
    const other = await app.register()
    const missing = await app.get('/api/splash/999999', { key })
    const foreign = [
      await app.get(`/api/splash/${id}`, { key: other.key }),
      await app.put(`/api/splash/${id}/update`, { key: other.key, body: { name: 'Mine' } }),
      await app.put(`/api/splash/${id}/update`, { key: other.key, body: { name: '' } }),
      await app.del(`/api/splash/${id}/delete`, { key: other.key }),
    ]
    expect((await details(id)).name).to.equal('Spring')
    const gone = await app.del(`/api/splash/${id}/delete`, { key })
    expect(gone.json).to.deep.equal({
      error: 0,
      message: 'Splash page has been deleted.',
      undo: { method: 'POST', path: `/api/splash/${id}/restore` },
    })
    const after = [
      await app.del(`/api/splash/${id}/delete`, { key }),
      await app.get(`/api/splash/${id}`, { key }),
      await update(id, { name: 'x' }),
    ]
    for (const answer of [...foreign, ...after]) {
      expect(answer.status).to.equal(404)
      expect(answer.text).to.equal(missing.text)
    }
    expect((await app.get('/api/splash?limit=1000', { key })).text).not.to.include(`"id":${id},`)
  })

  it('names a valid value for an invalid field', async () => {
    for (const counter of [-1, 61, 1.5, '10', true])
      expect(await refusal({ ...full, counter }), String(counter)).to.match(
        /^`counter` must be a whole number of seconds from 0 to 60\.$/,
      )
    for (const field of ['logo', 'banner', 'product'])
      expect(await refusal({ ...full, [field]: 'javascript:alert(1)' })).to.match(
        new RegExp(`^\`${field}\` must be a web address`),
      )
    expect(await refusal({ ...full, title: 'x'.repeat(256) })).to.match(/^`title` must be at most 255 characters/)
    expect(await refusal({ ...full, message: 'x'.repeat(2001) })).to.match(
      /^`message` must be at most 2,000 characters/,
    )
    expect(await refusal({ ...full, name: 7 })).to.match(/^`name` must be a string/)
  })

  it("accepts URLs of the account's own short links", async () => {
    const product = `${app.app.baseUrl}/spring`
    expect(await details(await create({ ...full, product }))).to.include({ product })
  })
})
