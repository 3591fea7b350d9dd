import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { linkClient } from '../../support/clients/link.ts'

describe('organizing links', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
  })
  after(() => app.close())
  const { add, update, details, leadsTo, free } = linkClient(
    () => app,
    () => key,
  )
  const get = async (path: string, as = key) => (await app.get(path, { key: as })).json['data']
  const listed = async (query: string, as = key) => {
    const { urls, result } = await get(`/api/urls?limit=100&${query}`, as)
    expect(result, query).to.equal(urls.length)
    return urls.map(({ id }: { id: number }) => id) as number[]
  }

  it('finds links by tags in any letter case, and by several together', async () => {
    const tagged = (await add({ tags: [' Spring  Sale', 'Print', 'print', ''] })).id
    const listing = (await add({ tags: 'print, München' })).id
    await add()
    expect((await details(tagged)).tags).to.deep.equal(['spring sale', 'print'])
    expect(await listed('tag=PRINT')).to.deep.equal([listing, tagged])
    expect(await listed('tag=m%C3%BCnchen')).to.deep.equal([listing])
    expect(await listed('tag=mu%CC%88nchen')).to.deep.equal([listing])
    expect(await listed('tag=print,spring%20sale')).to.deep.equal([tagged])
    expect(await listed('tag=none')).to.deep.equal([])
    await update(listing, { title: 'other' })
    expect(await listed('tag=print&order=click')).to.deep.equal([listing, tagged])
    await update(listing, { tags: null })
    expect(await listed('tag=print')).to.deep.equal([tagged])
  })

  it("lists an account's tags with the number of their links, and no other account's", async () => {
    const mine = (await app.register()).key
    const { id } = await add({ tags: ['b', 'a'] }, mine)
    await add({ tags: ['a'], archived: true }, mine)
    const gone = await add({ tags: ['c'] }, mine)
    await app.del(`/api/url/${gone.id}/delete`, { key: mine })
    const { tags, result, maxpage } = await get('/api/tags?limit=1', mine)
    expect({ tags, result, maxpage }).to.deep.equal({
      tags: [{ tag: 'a', links: 1, archived: 1 }],
      result: 2,
      maxpage: 2,
    })
    expect((await get('/api/tags?limit=1&page=2', mine)).tags).to.deep.equal([{ tag: 'b', links: 1, archived: 0 }])
    expect((await get('/api/tags?page=9', mine)).result).to.equal(2)
    expect(await listed('tag=a', mine)).to.deep.equal([id])
    expect(await listed('tag=a')).to.deep.equal([])
  })

  it('leaves archived links out of the list unless they are requested, and still redirects them', async () => {
    const mine = (await app.register()).key
    const alias = free()
    const [kept, away] = [(await add({}, mine)).id, (await add({ custom: alias }, mine)).id]
    await update(away, { archived: true }, mine)
    expect(await listed('', mine)).to.deep.equal([kept])
    expect(await listed('order=click', mine)).to.deep.equal([kept])
    expect(await listed('archived=true', mine)).to.deep.equal([away])
    expect(await listed('archived=all', mine)).to.deep.equal([away, kept])
    expect(await leadsTo(alias)).to.equal('https://example.com/a?b=c#d')
    expect((await get(`/api/urls?short=${alias}`, mine)).urls[0].archived).to.equal(true)
    await update(away, { archived: null }, mine)
    expect(await listed('', mine)).to.deep.equal([away, kept])
  })

  it('keeps notes for the owner alone, sealed in the log', async () => {
    const alias = free()
    const { id } = await add({ custom: alias, notes: 'Ask Ann before\nyou change it', type: 'splash' })
    expect((await details(id)).notes).to.equal('Ask Ann before\nyou change it')
    expect((await app.visit(`/${alias}`)).text).not.to.include('Ann')
    const events = await app.app.ledger.db.raw<{ rows: unknown[] }>('select * from log.events')
    expect(JSON.stringify(events.rows)).not.to.include('Ask Ann')
    await update(id, { notes: '' })
    expect((await details(id)).notes).to.equal('')
  })

  const wrong: [string, unknown, string][] = [
    ['tags', 5, '`tags` must be an array of strings'],
    ['tags', [5], '`tags.0` must be a string'],
    ['tags', ['a,b'], '`tags.0` must not contain a comma'],
    ['tags', ['a\u200bb'], '`tags.0` must not contain control characters'],
    ['tags', ['x'.repeat(51)], '`tags.0` must be at most 50'],
    ['tags', Array.from({ length: 21 }, (_, i) => `t${i}`), '`tags` must have at most 20'],
    ['notes', 'x'.repeat(4001), '`notes` must be at most 4,000'],
    ['archived', 'true', '`archived` must be true or false'],
  ]
  it('refuses invalid values with a message that names the field', async () => {
    const { id } = await add()
    for (const [field, value, message] of wrong) {
      const { status, json } = await update(id, { [field]: value })
      expect(status, message).to.equal(400)
      expect(json['message']).to.include(message)
    }
    for (const [query, message] of [
      ['tag=', '`tag` must be a tag'],
      ['tag=,', '`tag` must be a tag'],
      ['tag=%00', '`tag'],
      ['archived=yes', '`archived` must be one of false, true, all'],
    ] as const) {
      const { status, json } = await app.get(`/api/urls?${query}`, { key })
      expect(status, query).to.equal(400)
      expect(json['message']).to.include(message)
    }
  })
})
