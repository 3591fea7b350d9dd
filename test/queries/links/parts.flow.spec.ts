import { expect } from 'chai'
import { listLinks } from '../../../src/queries/links/link.ts'
import { useLinks } from '../../support/links.ts'

describe('a page of links', () => {
  const { app, key, add } = useLinks()
  const request = { limit: 1000, page: 1, order: 'date' } as const
  const reading = async () => {
    const { pool, tables } = app().app.ledger
    const account = Number((await app().get('/api/account', { key: key() })).json['data'].id)
    return { account, reader: { db: pool(1, 60_000, 'test'), table: tables.name } }
  }

  it('is read in parts, in order', async () => {
    for (let n = 0; n < 5; n++) await add()
    const { account, reader } = await reading()
    const whole = await listLinks(reader, account, {}, request)
    expect([whole.rows.length, whole.rest]).to.deep.equal([5, undefined])
    const rows = []
    for (let part = await listLinks(reader, account, {}, request, 2); ; part = await part.rest()) {
      expect(part.rows.length).to.be.at.most(2)
      rows.push(...part.rows)
      if (!part.rest) break
    }
    expect(rows).to.deep.equal(whole.rows)
  })

  it('is read without large texts that are not shown', async () => {
    const title = 'a long title'
    await add({ metatitle: title, description: 'a description', tags: ['winter'] })
    const { account, reader } = await reading()
    const read = async (...shown: string[]) => {
      const { rows } = await listLinks(reader, account, {}, { ...request, shown: new Set(shown) })
      return [rows[0]!.metatitle, rows[0]!.description, rows[0]!.tags]
    }
    expect(await read('id', 'alias')).to.deep.equal(['', '', []])
    expect(await read('id', 'title')).to.deep.equal([title, '', []])
    expect(await read('description', 'tags')).to.deep.equal(['', 'a description', ['winter']])
    expect(await read()).to.deep.equal([title, 'a description', ['winter']])
    const { json } = await app().get('/api/urls?fields=title,tags', { key: key() })
    expect(json['data'].urls[0]).to.include({ title }).and.to.have.deep.property('tags', ['winter'])
  })
})
