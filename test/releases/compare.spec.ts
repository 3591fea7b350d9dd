import { expect } from 'chai'
import { differences, tableDifferences, unexplained } from './compare.ts'

describe('the comparison with the data of a stored release', () => {
  const table = { key: ['id'], rows: [{ id: 1, title: 'One' }] }
  const tables = (...rows: { readonly [column: string]: unknown }[]) =>
    tableDifferences(table, { key: ['id'], rows }, 'tables/links')

  it('names the table, the row and the column that differ', () => {
    expect(tables({ id: 1, title: 'Two' })).to.deep.equal([
      { at: 'tables/links/id=1.title', stored: 'One', now: 'Two' },
    ])
  })

  it('ignores a column that is not stored, and reports one that is gone', () => {
    expect(tables({ id: 1, title: 'One', added: true })).to.deep.equal([])
    expect(tables({ id: 1 })).to.deep.equal([{ at: 'tables/links/id=1.title', stored: 'One', now: undefined }])
  })

  it('reports rows and tables that are missing, and rows that are new', () => {
    expect(tables().map(({ at }) => at)).to.deep.equal(['tables/links/id=1'])
    expect(tables(table.rows[0]!, { id: 2, title: 'Two' }).map(({ at }) => at)).to.deep.equal(['tables/links/id=2'])
    expect(tableDifferences(table, undefined, 'tables/links').map(({ at }) => at)).to.deep.equal(['tables/links'])
  })

  it('counts equal rows of a table without a key', () => {
    const facts = (n: number) => ({ key: [], rows: Array.from({ length: n }, () => ({ link: 7 })) })
    expect(tableDifferences(facts(2), facts(2), 'tables/clicks')).to.deep.equal([])
    expect(tableDifferences(facts(2), facts(3), 'tables/clicks').map(({ at }) => at)).to.deep.equal([
      'tables/clicks/link=7#3',
    ])
  })

  it('reports an additional entry of a list or a map, but not a new field', () => {
    const at = 'answers/GET /api/url/1 as ann'
    const data = { clicks: 1, topOs: { Linux: '1' }, urls: [1] }
    expect(differences({ data }, { data: { ...data, added: 1 } }, at)).to.deep.equal([])
    expect(differences({ data }, { data: { ...data, topOs: { Linux: '1', iOS: '1' } } }, at)).to.deep.equal([
      { at: `${at}.data.topOs.iOS`, stored: undefined, now: '1' },
    ])
    expect(differences({ data }, { data: { ...data, urls: [1, 2] } }, at)).to.deep.equal([
      { at: `${at}.data.urls[1]`, stored: undefined, now: 2 },
    ])
  })

  it('reports an address that a page has gained or lost, and not those around it', () => {
    const at = 'pages/GET /full go.example.com'
    expect(differences({ addresses: ['/b', '/c'] }, { addresses: ['/a', '/b'] }, at)).to.deep.equal([
      { at: `${at}.addresses[/c]`, stored: '/c', now: undefined },
      { at: `${at}.addresses[/a]`, stored: undefined, now: '/a' },
    ])
  })

  it('reports a name that a state holds though it was released', () => {
    expect(differences({ held: {} }, { held: { alias: 'token' } }, 'folds/link-1.state.tokens')).to.deep.equal([
      { at: 'folds/link-1.state.tokens.held.alias', stored: undefined, now: 'token' },
    ])
  })

  it('allows the message of a response to change, but not to be missing', () => {
    const at = 'answers/GET /api/url/9 as ann'
    const reply = (json: object) => ({ status: 404, json })
    const stored = reply({ error: 1, message: 'Link not found.' })
    expect(differences(stored, reply({ error: 1, message: 'There is no such link.' }), at)).to.deep.equal([])
    expect(differences(stored, reply({ error: 1 }), at).map((one) => one.at)).to.deep.equal([`${at}.json.message`])
  })

  it('accepts a listed change only while it occurs and has the listed value', () => {
    const change = { release: '0.1.0', at: 'tables/links/*.title', now: 'Two', why: 'for this test' }
    expect(unexplained(tables({ id: 1, title: 'Two' }), 'tables', [change])).to.deep.equal([])
    expect(unexplained(tables({ id: 1, title: 'Three' }), 'tables', [change])).to.deep.equal([
      'tables/links/id=1.title: stored "One", now "Three"',
      'tables/links/*.title: is listed as changed, and is not',
    ])
    expect(unexplained([], 'folds', [change])).to.deep.equal([])
  })
})
